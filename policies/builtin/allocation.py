"""Memory that a function allocates for itself and frees again, as local arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...tools.c import ast
from . import flow
from .build import At
from .tree import rebuild

_CALLS = ("malloc", "calloc")


def with_local_arrays(function: ast.Function) -> ast.Function:
    """The function with pointers to memory of its own (`malloc`, `calloc`, freed or not) declared as arrays.

    A pointer that is set a second time stays what it is.
    """
    assigned = [n for n in ast.walk(function.body) if isinstance(n, ast.Assign | ast.Step)]
    moved = {n.target.name for n in assigned if isinstance(n.target, ast.Name)}
    arrays = {
        v.name: array
        for v in flow.declared_in([function.body]).values()
        if v.name not in moved and (array := _array(v)) is not None
    }
    if not arrays:
        return function

    def frees(statement: ast.Stmt) -> bool:
        match statement:
            case ast.Evaluate(expression=ast.Call(function="free", arguments=(ast.Name(name=name),))):
                return name in arrays
            case _:
                return False

    def rewritten(node: Any) -> Any:
        match node:
            case ast.Declare(variables=variables):
                return dataclasses.replace(node, variables=tuple(arrays.get(v.name, v) for v in variables))
            case ast.Block(body=body):
                kept = tuple(rewritten(s) for s in body if not frees(s))
                return dataclasses.replace(node, body=kept)
            case _:
                return rebuild(node, rewritten)

    return dataclasses.replace(function, body=rewritten(function.body))


def _array(variable: ast.Variable) -> ast.Variable | None:
    """The variable as an array, where it starts as the only pointer to new memory."""
    value, element = variable.init, variable.type.element
    while isinstance(value, ast.Cast):
        value = value.operand
    if not isinstance(value, ast.Call) or value.function not in _CALLS or element is None or not element.size:
        return None
    at, size = At(variable.place), element.size
    if value.function == "calloc":
        count, each = value.arguments
        if not isinstance(each, ast.Literal) or each.value != size:
            return None
        length: ast.Expr = count
        init: ast.Expr | None = ast.InitList((at.number(0),), variable.type, variable.place)
    else:
        (total,) = value.arguments
        length, init = _count(at, total, size), None
    type = ast.CType("array", "", None, True, element=element, length=length)
    return dataclasses.replace(variable, type=type, init=init)


def _count(at: At, total: ast.Expr, size: int) -> ast.Expr:
    """How many elements of a size fit in so many bytes."""
    match total:
        case ast.Binary(op="*", left=count, right=ast.Literal(value=each)) if each == size:
            return count
        case ast.Binary(op="*", left=ast.Literal(value=each), right=count) if each == size:
            return count
        case _:
            return at.binary("/", total, at.number(size))
