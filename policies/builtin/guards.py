"""Loops that are parallel unless a step through memory is 0, as BLAS allows: decided when the program runs."""

from __future__ import annotations

import dataclasses

from ...tools.c import ast
from . import flow
from .accesses import accesses_of
from .build import At
from .loops import Loop, counted, statements_of
from .nest import Surroundings
from .refusals import Refused
from .tree import INT, Names, same


def guarded(statement: ast.For, around: Surroundings, names: Names) -> tuple[ast.If, ast.For] | None:
    """The loop where its steps are positive, else the whole of it in one thread; that loop of one iteration as well.

    None where no step depends on a variable, or all that do are known to be positive.
    """
    loop = counted(statement)
    if not isinstance(loop, Loop):
        return None
    body = statements_of(statement.body)
    try:
        accesses = accesses_of(around.outer, (loop,), body, around.functions, around.given)
    except Refused:
        return None
    variables = flow.names_in([statement])
    steps = {
        name
        for access in accesses
        for step in access.location.steps
        if not isinstance(step, str)
        and (name := _variable(step.coefficient(loop.variable).terms)) in variables
    }
    at = At(statement.place)
    changing = flow.written([statement]) | {loop.variable}
    conditions = [at.binary(">", variables[s], at.number(0)) for s in sorted(steps - changing)]
    conditions = [c for c in conditions if not any(same(c, g) for g in around.given)]
    if not conditions:
        return None
    condition = conditions[0]
    for other in conditions[1:]:
        condition = at.binary("&&", condition, other)
    alone = at.count(at.name(names.fresh("once"), INT), at.number(1), statement)
    # A tree of its own, so that the plan can tell it from the loop that it stands for.
    inner = dataclasses.replace(statement, body=at.block(statement.body))
    return ast.If(condition, at.block(inner), at.block(alone), at.place), alone


def _variable(terms: tuple) -> str | None:
    """The variable that a polynomial consists of."""
    match terms:
        case (((str() as name,), 1),):
            return name
        case _:
            return None
