"""What all strategies share of a kernel: its parameters and arguments, its head, its launch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...tools.c import ast
from ...tools.c.ast import CType, declare
from . import flow
from .emit import INDENT, Callee, Printer
from .nest import Nest
from .tree import Names

# Functions of the candidate's host part, see `candidate.py`.
BLOCKS, LOAD, STORE = "blocks_for", "load_value", "store_value"
WIDTH = 100


@dataclass(frozen=True)
class Code:
    """One or more kernels, and the lines of the launcher that run them."""

    kernels: tuple[str, ...]
    launch: tuple[str, ...]


@dataclass(frozen=True)
class Site:
    """A nest and its surroundings in the candidate.

    `tables` are constant local arrays, declared again inside a kernel. `calls` as in `Printer`. `returned` is the
    expression that the function returns right after the nest, where the nest's last kernel may store it as
    `result`. `start` is the element of memory that the nest's only reduction begins with, where its kernel reads that
    itself. `order` is that of the function's parameters, `used` are names that are taken.
    """

    nest: Nest
    kernel: str
    tables: Mapping[str, ast.Variable] = field(default_factory=dict)
    calls: Mapping[str, Callee] = field(default_factory=dict)
    globals_called: Mapping[str, ast.Name] = field(default_factory=dict)
    returned: ast.Expr | None = None
    result: str = ""
    result_type: str = ""
    start: ast.Expr | None = None
    order: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()

    def names(self) -> Names:
        return Names(self.used)

    @property
    def captured(self) -> dict[str, ast.Name]:
        """The variables that a kernel takes as parameters."""
        own = {n.name for n in self.nest.private} | {s.name for s in self.nest.scans}
        own |= {r.name for r in self.nest.reductions if r.neutral is not None or self.start is not None}
        mentioned = {**self.nest.names, **self.globals_called}
        first = [n for n in self.order if n in mentioned]
        return {
            n: mentioned[n]
            for n in dict.fromkeys((*first, *mentioned))
            if n not in own and n not in self.tables
        }

    def parameter(self, name: ast.Name) -> str:
        """A captured variable as a kernel's parameter."""
        restrict = decayed(name.type).kind == "pointer" and name.name not in self.nest.overlapping
        return declare(self.type(name), f"{'__restrict__ ' if restrict else ''}{name.name}")

    def argument(self, name: ast.Name) -> str:
        """A captured variable in a launch: the launcher has arrays of rows as pointers to their first element."""
        return f"({declare(self.type(name))}){name.name}" if is_rows(name) else name.name

    def type(self, name: ast.Name) -> CType:
        type = decayed(name.type)
        if type.kind == "pointer" and name.name not in self.nest.written and not self.passed_on(name.name):
            type = with_const_elements(type)
        return dataclasses.replace(type, const=False)

    def passed_on(self, name: str) -> bool:
        """Whether the nest makes another pointer of this one, which C lets it write through."""

        def found(node: ast.Expr | ast.Stmt) -> bool:
            match node:
                case ast.Subscript(base=ast.Name(), index=index):
                    return found(index)
                case ast.Unary(op="*", operand=ast.Name()):
                    return False
                case ast.Name(name=own):
                    return own == name
                case _:
                    return any(map(found, ast.children(node)))

        return any(map(found, self.nest.body))

    def head(self, kernel: str, parameters: Iterable[str]) -> str:
        return wrapped(f"__global__ void {kernel}(", parameters, ")")

    def parameters(self, extra: Iterable[str] = ()) -> list[str]:
        return [*(self.parameter(n) for n in self.captured.values()), *extra]

    def arguments(self, extra: Iterable[str] = ()) -> list[str]:
        return [*(self.argument(n) for n in self.captured.values()), *extra]

    def table_lines(self, depth: int) -> list[str]:
        used = flow.names_in(self.nest.body)
        printer = Printer(calls=self.calls)
        kept = [v for k, v in self.tables.items() if k in used]
        return [f"{INDENT * depth}{line};" for v in kept for line in printer.declarations((constant(v),))]


def constant(variable: ast.Variable) -> ast.Variable:
    """The table as a constant of its own."""
    return dataclasses.replace(variable, type=with_const_elements(variable.type), static=False)


def with_const_elements(type: CType) -> CType:
    if type.element is None:
        return dataclasses.replace(type, const=True)
    return dataclasses.replace(type, element=with_const_elements(type.element))


def is_rows(name: ast.Name) -> bool:
    element = decayed(name.type).element
    return element is not None and element.kind == "array"


def decayed(type: CType) -> CType:
    """The type of a parameter: a pointer in place of an array."""
    if type.kind != "array":
        return type
    return CType("pointer", "", 8, False, element=type.element)


def wrapped(head: str, items: Iterable[str], tail: str) -> str:
    """A comma-separated list behind a head, broken into lines of at most `WIDTH` characters."""
    lines, pad = [head], " " * len(head)
    for i, item in enumerate(items):
        text = item if i == 0 else f" {item}"
        if i and len(lines[-1]) + len(text) + 2 > WIDTH:
            lines.append(pad + item)
        else:
            lines[-1] += text
        lines[-1] += ","
    return "\n".join(lines).removesuffix(",") + tail


@dataclass(frozen=True)
class Launch:
    """Lines that launch a kernel, and what they call the grid."""

    lines: tuple[str, ...]
    grid: str


def launch(
    names: Names, kernel: str, block: tuple[int, ...], grid: Iterable[str], arguments: list[str]
) -> Launch:
    block_name, grid_name = names.fresh("block"), names.fresh("grid")
    lines = (
        f"const dim3 {block_name}({', '.join(map(str, block))});",
        wrapped(f"const dim3 {grid_name}(", grid, ");"),
        wrapped(f"{kernel}<<<{grid_name}, {block_name}>>>(", arguments, ");"),
    )
    return Launch(lines, grid_name)
