"""Parts loops where they pass the variable of a loop around them, so that each part is parallel.

    for (k ...) for (i ...) for (j ...) a[i][j] = min(a[i][j], a[i][k] + a[k][j]);

depends on itself only by way of row k and column k: what lies before, at and after k does not.
(Griebl, Feautrier and Lengauer, "Index Set Splitting", IJPP 28(6), 2000.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import product

from ...tools.c import ast
from ...tools.c.polynomial import Polynomial, atom
from .accesses import accesses_of
from .build import At
from .loops import Loop, counted, statements_of
from .nest import Surroundings
from .refusals import Refused
from .symbolic import Access
from .tree import same, substituted

MOST_PARTED = 2


def parted(nest: ast.For, around: Surroundings) -> ast.Block | None:
    """The nest with loops in three parts: before, at and after the variable of a loop around it.

    Those loops are parted that run over the same values as the one around them, at most `MOST_PARTED`, where two
    accesses of an array that the nest writes meet just where both variables are equal. None where there are none.
    """
    loops, body = _loops(nest)
    try:
        accesses = accesses_of(around.outer, loops, body, around.functions, around.given)
    except Refused:
        return None
    places = {}
    for loop in loops:
        if not loop.declares and around.live_after(loop.variable):
            return None
        found = [
            o for o in around.outer if _same_range(o, loop) and _meet(accesses, loop.variable, o.variable)
        ]
        if len(found) == 1:
            places[loop.variable] = found[0]
    if not 0 < len(places) <= MOST_PARTED:
        return None
    return At(nest.place).block(*_parts(At(nest.place), loops, body, places))


def _loops(nest: ast.For) -> tuple[tuple[Loop, ...], tuple[ast.Stmt, ...]]:
    """The counted loops nested right in one another, and what stands in the innermost."""
    loops: list[Loop] = []
    body: tuple[ast.Stmt, ...] = (nest,)
    while len(body) == 1 and isinstance(body[0], ast.For) and isinstance(loop := counted(body[0]), Loop):
        loops.append(loop)
        body = statements_of(loop.statement.body)
    return tuple(loops), body


def _same_range(one: Loop, other: Loop) -> bool:
    return (
        one.step == other.step == 1
        and one.comparison == other.comparison
        and same(one.first, other.first)
        and same(one.bound, other.bound)
    )


def _meet(accesses: Sequence[Access], variable: str, outer: str) -> bool:
    """Whether two accesses of an array that is written differ by their subscripts' distance of the two variables."""
    at = {variable: atom(outer)}
    written = {a.location.root for a in accesses if a.kind == "write"}
    touched = [a.location for a in accesses if a.location.root in written]
    for one, other in product(touched, touched):
        if one.root != other.root:
            continue
        for p, q in zip(one.steps, other.steps, strict=False):
            if isinstance(p, Polynomial) and isinstance(q, Polynomial):
                distance = p - q
                if {variable, outer} <= distance.names and not distance.substitute(at).terms:
                    return True
    return False


def _parts(
    at: At, loops: Sequence[Loop], body: tuple[ast.Stmt, ...], places: Mapping[str, Loop]
) -> tuple[ast.Stmt, ...]:
    if not loops:
        return body
    loop, *inner = loops
    inside = _parts(at, inner, body, places)
    whole = dataclasses.replace(loop.statement, body=at.block(*inside))
    if loop.variable not in places:
        return (whole,)
    outer = places[loop.variable]
    variable, middle = at.name(loop.variable, loop.type), at.name(outer.variable, outer.type)
    before = dataclasses.replace(whole, condition=at.binary("<", variable, middle))
    after = dataclasses.replace(whole, init=_started(loop, at.binary("+", middle, at.number(1))))
    met = (substituted(statement, {loop.variable: middle}) for statement in inside)
    return (before, *met, after)


def _started(loop: Loop, first: ast.Expr) -> ast.Stmt:
    """The loop's start with another first value."""
    match loop.statement.init:
        case ast.Declare(variables=(variable,)) as declaration:
            return dataclasses.replace(declaration, variables=(dataclasses.replace(variable, init=first),))
        case ast.Evaluate(expression=ast.Assign() as assign) as statement:
            return dataclasses.replace(statement, expression=dataclasses.replace(assign, value=first))
        case _:
            raise AssertionError("a counted loop sets its variable")
