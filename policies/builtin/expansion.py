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
from .tree import INT, LONG, Names, rebuild, same, substituted

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
    """The nest with temporaries of each iteration in memory of their own, so that its statements can part.

    Those are variables, and arrays that each iteration fills before it reads them; what the last one leaves in such an
    array is copied back. None where there are none.
    """
    loops, body = _rectangle(nest)
    inner = [s for s in body if isinstance(s, ast.For)]
    if not loops or not inner:
        return None
    at = At(nest.place)
    declared = {v.name: v for s in body if isinstance(s, ast.Declare) for v in s.variables}
    own = (flow.written(body) | declared.keys()) - _counters(inner)
    mentioned = flow.names_in(body)
    parts: list[ast.Stmt] = []
    values: dict[str, ast.Expr] = {}
    for name in (n for n in mentioned if n in own):
        variable = mentioned[name]
        if variable.type.kind not in ("int", "float") or variable.scope == "global":
            return None
        if name not in declared and (flow.Use(name, body).exposed or around.live_after(name)):
            return None
        copy, values[name] = _array_of(at, loops, names.fresh(f"{name}_of_each"), variable.type)
        parts.append(at.declare(copy))
    after: list[ast.Stmt] = []
    elements: list[tuple[ast.Expr, ast.Expr]] = []
    elsewhere = flow.names_in([s for s in body if not isinstance(s, ast.For)]).keys()
    arrays = {n for n, v in mentioned.items() if v.type.element is not None}
    for filled in _filled(inner, arrays - elsewhere, own):
        copy, place = _array_of(
            at, loops, names.fresh(f"{filled.array.name}_of_each"), filled.element.type, filled.length
        )
        parts.append(at.declare(copy))
        for index in filled.indices:
            own_place = at.binary("+", place.index, index)
            elements.append(
                (
                    dataclasses.replace(filled.element, index=index),
                    dataclasses.replace(place, index=own_place),
                )
            )
        after += _copied_back(at, loops, filled, copy)
    if not values and not elements:
        return None
    made: list[ast.Stmt] = []
    for statement in body:
        if isinstance(statement, ast.Declare):
            made += [
                at.set(values[v.name], substituted(v.init, values))
                for v in statement.variables
                if v.init is not None and v.name in values
            ]
        else:
            made.append(_replaced(substituted(statement, values), elements))
    result: ast.Stmt = at.block(*made)
    for loop in reversed(loops):
        inside = result if isinstance(result, ast.Block) else at.block(result)
        result = dataclasses.replace(loop.statement, body=inside)
    return at.block(*parts, result, *after)


@dataclasses.dataclass(frozen=True)
class _Filled:
    """An array of which an iteration writes the elements 0 to `length` before it reads any of them."""

    array: ast.Name
    element: ast.Subscript
    length: ast.Expr
    indices: tuple[ast.Name, ...]


def _filled(inner: list[ast.For], arrays: set[str], changing: set[str]) -> list[_Filled]:
    """The arrays that all loops walk through alike, the first of them only to write."""
    found = []
    for array in sorted(arrays):
        walks: list[tuple[Loop, ast.Subscript]] = []
        if not all(_walks(loop, array, (), walks) for loop in inner) or not walks:
            continue
        first, element = walks[0]
        lengths = {ast.declare(loop.type, "") for loop, _ in walks}
        alike = all(same(loop.bound, first.bound) and loop.inclusive == first.inclusive for loop, _ in walks)
        begins = isinstance(first.first, ast.Literal) and first.first.value == 0
        if (
            first.statement not in inner
            or not alike
            or len(lengths) != 1
            or not begins
            or changing & flow.names_in([first.bound]).keys()
        ):
            continue
        start = statements_of(first.statement.body)[0]
        match start:
            case ast.Evaluate(expression=ast.Assign(op="=", target=target, value=value)) if (
                target == element and array not in flow.names_in([value])
            ):
                pass
            case _:
                continue
        assert isinstance(element.base, ast.Name)
        at = At(first.place)
        length = at.binary("+", first.bound, at.number(1)) if first.inclusive else first.bound
        indices = {i.name: i for _, e in walks if isinstance(i := e.index, ast.Name)}
        found.append(_Filled(element.base, element, length, tuple(indices.values())))
    return found


def _walks(node: Any, array: str, loops: tuple[Loop, ...], found: list[tuple[Loop, ast.Subscript]]) -> bool:
    """Whether the array only appears as the element of a loop's variable, in loops from 0 by ones."""
    match node:
        case ast.For():
            loop = counted(node)
            if isinstance(loop, str) or loop.step != 1:
                return array not in flow.names_in([node])
            plain = isinstance(loop.first, ast.Literal) and loop.first.value == 0
            return _walks(node.body, array, (*loops, loop) if plain else loops, found)
        case ast.Subscript(base=ast.Name(name=name), index=index) if name == array:
            if not isinstance(index, ast.Name) or not node.type.scalar:
                return False
            around = [loop for loop in loops if loop.variable == index.name]
            if not around:
                return False
            found.append((around[0], node))
            return True
        case ast.Name(name=name):
            return name != array
        case _:
            return all(_walks(child, array, loops, found) for child in ast.children(node))


def _copied_back(at: At, loops: list[Loop], filled: _Filled, copy: ast.Name) -> list[ast.Stmt]:
    """The elements that the last iteration leaves, where there is one."""
    last: dict[str, ast.Expr] = {}
    runs: ast.Expr | None = None
    for loop in loops:
        end = loop.bound if loop.inclusive else at.binary("-", loop.bound, at.number(1))
        last[loop.variable] = end
        one = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        runs = one if runs is None else at.binary("&&", runs, one)
    assert runs is not None, "there is at least one loop"
    _, place = _array_of(at, loops, copy.name, filled.element.type, filled.length)
    index = filled.indices[0]
    source = dataclasses.replace(
        place, base=copy, index=at.binary("+", substituted(place.index, last), index)
    )
    fill = at.set(dataclasses.replace(filled.element, index=index), source)
    return [at.when(runs, at.count(at.name(index.name, INT), filled.length, fill))]


def _replaced(node: Any, elements: list[tuple[ast.Expr, ast.Expr]]) -> Any:
    if isinstance(node, ast.Subscript):
        for old, new in elements:
            if same(node, old):
                return new
    return rebuild(node, lambda child: _replaced(child, elements))


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


def _array_of(
    at: At, loops: list[Loop], name: str, type: ast.CType, length: ast.Expr | None = None
) -> tuple[ast.Name, ast.Subscript]:
    """An array with an element for each iteration of the loops, or several, and the first one of an iteration."""
    place: ast.Expr = at.number(0)
    count: ast.Expr = at.number(1)
    runs: ast.Expr | None = None
    for loop in loops:
        end = at.binary("+", loop.bound, at.number(1)) if loop.inclusive else loop.bound
        trips: ast.Expr = at.binary("-", end, loop.first)
        if loop is loops[0]:
            trips = ast.Cast(trips, LONG, at.place)
        count, place = at.binary("*", count, trips), at.binary("*", place, trips)
        trip = at.binary("-", at.name(loop.variable, loop.type), loop.first)
        if loop is loops[0]:
            trip = ast.Cast(trip, LONG, at.place)
        place = at.binary("+", place, trip)
        one = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        runs = one if runs is None else at.binary("&&", runs, one)
    assert runs is not None, "there is at least one loop"
    if length is not None:
        count, place = at.binary("*", count, length), at.binary("*", place, length)
        runs = at.binary("&&", runs, at.binary("<", at.number(0), length))
    total = ast.Conditional(runs, count, at.number(1), count.type, at.place)
    element = _mutable(type)
    array = at.name(name, ast.CType("array", "", None, True, element=element, length=total))
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
