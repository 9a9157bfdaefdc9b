"""The bits of a number read as one of another type: ``*(int *)&x``, and ``memcpy(&i, &x, sizeof i)``.

They become CUDA's intrinsics for that, which name what is meant and touch no memory.
"""

from __future__ import annotations

from . import ast
from .ast import CType, Place
from .library import PUNS

_INTS = {4: CType("int", "int", 4), 8: CType("int", "long long", 8)}


def retyped(value: ast.Expr, type: CType, place: Place) -> ast.Expr | None:
    """The bits of a number as another type of its size; None where there is no way."""
    own = value.type
    if own.size != type.size or {own.kind, type.kind} - {"int", "float"}:
        return None
    if own.kind == type.kind:
        return value if own.kind == "float" else ast.Cast(value, type, place)
    integer = _INTS.get(type.size or 0)
    if integer is None:
        return None
    if own.kind == "float":
        name = "__float_as_int" if type.size == 4 else "__double_as_longlong"
        return ast.Cast(ast.Call(name, (value,), integer, place), type, place)
    name = "__int_as_float" if type.size == 4 else "__longlong_as_double"
    return ast.Call(name, (ast.Cast(value, integer, place),), type, place)


def read(operand: ast.Expr, place: Place) -> ast.Expr | None:
    """What ``*operand`` reads, where that is a number's address cast to another type; else None."""
    match operand:
        case ast.Cast(operand=ast.Unary(op="&", operand=number), type=CType(element=CType() as type)):
            return retyped(number, type, place) if number.type.scalar and type.scalar else None
        case _:
            return None


def written(op: str, target: ast.Expr, value: ast.Expr, place: Place) -> ast.Expr | None:
    """The assignment to a number that `read` made something else of; None where there is no such number.

    A compound one becomes a plain one, which evaluates its target twice.
    """
    number = target.operand if isinstance(target, ast.Cast) else target
    if isinstance(number, ast.Call) and number.function in PUNS:
        number = number.arguments[0]
        number = number.operand if isinstance(number, ast.Cast) else number
    if not isinstance(number, ast.Name | ast.Subscript | ast.Member | ast.Unary) or _changes(number):
        return None
    if op != "=":
        value = ast.Binary(op[:-1], target, value, target.type, place)
    bits = retyped(ast.Cast(value, target.type, place), number.type, place)
    return None if bits is None else ast.Assign("=", number, bits, number.type, place)


def _changes(number: ast.Expr) -> bool:
    """Whether evaluating an lvalue may change something."""
    return any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(number))


def copied(arguments: tuple[ast.Expr, ...], place: Place) -> ast.Expr | None:
    """``memcpy`` from one number to another of the same size as an assignment; None for any other."""
    match arguments:
        case (
            ast.Unary(op="&", operand=to),
            ast.Unary(op="&", operand=source),
            ast.Literal(value=size),
        ) if to.type.scalar and source.type.scalar and size == to.type.size:
            bits = retyped(source, to.type, place)
            return None if bits is None else ast.Assign("=", to, bits, to.type, place)
        case _:
            return None
