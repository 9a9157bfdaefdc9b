"""Bounds of a triangular nest's loops that do not depend on each other: a box around all iterations.

With a test for each iteration, loops with such bounds can run in parallel, both known before the nest starts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from ...tools.c import ast
from . import flow
from .loops import Loop
from .tree import INT

Interval = tuple[ast.Expr, ast.Expr]


def boxed(loops: Sequence[Loop], changing: set[str]) -> dict[str, Loop]:
    """For loops nested in one another (outermost first) whose bounds depend on those around them: the same loop with
    bounds that cover its iterations in all of theirs.

    `changing` are variables whose values the nest changes; a loop that needs one, or that cannot be freed, is left out.
    """
    ranges: dict[str, Interval] = {}
    found = {}
    for loop in loops:
        named = flow.names_in([loop.first, loop.bound]).keys()
        first, bound = _bounds(loop.first, ranges), _bounds(loop.bound, ranges)
        if first is None or bound is None or named & (changing - ranges.keys()):
            continue
        up = loop.step > 0
        start, end = (first[0], bound[1]) if up else (first[1], bound[0])
        if named & ranges.keys():
            if abs(loop.step) != 1:
                continue
            found[loop.variable] = dataclasses.replace(loop, first=start, bound=end)
        last = end if loop.inclusive else _joined("-" if up else "+", end, _one(loop))
        ranges[loop.variable] = (start, last) if up else (last, start)
    return found


def is_iteration(loop: Loop) -> ast.Expr:
    """The test whether a value of the loop's variable is one of its iterations."""
    variable = ast.Name(loop.variable, "local", loop.type, loop.place)
    start = ast.Binary(">=" if loop.step > 0 else "<=", variable, loop.first, loop.type, loop.place)
    end = ast.Binary(loop.comparison, variable, loop.bound, loop.type, loop.place)
    if loop.step > 0 and isinstance(loop.first, ast.Literal) and loop.first.value == 0:
        return end
    return ast.Binary("&&", start, end, loop.type, loop.place)


def _bounds(expression: ast.Expr, ranges: Mapping[str, Interval]) -> Interval | None:
    """Expressions between which the value lies for all values of the variables in their ranges."""
    if not flow.names_in([expression]).keys() & ranges.keys():
        return expression, expression
    match expression:
        case ast.Name(name=name):
            return ranges[name]
        case ast.Binary(op="+" | "-" as op, left=left, right=right):
            one, other = _bounds(left, ranges), _bounds(right, ranges)
            if one is None or other is None:
                return None
            if op == "-":
                other = other[1], other[0]
            return _joined(op, one[0], other[0]), _joined(op, one[1], other[1])
        case ast.Binary(op="*", left=left, right=ast.Literal(value=int() as factor)):
            return _scaled(_bounds(left, ranges), "*", factor, expression)
        case ast.Binary(op="*", left=ast.Literal(value=int() as factor), right=right):
            return _scaled(_bounds(right, ranges), "*", factor, expression)
        case ast.Binary(op="/", left=left, right=ast.Literal(value=int() as divisor)) if divisor > 0:
            return _scaled(_bounds(left, ranges), "/", divisor, expression)
        case ast.Unary(op="-", operand=operand):
            inner = _bounds(operand, ranges)
            return None if inner is None else (_negated(inner[1]), _negated(inner[0]))
        case ast.Conditional(
            condition=ast.Binary(op="<" | ">" as op, left=left, right=right), then=then, otherwise=otherwise
        ) if left == then and right == otherwise:
            one, other = _bounds(left, ranges), _bounds(right, ranges)
            if one is None or other is None:
                return None
            return _extremum(op, one[0], other[0]), _extremum(op, one[1], other[1])
        case _:
            return None


def _scaled(inner: Interval | None, op: str, by: int, like: ast.Binary) -> Interval | None:
    """Each end multiplied with or divided by a constant; both keep the order, or turn it round."""
    if inner is None:
        return None
    literal = like.right if isinstance(like.right, ast.Literal) else like.left
    ends = [ast.Binary(op, end, literal, like.type, like.place) for end in inner]
    return (ends[0], ends[1]) if by >= 0 else (ends[1], ends[0])


def _joined(op: str, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    """A sum or difference, with constants at its end folded."""
    if isinstance(right, ast.Literal) and isinstance(right.value, int):
        amount = right.value if op == "+" else -right.value
        match left:
            case ast.Binary(op="+" | "-" as sign, left=rest, right=ast.Literal(value=int() as other)):
                amount += other if sign == "+" else -other
                left = rest
        if amount == 0:
            return left
        number = ast.Literal(abs(amount), str(abs(amount)), right.type, right.place)
        return ast.Binary("+" if amount > 0 else "-", left, number, left.type, left.place)
    return ast.Binary(op, left, right, left.type, left.place)


def _extremum(op: str, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    condition = ast.Binary(op, left, right, left.type, left.place)
    return ast.Conditional(condition, left, right, left.type, left.place)


def _negated(value: ast.Expr) -> ast.Expr:
    return ast.Unary("-", value, value.type, value.place)


def _one(loop: Loop) -> ast.Expr:
    return ast.Literal(1, "1", INT, loop.place)
