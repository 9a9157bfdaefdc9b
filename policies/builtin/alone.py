"""A loop that must run in order, as a kernel of one thread: where it is the lesser part of a function on the device.

Copying its arrays to the host and back would cost more, and nothing else of the function could stay on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...tools.c import ast
from . import flow
from .build import At
from .cost import depth_of
from .nest import Nest
from .tree import Names, substituted


def alone(
    statement: ast.For | ast.While, live_after: Callable[[str], bool], names: Names
) -> tuple[ast.Block, ast.For] | None:
    """The loop inside one of a single iteration, and that one. What it leaves in variables is passed through memory.

    None where it leaves something else than numbers.
    """
    at = At(statement.place)
    mentioned = flow.names_in([statement])
    before: list[ast.Stmt] = []
    own: list[ast.Stmt] = []
    left: list[ast.Stmt] = []
    after: list[ast.Stmt] = []
    renamed: dict[str, ast.Expr] = {}
    for name in sorted(flow.written([statement])):
        variable, live = mentioned[name], live_after(name)
        if not live and not flow.Use(name, [statement]).exposed:
            continue
        if variable.scope == "global" or variable.type.kind not in ("int", "float", "bool", "enum"):
            return None
        inside = at.name(names.fresh(name), variable.type)
        renamed[name] = inside
        own.append(at.declare(inside, variable))
        if not live:
            continue
        array = at.name(
            names.fresh(f"{name}_left"),
            ast.CType("array", "", variable.type.size, True, element=variable.type, length=1),
        )
        element = ast.Subscript(array, at.number(0), variable.type, at.place)
        before.append(at.declare(array))
        left.append(at.set(element, inside))
        after.append(at.set(variable, element))
    body = substituted(statement, renamed)
    once = at.count(at.name(names.fresh("once")), at.number(1), *own, body, *left)
    return at.block(*before, once, *after), once


def is_lesser(statement: ast.Stmt, nests: Iterable[tuple[Nest, int]]) -> bool:
    """Whether loops nest less deeply in a statement than in a parallel nest, given with the host loops around it."""
    deepest = max(
        (launches + len(n.loops) + len(n.inner) + depth_of(n.body) for n, launches in nests), default=0
    )
    return depth_of((statement,)) < deepest
