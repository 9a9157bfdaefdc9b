"""How threads find their iterations: which loop runs along which axis, and the text of indices, guards and grids."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from ...tools.c import ast
from ...tools.c.polynomial import Polynomial, from_expr
from .emit import ADDITIVE, INDENT, RELATIONAL, UNARY, Printer
from .kernel import BLOCKS, Site
from .loops import Loop
from .nest import Nest
from .symbolic import Access
from .tree import Names

Axis = OneOf["x", "y", "z"]
MOST_BLOCKS_Y = 65535
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


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
        first, step = self.printer.expression(self.loop.first, ADDITIVE), self.loop.step
        if step == 1:
            return thread if first == "0" else f"{first} + {thread}"
        scaled = f"({thread})" if step == -1 else f"{abs(step)} * ({thread})"
        return scaled if first == "0" and step > 0 else f"{first} {'+' if step > 0 else '-'} {scaled}"

    @property
    def position(self) -> str:
        a = self.axis
        return f"({self.counter_type})blockIdx.{a} * blockDim.{a} + threadIdx.{a}"

    @property
    def bound(self) -> str:
        text = self.printer.expression(self.loop.bound, RELATIONAL)
        signed = self.loop.step > 0 or self.loop.bound.type.signed
        return text if signed else f"(long long){self.printer.expression(self.loop.bound, UNARY)}"

    @property
    def inside(self) -> str:
        return f"{self.counter} {self.loop.comparison} {self.bound}"

    @property
    def outside(self) -> str:
        return f"{self.counter} {_OPPOSITE[self.loop.comparison]} {self.bound}"

    def declaration(self) -> str:
        return f"const {self.counter_type} {self.counter} = {self.value(self.position)};"

    def variable(self) -> list[str]:
        """The line that gives the loop's variable its value, where the counter is not the variable itself."""
        if self.wide:
            return []
        return [
            f"const {self.loop.type.spelling} {self.loop.variable} = ({self.loop.type.spelling}){self.counter};"
        ]

    def strided(self) -> tuple[str, str]:
        """The two lines that head a loop over all iterations that are this thread's."""
        a = self.axis
        by = f"({self.counter_type})gridDim.{a} * blockDim.{a}"
        if abs(self.loop.step) != 1:
            by = f"{abs(self.loop.step)} * {by}"
        sign = "+" if self.loop.step > 0 else "-"
        start = f"{self.counter_type} {self.counter} = {self.value(self.position)}"
        return f"for ({start}; {self.inside};", f"     {self.counter} {sign}= {by}) {{"


def index(site: Site, loop: Loop, axis: Axis, names: Names, printer: Printer) -> Index:
    own = loop.type.size == 8 and loop.step > 0
    return Index(loop, axis, loop.variable if own else names.fresh(f"t{axis}"), printer)


def linear(expression: ast.Expr) -> Polynomial | None:
    """An integer made of signed variables and constants by ``+ - *`` alone, so that its terms can be rearranged."""
    for node in ast.walk(expression):
        match node:
            case ast.Literal() | ast.Unary(op="+" | "-") | ast.Binary(op="+" | "-" | "*"):
                continue
            case ast.Name(type=type) if type.kind == "int" and type.signed:
                continue
        return None
    return from_expr(expression)


def count_of(loop: Loop) -> str:
    """A C++ expression of how many iterations a loop makes, where it makes any."""
    printer = Printer()
    upper, lower = (loop.bound, loop.first) if loop.step > 0 else (loop.first, loop.bound)
    high, low = linear(upper), linear(lower)
    if high is not None and low is not None:
        count = high - low + int(loop.inclusive)
        text, simple = count.to_c(), count.is_simple
    else:
        text, simple = f"(long long){printer.expression(upper, UNARY)}", False
        if low is None or low.terms:
            text += f" - (long long){printer.expression(lower, UNARY)}"
        if loop.inclusive:
            text += " + 1"
    step = abs(loop.step)
    if step == 1:
        return text
    return f"({text if simple else f'({text})'} + {step - 1}) / {step}"


def guarded(loops: Iterable[Loop], lines: Iterable[str]) -> tuple[str, ...]:
    """The lines in a block of the launcher that runs only where all the loops make an iteration."""
    conditions = dict.fromkeys(_runs(loop) for loop in loops if not _surely_runs(loop))
    head = f"if ({' && '.join(conditions)}) {{" if conditions else "{"
    return (head, *(f"{INDENT}{line}" for line in lines), "}")


def _runs(loop: Loop) -> str:
    bound, first = (Printer().expression(e, RELATIONAL) for e in (loop.bound, loop.first))
    return f"{bound} {_MIRRORED[loop.comparison]} {first}"


def _surely_runs(loop: Loop) -> bool:
    upper, lower = (loop.bound, loop.first) if loop.step > 0 else (loop.first, loop.bound)
    high, low = linear(upper), linear(lower)
    count = (high - low).value if high is not None and low is not None else None
    return count is not None and count >= (0 if loop.inclusive else 1)


def blocks(loop: Loop, size: int, each: int = 1, most: int | None = None) -> str:
    """How many blocks of `size` threads, each with `each` iterations, cover a loop; at most `most`."""
    cap = "" if most is None else f", {most}"
    return f"{BLOCKS}({count_of(loop)}, {size if each == 1 else f'{size} * {each}'}{cap})"
