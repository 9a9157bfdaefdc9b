"""What each pointer of the host part may point to, through assignments and swaps.

The host part is executed over sets of states, each a possible assignment of arrays to pointers. So two buffers that
a time loop swaps are known to differ at every step, whichever is which.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from ...tools.c import ast
from .refusals import Refused
from .tree import root_of

MOST_STATES = 64


@dataclass(frozen=True)
class Origin:
    """The array that a pointer points into; `exact` where it points to its first element."""

    array: str
    exact: bool = True


State = frozenset[tuple[str, Origin]]
States = frozenset[State]


def initial(arrays: Iterable[str]) -> States:
    """Each pointer parameter points to an array of its own."""
    return frozenset({frozenset((name, Origin(name)) for name in arrays)})


def overlap(states: States, one: str, other: str) -> OneOf["same", "distinct", "unknown"]:
    """How two pointers relate: ``same`` where they are equal or in different arrays, ``unknown`` where
    they may point to different places in one array."""
    if one == other:
        return "same"
    found: OneOf["same", "distinct"] = "distinct"
    for state in states:
        known = dict(state)
        a, b = known.get(one, Origin(one)), known.get(other, Origin(other))
        if a.array == b.array:
            if not (a.exact and b.exact):
                return "unknown"
            found = "same"
    return found


def after(states: States, statement: ast.Stmt) -> States:
    """The states after a statement. Raises Refused for pointers that come from elsewhere."""
    match statement:
        case ast.Block(body=body):
            for inner in body:
                states = after(states, inner)
            return states
        case ast.Declare(variables=variables):
            for v in variables:
                if v.type.kind == "array":
                    states = _bound(states, v.name, lambda _, name=v.name: [Origin(name)])
                elif v.type.kind == "pointer" and v.init is not None:
                    states = _set(states, v.name, v.init)
            return states
        case ast.If(condition=condition, then=then, otherwise=otherwise):
            taken = after(entering(states, condition, True), then)
            skipped = entering(states, condition, False)
            return _bounded(
                taken | (after(skipped, otherwise) if otherwise is not None else skipped), statement
            )
        case ast.For(init=init):
            if init is not None:
                states = after(states, init)
            return repeated(states, statement)
        case ast.While():
            return repeated(states, statement)
        case ast.Evaluate(expression=expression):
            return _effects(states, expression)
        case _:
            return states


def repeated(states: States, loop: ast.For | ast.While) -> States:
    """The states at the start of any iteration of a loop, and after it."""
    while True:
        once = after(states, loop.body)
        if isinstance(loop, ast.For) and loop.step is not None:
            once = _effects(once, loop.step)
        merged = _bounded(states | once, loop)
        if merged == states:
            return states
        states = merged


def entering(states: States, condition: ast.Expr, holds: bool) -> States:
    """The states in which a condition may hold; only comparisons of pointers tell any apart."""
    match condition:
        case ast.Binary(op="==" | "!=" as op, left=ast.Name(name=one) as left, right=ast.Name(name=other)):
            if left.type.kind != "pointer":
                return states
            equal = (op == "==") == holds
            kept = set()
            for state in states:
                known = dict(state)
                a, b = known.get(one, Origin(one)), known.get(other, Origin(other))
                certain = a.exact and b.exact
                if not certain or (a.array == b.array) == equal:
                    kept.add(state)
            return frozenset(kept)
        case _:
            return states


def _effects(states: States, expression: ast.Expr) -> States:
    for node in ast.walk(expression):
        match node:
            case ast.Assign(op="=", target=ast.Name(name=name, type=type), value=value) if (
                type.kind == "pointer"
            ):
                states = _set(states, name, value)
            case (
                ast.Assign(target=ast.Name(name=name, type=type))
                | ast.Step(target=ast.Name(name=name, type=type))
            ) if type.kind == "pointer":
                states = _bound(
                    states, name, lambda known, n=name: [Origin(known.get(n, Origin(n)).array, False)]
                )
            case ast.Unary(op="&", operand=ast.Name(name=name, type=type)) if type.kind == "pointer":
                raise Refused("construct", f"the address of the pointer {name} is taken", node.place)
    return states


def _set(states: States, name: str, value: ast.Expr) -> States:
    return _bound(states, name, lambda known: _origins(known, value))


def _bound(states: States, name: str, origins) -> States:
    changed = set()
    for state in states:
        known = dict(state)
        for origin in origins(known):
            changed.add(frozenset({**known, name: origin}.items()))
    return frozenset(changed)


def _origins(known: dict[str, Origin], value: ast.Expr) -> list[Origin]:
    match value:
        case ast.Name(name=name):
            return [known.get(name, Origin(name))]
        case ast.Cast(operand=operand) if value.type.kind == "pointer":
            return _origins(known, operand)
        case ast.Conditional(then=then, otherwise=otherwise):
            return [*_origins(known, then), *_origins(known, otherwise)]
        case ast.Binary(op="+" | "-", left=left, right=right):
            base = left if left.type.element is not None else right
            return [Origin(o.array, False) for o in _origins(known, base)]
        case ast.Unary(op="&", operand=ast.Subscript(base=base, index=index)):
            first = isinstance(index, ast.Literal) and index.value == 0
            return [Origin(o.array, o.exact and first) for o in _origins(known, base)]
        case ast.Assign(op="=", value=inner):
            return _origins(known, inner)
        case ast.Subscript(base=base) if value.type.kind == "array":
            return [Origin(o.array, False) for o in _origins(known, base)]
        case _:
            raise Refused("construct", "a pointer is neither a parameter nor derived from one", value.place)


def _bounded(states: States, statement: ast.Stmt) -> States:
    if len(states) > MOST_STATES:
        raise Refused("construct", "the pointers have too many possible values", statement.place)
    return states


def pointed(pointer: ast.Expr) -> str | None:
    """The variable that a pointer is derived from by arithmetic and subscripts; None where it is another."""
    match pointer:
        case ast.Cast(operand=inner) | ast.Binary(op="+" | "-", left=inner):
            return pointed(inner)
        case ast.Unary(op="&", operand=ast.Subscript() as inner):
            return root_of(inner)
        case ast.Name() | ast.Subscript() if pointer.type.element is not None:
            return root_of(pointer)
        case _:
            return None
