"""Loops whose step is a variable, as loops over the number of their trips.

``for (j = first; j < bound; j += s)`` has ``(bound - first - 1) / s + 1`` trips where `s` is positive; where it is not,
the loop would not end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ...tools.c import ast
from . import flow
from .build import At
from .loops import counted, jumps, statements_of
from .tree import LONG, Names

_LENGTHS = {"+=": ("<", "<="), "-=": (">", ">=")}


def strided(statement: ast.For, live_after: Callable[[str], bool], names: Names) -> ast.Block | None:
    """The loop over its trips, under a test that its step leads to its bound; None where it is no such loop."""
    match statement.step:
        case ast.Assign(op="+=" | "-=" as op, target=ast.Name() as variable, value=step):
            pass
        case _:
            return None
    # A constant step in the place of the variable one tells whether all else is as it must be.
    by_one = dataclasses.replace(statement.step, value=ast.Literal(1, "1", step.type, step.place))
    loop = counted(dataclasses.replace(statement, step=by_one))
    if isinstance(loop, str) or loop.comparison not in _LENGTHS[op] or not _is_kept(step, statement):
        return None
    if not loop.declares and live_after(loop.variable):
        return None
    if any(map(jumps, statements_of(statement.body))):
        return None
    at = At(statement.place)
    far, near = (loop.bound, loop.first) if op == "+=" else (loop.first, loop.bound)
    distance = at.binary("-", ast.Cast(far, LONG, at.place), near)
    if not loop.inclusive:
        distance = at.binary("-", distance, at.number(1))
    trips = at.name(names.fresh("trips"), LONG)
    trip = at.name(names.fresh("trip"), LONG)
    moved = at.binary(op[0], loop.first, at.binary("*", trip, step))
    body = ast.Declare(
        (ast.Variable(loop.variable, variable.type, at.place, ast.Cast(moved, variable.type, at.place)),),
        at.place,
    )
    runs = at.binary(
        "&&", at.binary(">", step, at.number(0)), at.binary(loop.comparison, loop.first, loop.bound)
    )
    length = at.binary("+", at.binary("/", distance, step), at.number(1))
    return at.block(
        at.when(
            runs,
            at.declare(trips, length),
            at.count(trip, trips, body, *statements_of(statement.body)),
        )
    )


def _is_kept(step: ast.Expr, statement: ast.For) -> bool:
    """Whether a step is made of integers that the loop does not change."""
    plain = all(isinstance(n, ast.Name | ast.Literal | ast.Binary) for n in ast.walk(step))
    names = flow.names_in([step])
    return plain and bool(names) and step.type.kind == "int" and flow.written([statement]).isdisjoint(names)
