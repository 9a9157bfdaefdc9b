"""What all strategies share: a kernel's parameters, how threads find their iteration, and the launch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from ...tools.c import ast
from ...tools.c.ast import CType, declare
from ...tools.c.polynomial import from_expr
from . import flow
from .emit import INDENT, Callee, Override, Printer
from .loops import Loop
from .nest import Nest
from .symbolic import Access
from .tree import Names

Axis = OneOf["x", "y", "z"]
MOST_BLOCKS_Y = 65535

# Functions of the candidate's host part, see `candidate.py`.
BLOCKS, LOAD, STORE = "blocks_for", "load_value", "store_value"


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
    `result`. `order` is that of the function's parameters, `used` are names that are taken.
    """

    nest: Nest
    kernel: str
    tables: Mapping[str, ast.Variable] = field(default_factory=dict)
    calls: Mapping[str, Callee] = field(default_factory=dict)
    globals_called: Mapping[str, ast.Name] = field(default_factory=dict)
    returned: ast.Expr | None = None
    result: str = ""
    result_type: str = ""
    order: tuple[str, ...] = ()
    used: frozenset[str] = frozenset()

    def names(self) -> Names:
        return Names(self.used)

    @property
    def captured(self) -> dict[str, ast.Name]:
        """The variables that a kernel takes as parameters."""
        own = {n.name for n in self.nest.private} | {
            r.name for r in self.nest.reductions if r.neutral is not None
        }
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
        if type.kind == "pointer" and name.name not in self.nest.written:
            type = with_const_elements(type)
        return dataclasses.replace(type, const=False)

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
    """A comma-separated list behind a head, broken into lines of at most 110 characters."""
    lines, pad = [head], " " * len(head)
    for i, item in enumerate(items):
        text = item if i == 0 else f" {item}"
        if i and len(lines[-1]) + len(text) + 2 > 110:
            lines.append(pad + item)
        else:
            lines[-1] += text
        lines[-1] += ","
    return "\n".join(lines).removesuffix(",") + tail


# Which loop runs along which axis.


def axes(nest: Nest, innermost: Loop | None = None) -> dict[Axis, Loop]:
    """The loops by axis: along x the one that walks through memory in unit steps in most accesses."""
    x = innermost or contiguous(nest)
    rest = [loop for loop in reversed(nest.loops) if loop is not x]
    return dict(zip(("x", "y", "z"), (x, *rest), strict=False))


def contiguous(nest: Nest) -> Loop:
    """The loop along which most accesses are contiguous; the innermost where several are."""
    return by_contiguity(nest)[0]


def by_contiguity(nest: Nest) -> list[Loop]:
    """The loops, those along which most accesses are contiguous first."""
    return sorted(reversed(nest.loops), key=lambda loop: -contiguous_accesses(nest, loop))


def contiguous_accesses(nest: Nest, loop: Loop) -> int:
    return sum(stride(access, loop) == 1 for access in nest.accesses)


def stride(access: Access, loop: Loop) -> int | None:
    """By how many elements an access moves from one iteration of the loop to the next; None: not by a constant."""
    indices = [s for s in access.location.steps if not isinstance(s, str)]
    if not indices or any(s.degree(loop.variable) for s in indices[:-1]):
        return None
    factor = indices[-1].coefficient(loop.variable).value
    return None if factor is None or indices[-1].degree(loop.variable) > 1 else factor * abs(loop.step)


# How threads find their iteration.


@dataclass(frozen=True)
class Index:
    """The text by which a thread finds its value of a loop's variable, counted in 64 bits so that it cannot
    overflow beyond the loop's end."""

    loop: Loop
    axis: Axis
    counter: str
    printer: Printer

    @property
    def counter_type(self) -> str:
        return self.loop.type.spelling if self.wide else "long long"

    @property
    def wide(self) -> bool:
        """Whether the loop's own variable can be the counter."""
        return self.counter == self.loop.variable

    def value(self, thread: str) -> str:
        """The variable's value for a thread's position along the axis."""
        first, step = self.printer.expression(self.loop.first, 11), self.loop.step
        if abs(step) != 1:
            thread = f"{abs(step)} * ({thread})"
        if first == "0" and step > 0:
            return thread
        return f"{first} {'+' if step > 0 else '-'} {thread if abs(step) != 1 or step > 0 else f'({thread})'}"

    @property
    def position(self) -> str:
        a = self.axis
        return f"({self.counter_type})blockIdx.{a} * blockDim.{a} + threadIdx.{a}"

    @property
    def bound(self) -> str:
        text = self.printer.expression(self.loop.bound, 10)
        signed = self.loop.step > 0 or self.loop.bound.type.signed
        return text if signed else f"(long long){self.printer.expression(self.loop.bound, 13)}"

    @property
    def inside(self) -> str:
        return f"{self.counter} {self.loop.comparison} {self.bound}"

    @property
    def outside(self) -> str:
        opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[self.loop.comparison]
        return f"{self.counter} {opposite} {self.bound}"

    def declaration(self) -> str:
        return f"const {self.counter_type} {self.counter} = {self.value(self.position)};"

    def variable(self) -> list[str]:
        """The line that gives the loop's variable its value, where the counter is not the variable itself."""
        if self.wide:
            return []
        return [
            f"const {self.loop.type.spelling} {self.loop.variable} = ({self.loop.type.spelling}){self.counter};"
        ]

    def strided(self, by: str | None = None) -> tuple[str, str]:
        """The two lines that head a loop over all iterations that are this thread's."""
        a = self.axis
        stride_ = by or f"({self.counter_type})gridDim.{a} * blockDim.{a}"
        if abs(self.loop.step) != 1:
            stride_ = f"{abs(self.loop.step)} * {stride_}"
        sign = "+" if self.loop.step > 0 else "-"
        start = f"{self.counter_type} {self.counter} = {self.value(self.position)}"
        return f"for ({start}; {self.inside};", f"     {self.counter} {sign}= {stride_}) {{"


def index(site: Site, loop: Loop, axis: Axis, names: Names, printer: Printer) -> Index:
    own = loop.type.size == 8 and loop.step > 0
    return Index(loop, axis, loop.variable if own else names.fresh(f"t{axis}"), printer)


# Text of the host part.


def count_of(loop: Loop) -> str:
    """A C++ expression of how many iterations a loop makes, where it makes any."""
    printer = Printer()
    upper, lower = (loop.bound, loop.first) if loop.step > 0 else (loop.first, loop.bound)
    high, low = from_expr(upper), from_expr(lower)
    names = flow.names_in([upper, lower]).values()
    plain = all(n.type.kind == "int" and n.type.signed for n in names)
    more = int(loop.inclusive)
    if plain and high is not None and low is not None:
        text = (high - low + more).to_c()
        simple = (high - low + more).is_simple
    else:
        text = f"(long long){printer.expression(upper, 13)} - (long long){printer.expression(lower, 13)}"
        text, simple = text + (f" + {more}" if more else ""), False
    step = abs(loop.step)
    if step == 1:
        return text
    return f"({text if simple else f'({text})'} + {step - 1}) / {step}"


def guarded(loops: Iterable[Loop], lines: Iterable[str]) -> tuple[str, ...]:
    """The lines in a block of the launcher that runs only where all the loops make an iteration."""
    printer = Printer()
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    conditions = [
        f"{printer.expression(loop.bound, 10)} {mirrored[loop.comparison]} {printer.expression(loop.first, 10)}"
        for loop in loops
        if not _surely_runs(loop)
    ]
    head = f"if ({' && '.join(conditions)}) {{" if conditions else "{"
    return (head, *(f"{INDENT}{line}" for line in lines), "}")


def _surely_runs(loop: Loop) -> bool:
    upper, lower = (loop.bound, loop.first) if loop.step > 0 else (loop.first, loop.bound)
    high, low = from_expr(upper), from_expr(lower)
    count = (high - low).value if high is not None and low is not None else None
    return count is not None and count >= (0 if loop.inclusive else 1)


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


def blocks(loop: Loop, size: int, each: int = 1, most: int | None = None) -> str:
    """How many blocks of `size` threads, each with `each` iterations, cover a loop; at most `most`."""
    cap = "" if most is None else f", {most}"
    return f"{BLOCKS}({count_of(loop)}, {size if each == 1 else f'{size} * {each}'}{cap})"


# The body of an iteration.


class BodyPrinter(Printer):
    """Prints an iteration for a thread: what its ``continue`` becomes, and atomic updates."""

    def __init__(self, site: Site, override: Override | None = None, skip: str = "continue") -> None:
        super().__init__(override, site.calls)
        self.atomic = {a.expression for a in site.nest.accesses if a.location.root in site.nest.atomic}
        self.skip = skip
        self.depth = 0

    def statement(self, statement: ast.Stmt, depth: int) -> list[str]:
        pad = INDENT * depth
        match statement:
            case ast.For() | ast.While():
                self.depth += 1
                lines = super().statement(statement, depth)
                self.depth -= 1
                return lines
            case ast.Jump(kind="continue") if self.depth == 0:
                return [f"{pad}{self.skip};"]
            case ast.Evaluate(expression=ast.Assign(op=op, target=target, value=value)) if (
                target in self.atomic
            ):
                return [f"{pad}{self.atomic_add(target, self.expression(value, 13), op)};"]
            case ast.Evaluate(expression=ast.Step(op=op, target=target)) if target in self.atomic:
                return [f"{pad}{self.atomic_add(target, '1', op)};"]
        return super().statement(statement, depth)

    def atomic_add(self, target: ast.Expr, amount: str, op: str) -> str:
        """An update of an integer; one of 64 bits adds as unsigned, which wraps to the same."""
        type = target.type
        address = self.expression(ast.Unary("&", target, CType("pointer", ""), target.place))
        if type.size == 8:
            address = f"(unsigned long long *){address}"
            amount = f"(unsigned long long){amount}"
        elif amount != "1":
            amount = f"({type.spelling}){amount}"
        return f"atomicAdd({address}, {'-' if op[0] == '-' else ''}{amount})"


def iteration(site: Site, printer: Printer, depth: int) -> list[str]:
    """The lines of one iteration: its private variables, the loops inside it, and the body."""
    nest = site.nest
    pad = INDENT * depth
    own = [ast.Variable(n.name, dataclasses.replace(n.type, const=False), n.place) for n in nest.private]
    lines = [f"{pad}{line};" for v in own for line in printer.declarations((v,))]
    body: tuple[ast.Stmt, ...] = nest.body
    for loop in reversed(nest.inner):
        s = loop.statement
        init = s.init
        if not loop.declares:
            variable = ast.Variable(loop.variable, loop.type, s.place, loop.first)
            init = ast.Declare((variable,), s.place)
        body = (ast.For(init, s.condition, s.step, ast.Block(body, s.place), s.place),)
    return [*lines, *printer.statements(body, depth)]
