"""The body of an iteration as a thread runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ...tools.c import ast
from ...tools.c.ast import CType
from .emit import INDENT, UNARY, Override, Printer
from .kernel import Site
from .loops import declaring


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
                return [f"{pad}{self.atomic_add(target, self.expression(value, UNARY), op)};"]
            case ast.Evaluate(expression=ast.Step(op=op, target=target)) if target in self.atomic:
                return [f"{pad}{self.atomic_add(target, '1', op)};"]
        return super().statement(statement, depth)

    def atomic_add(self, target: ast.Expr, amount: str, op: str) -> str:
        """An update of a number; an integer of 64 bits adds as unsigned, which wraps to the same."""
        type = target.type
        address = self.expression(ast.Unary("&", target, CType("pointer", ""), target.place))
        if type.kind == "float":
            amount = f"({type.spelling}){amount}"
        elif type.size == 8:
            address = f"(unsigned long long *){address}"
            amount = f"(unsigned long long){amount}"
        elif amount != "1":
            amount = f"({type.spelling}){amount}"
        return f"atomicAdd({address}, {'-' if op[0] == '-' else ''}{amount})"


def iteration(site: Site, printer: Printer, depth: int) -> list[str]:
    """The lines of one iteration: its private variables, the loops inside it, and the body."""
    nest = site.nest
    body: tuple[ast.Stmt, ...] = nest.body
    for loop in reversed(nest.inner):
        body = (declaring(loop, body),)
    return [*private(nest.private, printer, depth), *printer.statements(body, depth)]


def private(names: Iterable[ast.Name], printer: Printer, depth: int) -> list[str]:
    """Declarations of variables that an iteration has for itself."""
    own = [ast.Variable(n.name, dataclasses.replace(n.type, const=False), n.place) for n in names]
    return [f"{INDENT * depth}{line};" for v in own for line in printer.declarations((v,))]
