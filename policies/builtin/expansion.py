"""Memory of their own for values that only share a place: reads of what is overwritten later, and temporaries.

(Feautrier, "Array Expansion", ICS 1988: what only reuses memory is no dependence of values.)
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ...tools.c import ast
from . import flow
from .build import At
from .loops import Loop, counted, statements_of
from .nest import Surroundings
from .polyhedra import NotAffine, reads_of_the_past
from .refusals import Refused
from .tree import Names, rebuild, same, substituted

MOST_LOOPS = 2


def snapshot(nest: ast.For, around: Surroundings, names: Names) -> ast.Block | None:
    """The nest with reads of what it overwrites later from a copy; None where that is of no use or not possible.

    An array of known size is copied whole; of others, what each iteration reads, in a nest of at most `MOST_LOOPS`.
    """
    try:
        reads = reads_of_the_past(nest, around)
    except (NotAffine, Refused):
        return None
    at = At(nest.place)
    parts: list[ast.Stmt] = []
    replaced: list[tuple[ast.Expr, ast.Expr]] = []
    whole: dict[str, ast.Name] = {}
    for read in reads:
        array = _array(read)
        if array is None:
            return None
        if (size := _bytes(array.type)) is not None:
            if array.name not in whole:
                copy = at.name(names.fresh(f"{array.name}_before"), _mutable(array.type))
                whole[array.name] = copy
                call = ast.Call("memcpy", (copy, array, at.number(size)), array.type, at.place)
                parts += [at.declare(copy), at.evaluate(call)]
            replaced.append((read, _through(read, array, whole[array.name])))
            continue
        made = _of_each(at, nest, read, array, names)
        if made is None:
            return None
        declare, fill, value = made
        parts += [declare, fill]
        replaced.append((read, value))
    return at.block(*parts, _redirected(nest, replaced)) if replaced else None


def _array(read: ast.Expr) -> ast.Name | None:
    while isinstance(read, ast.Subscript | ast.Member):
        read = read.base
    return read if isinstance(read, ast.Name) else None


def _bytes(type: ast.CType) -> int | None:
    """The size of an array, where the program says it."""
    if type.kind != "array":
        return None
    if not isinstance(type.length, int) or type.element is None:
        return None
    inner = _bytes(type.element) if type.element.kind == "array" else type.element.size
    return None if inner is None else inner * type.length


def _mutable(type: ast.CType) -> ast.CType:
    if type.element is None:
        return dataclasses.replace(type, const=False)
    return dataclasses.replace(type, element=_mutable(type.element))


def _through(read: Any, array: ast.Name, copy: ast.Name) -> Any:
    return copy if read is array else rebuild(read, lambda child: _through(child, array, copy))


def _of_each(
    at: At, nest: ast.For, read: ast.Expr, array: ast.Name, names: Names
) -> tuple[ast.Stmt, ast.Stmt, ast.Expr] | None:
    """A copy of what each iteration reads: its declaration, the loops that fill it, an iteration's own element."""
    loops, _ = _rectangle(nest)
    own = flow.names_in([read]).keys() & flow.declared_in([nest]).keys()
    if not loops or own - {loop.variable for loop in loops} or read.type.kind not in ("int", "float"):
        return None
    copy, element = _array_of(at, loops, names.fresh(f"{array.name}_before"), read.type)
    fill: ast.Stmt = at.set(element, read)
    for loop in reversed(loops):
        fill = dataclasses.replace(loop.statement, body=at.block(fill))
    return at.declare(copy), fill, element


def expanded(nest: ast.For, around: Surroundings, names: Names) -> ast.Block | None:
    """The nest with temporaries of each iteration in arrays, so that its statements can part; None without any."""
    loops, body = _rectangle(nest)
    inner = [s for s in body if isinstance(s, ast.For)]
    declared = {v.name: v for s in body if isinstance(s, ast.Declare) for v in s.variables}
    mentioned = flow.names_in(body)
    own = flow.written(inner) | flow.declared_in(inner).keys()
    shared = [
        n for n in mentioned if n in declared or (n in flow.written(body) and n not in _counters(inner))
    ]
    if not loops or not inner or not shared or any(v.static for v in declared.values()):
        return None
    at = At(nest.place)
    parts: list[ast.Stmt] = []
    values: dict[str, ast.Expr] = {}
    for name in shared:
        variable = mentioned[name]
        if variable.type.kind not in ("int", "float") or variable.scope == "global":
            return None
        if name not in declared and (flow.Use(name, body).exposed or around.live_after(name)):
            return None
        if name in own or name in flow.names_in(body):
            copy, values[name] = _array_of(at, loops, names.fresh(f"{name}_of_each"), variable.type)
            parts.append(at.declare(copy))
    made: list[ast.Stmt] = []
    for statement in body:
        if isinstance(statement, ast.Declare):
            made += [
                at.set(values[v.name], substituted(v.init, values))
                for v in statement.variables
                if v.init is not None and v.name in values
            ]
        else:
            made.append(substituted(statement, values))
    result: ast.Stmt = at.block(*made)
    for loop in reversed(loops):
        result = dataclasses.replace(
            loop.statement, body=result if isinstance(result, ast.Block) else at.block(result)
        )
    return at.block(*parts, result)


def _counters(loops: list[ast.For]) -> set[str]:
    found = (counted(n) for loop in loops for n in ast.walk(loop) if isinstance(n, ast.For))
    return {loop.variable for loop in found if isinstance(loop, Loop)}


def _rectangle(nest: ast.For) -> tuple[list[Loop], tuple[ast.Stmt, ...]]:
    """At most `MOST_LOOPS` loops in one another with bounds of their own, and what stands in the innermost."""
    loops: list[Loop] = []
    body: tuple[ast.Stmt, ...] = (nest,)
    while len(loops) < MOST_LOOPS and len(body) == 1 and isinstance(body[0], ast.For):
        loop = counted(body[0])
        variables = {outer.variable for outer in loops}
        if (
            isinstance(loop, str)
            or loop.step != 1
            or variables & flow.names_in([loop.first, loop.bound]).keys()
        ):
            break
        loops.append(loop)
        body = statements_of(loop.statement.body)
    return loops, body


def _array_of(at: At, loops: list[Loop], name: str, type: ast.CType) -> tuple[ast.Name, ast.Expr]:
    """An array with an element for each iteration of the loops, and the element of an iteration."""
    place: ast.Expr = at.number(0)
    count: ast.Expr = at.number(1)
    runs: ast.Expr | None = None
    for loop in loops:
        end = at.binary("+", loop.bound, at.number(1)) if loop.inclusive else loop.bound
        trips = at.binary("-", end, loop.first)
        count, place = at.binary("*", count, trips), at.binary("*", place, trips)
        place = at.binary("+", place, at.binary("-", at.name(loop.variable, loop.type), loop.first))
        one = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        runs = one if runs is None else at.binary("&&", runs, one)
    assert runs is not None, "there is at least one loop"
    length = ast.Conditional(runs, count, at.number(1), count.type, at.place)
    element = _mutable(type)
    array = at.name(name, ast.CType("array", "", None, True, element=element, length=length))
    return array, ast.Subscript(array, place, element, at.place)


def _redirected(node: Any, replaced: list[tuple[ast.Expr, ast.Expr]]) -> Any:
    """The nest with other places to read from; what it writes to stays."""
    if isinstance(node, ast.Assign | ast.Step):
        target = rebuild(node.target, lambda child: _redirected(child, replaced))
        if isinstance(node, ast.Step):
            return dataclasses.replace(node, target=target)
        return dataclasses.replace(node, target=target, value=_redirected(node.value, replaced))
    if isinstance(node, ast.Expr):
        for old, new in replaced:
            if same(node, old):
                return new
    return rebuild(node, lambda child: _redirected(child, replaced))
