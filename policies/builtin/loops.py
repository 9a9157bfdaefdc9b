"""Counted loops: a ``for`` whose iterations are known before it starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from ...tools.c import ast
from . import flow

Comparison = OneOf["<", "<=", ">", ">="]
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class Loop:
    """``for (variable = first; variable comparison bound; variable += step)``; `step` is not 0.

    The body changes neither the variable nor what `bound` is made of. `declares` tells whether the loop declares
    its variable.
    """

    variable: str
    type: ast.CType
    first: ast.Expr
    comparison: Comparison
    bound: ast.Expr
    step: int
    declares: bool
    statement: ast.For

    @property
    def place(self) -> ast.Place:
        return self.statement.place

    @property
    def inclusive(self) -> bool:
        return self.comparison in ("<=", ">=")


def counted(loop: ast.For) -> Loop | str:
    """The loop as a counted one, or in words why it is none."""
    match loop.init:
        case ast.Declare(variables=(ast.Variable(name=name, type=type, init=first),)) if first is not None:
            declares = True
        case ast.Evaluate(expression=ast.Assign(op="=", target=ast.Name(name=name, type=type), value=first)):
            declares = False
        case _:
            return "does not start by setting one variable"
    if type.kind != "int":
        return f"counts in {name}, which is no integer"
    if (type.size or 0) < 4 and not _fits(first, type):
        return f"starts {name} from a value that it may not hold"
    step = _step(loop.step, name)
    if step is None:
        return f"does not step {name} by a constant"
    compared = None if loop.condition is None else _compared(loop.condition, name)
    if compared is None:
        return f"does not compare {name} with a bound"
    op, bound = compared
    if op == "!=" and abs(step) == 1:
        op = "<" if step > 0 else ">"
    if op not in (("<", "<=") if step > 0 else (">", ">=")):
        return f"moves {name} away from its bound"
    if bound.type.kind not in ("int", "bool", "enum") or first.type.kind not in ("int", "bool", "enum"):
        return "has a bound that is no integer"
    if (
        type.signed
        and not bound.type.signed
        and (bound.type.size or 0) >= (type.size or 0)
        and not _natural(first)
    ):
        return f"compares {name}, which may be negative, with an unsigned bound"
    changed = flow.written([loop.body]) | {name}
    if name in flow.written([loop.body]):
        return f"changes {name} in its body"
    if touched := changed & set(flow.names_in([bound])):
        return f"changes {', '.join(sorted(touched))}, which its bound depends on"
    for node in (n for part in (first, bound) for n in ast.walk(part)):
        if isinstance(node, ast.Call | ast.Subscript | ast.Member | ast.Assign | ast.Step) or (
            isinstance(node, ast.Unary) and node.op == "*"
        ):
            return "has a bound that is not made of variables and constants alone"
    return Loop(name, type, first, op, bound, step, declares, loop)  # type: ignore[arg-type]


def _compared(condition: ast.Expr, name: str) -> tuple[str, ast.Expr] | None:
    """How a condition compares a variable, on the left, and with what."""
    match condition:
        case ast.Binary(op="&&", left=left, right=right):
            one, other = _compared(left, name), _compared(right, name)
            if one is None or other is None or one[0] != other[0] or one[0] == "!=":
                return None
            (op, a), (_, b) = one, other
            if a.type.signed != b.type.signed:
                return None
            nearer = ast.Binary(op[0], a, b, a.type, condition.place)
            return op, ast.Conditional(nearer, a, b, a.type, condition.place)
        case ast.Binary(op=op, left=left, right=bound) if op in _MIRRORED:
            if name not in flow.names_in([left]):
                left, bound, op = bound, left, _MIRRORED[op]
            match left:
                case ast.Name(name=tested) if tested == name:
                    return op, bound
                case ast.Binary(op="+" | "-" as sign, left=ast.Name(name=tested), right=by, type=type) if (
                    tested == name and type.kind == "int" and type.signed and bound.type.signed
                ):
                    return op, ast.Binary("-" if sign == "+" else "+", bound, by, type, bound.place)
    return None


def _fits(value: ast.Expr, type: ast.CType) -> bool:
    """Whether a short counter surely holds its first value. Later ones it holds, or the original does not end."""
    bits = 8 * (type.size or 0)
    if isinstance(value, ast.Literal) and isinstance(value.value, int):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if type.signed else (0, (1 << bits) - 1)
        return low <= value.value <= high
    return (value.type.size or 8) <= (type.size or 0) and value.type.signed == type.signed


def _step(step: ast.Expr | None, name: str) -> int | None:
    """By how much the loop's step moves the variable; None where that is no constant other than 0."""
    match step:
        case ast.Step(op=op, target=ast.Name(name=stepped)) if stepped == name:
            return 1 if op == "++" else -1
        case ast.Assign(op="+=" | "-=" as op, target=ast.Name(name=stepped), value=value) if stepped == name:
            amount = _constant(value)
            return amount if amount is None or op == "+=" else -amount
        case ast.Assign(
            op="=",
            target=ast.Name(name=stepped),
            value=ast.Binary(op="+" | "-" as op, left=ast.Name(name=left), right=right),
        ) if stepped == left == name:
            amount = _constant(right)
            return amount if amount is None or op == "+" else -amount
        case _:
            return None


def _constant(value: ast.Expr) -> int | None:
    """An integer constant other than 0."""
    match value:
        case ast.Literal(value=int() as number) if number != 0:
            return number
        case ast.Name(value=int() as number) if number != 0:
            return number
        case ast.Unary(op="-", operand=operand):
            negated = _constant(operand)
            return None if negated is None else -negated
        case _:
            return None


def _natural(value: ast.Expr) -> bool:
    """Whether an integer is surely not negative."""
    if isinstance(value, ast.Literal):
        return value.value >= 0
    return not value.type.signed


def declaring(loop: Loop, body: tuple[ast.Stmt, ...]) -> ast.For:
    """The loop around a body, with a variable of its own."""
    statement = loop.statement
    init = statement.init
    if not loop.declares:
        variable = ast.Variable(loop.variable, loop.type, loop.place, loop.first)
        init = ast.Declare((variable,), loop.place)
    return ast.For(init, statement.condition, statement.step, ast.Block(body, loop.place), loop.place)


def statements_of(body: ast.Stmt) -> tuple[ast.Stmt, ...]:
    """The statements of a loop's or function's body."""
    return body.body if isinstance(body, ast.Block) else (body,)


def break_in(body: tuple[ast.Stmt, ...]) -> ast.Jump | None:
    """A ``break`` that ends the loop whose body this is."""
    for statement in body:
        match statement:
            case ast.Jump(kind="break"):
                return statement
            case ast.For() | ast.While():
                continue
        found = break_in(tuple(c for c in ast.children(statement) if isinstance(c, ast.Stmt)))
        if found is not None:
            return found
    return None


def continues(body: Iterable[ast.Stmt]) -> bool:
    """Whether a ``continue`` belongs to the loop whose body this is."""
    for statement in body:
        match statement:
            case ast.Jump(kind="continue"):
                return True
            case ast.For() | ast.While():
                continue
        if continues(c for c in ast.children(statement) if isinstance(c, ast.Stmt)):
            return True
    return False


def jumps(node: ast.Stmt | ast.Expr) -> bool:
    """Whether a ``break`` or ``continue`` leaves the node."""
    match node:
        case ast.Jump():
            return True
        case ast.For() | ast.While():
            return False
        case _:
            return any(map(jumps, ast.children(node)))
