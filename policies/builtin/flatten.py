"""Turns arrays of variable-length rows into flat ones: C++ has no ``float (*a)[w]`` with a variable `w`."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...tools.c import ast
from ...tools.c.ast import CType
from . import flow
from .refusals import Refused
from .tree import rebuild

_LONG = CType("int", "long long", 8)


def flattened(function: ast.Function) -> ast.Function:
    """The function with ``a[i][j]`` written as ``a[(long long)i * w + j]`` where `w` is not constant.

    Raises Refused where `w` changes while the array lives.
    """
    function = _with_known_lengths(function)
    changed = flow.assigned(function.body)
    variables = (*function.parameters, *flow.declared_in([function.body]).values())
    for variable in variables:
        if touched := changed & flow.names_in(ast.lengths(variable.type)).keys():
            message = f"the length of {variable.name} is given by {touched.pop()}, which changes"
            raise Refused("construct", message, variable.place)
    parameters = tuple(dataclasses.replace(p, type=_flat(p.type)) for p in function.parameters)
    return dataclasses.replace(function, parameters=parameters, body=_rewritten(function.body))


def _with_known_lengths(function: ast.Function) -> ast.Function:
    """The function with lengths in numbers where they are variables that hold a constant."""
    known = {
        name: v.init.value
        for name, v in flow.declared_in([function.body]).items()
        if v.type.const and isinstance(v.init, ast.Literal) and isinstance(v.init.value, int)
    }

    def fixed(type: CType) -> CType:
        if type.element is None:
            return type
        length = type.length
        if isinstance(length, ast.Name):
            length = known.get(length.name, length)
        size = type.size
        element = fixed(type.element)
        if type.kind == "array" and size is None and isinstance(length, int) and element.size is not None:
            size = length * element.size
        return dataclasses.replace(type, element=element, length=length, size=size)

    def rewritten(node: Any) -> Any:
        if isinstance(node, ast.Variable | ast.Name):
            node = dataclasses.replace(node, type=fixed(node.type))
        return rebuild(node, rewritten)

    return dataclasses.replace(function, body=rewritten(function.body)) if known else function


def _has_variable_rows(type: CType) -> bool:
    inner = type.element
    while inner is not None:
        if inner.kind == "array" and not isinstance(inner.length, int):
            return True
        inner = inner.element
    return False


def _flat(type: CType) -> CType:
    """The type with one dimension in place of several whose lengths vary."""
    if not _has_variable_rows(type):
        return type
    assert type.element is not None
    scalar, length = type.element, type.length
    while scalar.kind == "array" and scalar.element is not None:
        if type.kind == "array":
            length = _times(_expression(length), _expression(scalar.length))
        scalar = scalar.element
    if type.kind == "array":
        return dataclasses.replace(type, spelling="", element=scalar, length=length)
    pointer = CType("pointer", "", type.size, False, type.const, scalar)
    return dataclasses.replace(pointer, spelling=ast.declare(dataclasses.replace(pointer, const=False)))


def _rewritten(node: Any) -> Any:
    match node:
        case ast.Variable():
            return dataclasses.replace(rebuild(node, _rewritten), type=_flat(node.type))
        case ast.Subscript():
            return _subscript(node)
        case ast.Unary(op="&", operand=ast.Subscript() as operand):
            inner = _subscript(operand)
            return inner if isinstance(inner, ast.Binary) else dataclasses.replace(node, operand=inner)
        case ast.Declare() | ast.Block():
            return rebuild(node, _rewritten)
        case ast.Name() | ast.Cast():
            return dataclasses.replace(rebuild(node, _rewritten), type=_flat(node.type))
        case _:
            return rebuild(node, _rewritten)


def _subscript(node: ast.Subscript) -> ast.Expr:
    indices: list[ast.Expr] = []
    base: ast.Expr = node
    while isinstance(base, ast.Subscript):
        indices.insert(0, _rewritten(base.index))
        base = base.base
    if not _has_variable_rows(base.type):
        return rebuild(node, _rewritten)
    assert base.type.element is not None
    rows = base.type.element
    offset = ast.Cast(indices[0], _LONG, indices[0].place) if rows.kind == "array" else indices[0]
    given = 1
    while rows.kind == "array" and rows.element is not None:
        offset = _times(offset, _expression(rows.length))
        if given < len(indices):
            offset = ast.Binary("+", offset, indices[given], _LONG, node.place)
        rows, given = rows.element, given + 1
    flat = _rewritten(base)
    if given == len(indices):
        return ast.Subscript(flat, offset, rows, node.place)
    return ast.Binary("+", flat, offset, _flat(base.type), node.place)


def _expression(length: int | ast.Expr | None) -> ast.Expr:
    assert length is not None
    if isinstance(length, int):
        return ast.Literal(length, str(length), CType("int", "int", 4), ast.Place("", 0, 0))
    return length


def _times(left: ast.Expr, right: ast.Expr) -> ast.Expr:
    return ast.Binary("*", left, right, _LONG, right.place)
