"""Braces around initial values, with every value at its place: designators resolved, gaps filled with zeros."""

from __future__ import annotations

from collections.abc import Callable

from clang.cindex import Cursor, CursorKind, TypeKind

from . import ast
from .ast import CType, Place
from .libclang import evaluate
from .unsupported import Unsupported

Slots = dict[int, "ast.Expr | Slots"]
"""Values by position; what designators reach inside of a member or element is in slots of its own."""


def initialized(
    type: CType, items: list[Cursor], lowered: Callable[[Cursor], ast.Expr], place: Place
) -> ast.InitList:
    """The initial value of an array or struct (C11 6.7.9). Raises Unsupported for ranges of designators."""
    if not any(map(_is_designated, items)):
        return ast.InitList(tuple(map(lowered, items)), type, place)
    slots: Slots = {}
    position = 0
    for item in items:
        if not _is_designated(item):
            slots[position] = lowered(item)
        else:
            *designators, value = item.get_children()
            path = _path(type, designators, item)
            _inside(slots, path[:-1])[path[-1]] = lowered(value)
            position = path[0]
        position += 1
    return _filled(type, slots, place)


def _is_designated(item: Cursor) -> bool:
    return item.kind is CursorKind.UNEXPOSED_EXPR and item.type.kind is TypeKind.VOID


def _path(type: CType, designators: list[Cursor], item: Cursor) -> list[int]:
    """The positions that designators name, from the outermost inward."""
    path: list[int] = []
    for designator in designators:
        if designator.kind is CursorKind.MEMBER_REF:
            names = [field.name for field in type.fields]
            # An anonymous member's reference spells its type; some versions leave it out.
            position = names.index(designator.spelling if designator.spelling in names else "")
            path.append(position)
            type = type.fields[position].type
        else:
            index = evaluate(designator)
            if type.element is None or not isinstance(index, int):
                raise Unsupported("designator", item)
            path.append(index)
            type = type.element
    return path


def _inside(slots: Slots, path: list[int]) -> Slots:
    for position in path:
        inner = slots.setdefault(position, {})
        if not isinstance(inner, dict):
            inner = slots[position] = dict(enumerate(inner.items if isinstance(inner, ast.InitList) else ()))
        slots = inner
    return slots


def _filled(type: CType, slots: Slots, place: Place) -> ast.InitList:
    whole = [type.element] * (max(slots) + 1) if type.element is not None else []
    types = whole or [field.type for field in type.fields]
    items = []
    for position, inner in enumerate(types):
        value = slots.get(position, {})
        if not isinstance(value, dict):
            items.append(value)
        elif inner.scalar:
            items.append(ast.Literal(0, "0", inner, place))
        else:
            items.append(_filled(inner, value, place) if value else ast.InitList((), inner, place))
    return ast.InitList(tuple(items), type, place)
