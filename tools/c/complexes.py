"""Complex numbers in the tree: structs of two numbers, and calls of the functions in ``standard.c``.

A real operand stays real, as C99 has it: a product with one is two products.
"""

from __future__ import annotations

from . import ast
from .ast import CType, Place

FLOAT, DOUBLE = CType("float", "float", 4), CType("float", "double", 8)
_INT = CType("int", "int", 4)
_NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "==": "eq", "!=": "eq"}
COMPLEX = ("complex_float", "complex_double")
"""What the types are called in the tree, in ``standard.c`` and in a port."""

FUNCTIONS = {
    f"{name}{suffix}": (type, function)
    for suffix, type in (("", "complex_double"), ("f", "complex_float"))
    for name, function in {
        **{f"c{f}": f for f in ("abs", "arg", "exp", "log", "sqrt", "pow")},
        "conj": "conj",
        "creal": "re",
        "cimag": "im",
    }.items()
}
"""The functions of complex.h that there are, each with its type and what it is called for that; a member is read."""


def complex_of(real: CType, const: bool = False) -> CType:
    """The complex type of a real one."""
    plain = FLOAT if real.spelling == "float" else DOUBLE
    size = plain.size or 0
    fields = (ast.Field("re", plain, 0), ast.Field("im", plain, size))
    return CType("struct", f"complex_{plain.spelling}", 2 * size, const=const, fields=fields)


def is_complex(type: CType) -> bool:
    return type.kind == "struct" and type.spelling in COMPLEX


def made(real: ast.Expr, imaginary: ast.Expr, type: CType, place: Place) -> ast.Expr:
    """The complex number of two real ones."""
    plain = complex_of(_part(type))
    return ast.Cast(ast.InitList((real, imaginary), plain, place), plain, place)


def converted(value: ast.Expr, type: CType) -> ast.Expr:
    """A number converted to another type, complex or real."""
    place = value.place
    if is_complex(type):
        part = _part(type)
        if not is_complex(value.type):
            return made(_real(value, part), ast.Literal(0, "0", part, place), type, place)
        if value.type.spelling == type.spelling:
            return value
        return ast.Call(f"{type.spelling}_of", (value,), complex_of(part), place)
    if not is_complex(value.type) or type.kind == "void":
        return value
    if type.kind == "bool":
        return ast.Call(f"{value.type.spelling}_nonzero", (value,), _INT, place)
    return _real(ast.Member(value, "re", False, _part(value.type), place), type)


def binary(op: str, left: ast.Expr, right: ast.Expr, place: Place) -> ast.Expr | None:
    """An operator on two numbers, one of them complex; None where C has none."""
    if op not in _NAMES:
        return None
    parts = [_part(x.type) if is_complex(x.type) else x.type for x in (left, right)]
    double = any(p.spelling != "float" and p.kind == "float" for p in parts)
    type = complex_of(DOUBLE if double else FLOAT)
    part = _part(type)
    name = _NAMES[op]
    if name == "eq":
        equal = ast.Call(f"{type.spelling}_eq", (converted(left, type), converted(right, type)), _INT, place)
        return equal if op == "==" else ast.Unary("!", equal, _INT, place)
    if is_complex(left.type) and is_complex(right.type):
        return ast.Call(
            f"{type.spelling}_{name}", (converted(left, type), converted(right, type)), type, place
        )
    if is_complex(left.type):
        arguments = (converted(left, type), _real(right, part))
        return ast.Call(f"{type.spelling}_{name}_real", arguments, type, place)
    if op in "+*":
        return binary(op, right, left, place)
    arguments = (_real(left, part), converted(right, type))
    return ast.Call(f"{type.spelling}_real_{name}", arguments, type, place)


def unary(op: str, operand: ast.Expr, place: Place) -> ast.Expr | None:
    """An operator on a complex number; None where C has none."""
    type = complex_of(_part(operand.type))
    match op:
        case "+":
            return operand
        case "-" | "~":
            return ast.Call(f"{type.spelling}_{'neg' if op == '-' else 'conj'}", (operand,), type, place)
        case "!":
            return ast.Unary("!", converted(operand, CType("bool", "bool", 1)), _INT, place)
        case "real" | "imag":
            return ast.Member(operand, op[:2], False, _part(type), place)
        case _:
            return None


def call(function: str, arguments: tuple[ast.Expr, ...], place: Place) -> ast.Expr:
    """A call of one of `FUNCTIONS`."""
    spelling, name = FUNCTIONS[function]
    part = FLOAT if spelling == "complex_float" else DOUBLE
    if name in ("re", "im"):
        return ast.Member(arguments[0], name, False, part, place)
    return ast.Call(
        f"{spelling}_{name}", arguments, part if name in ("abs", "arg") else complex_of(part), place
    )


def _part(type: CType) -> CType:
    return type.fields[0].type if type.fields else type


def _real(value: ast.Expr, type: CType) -> ast.Expr:
    return value if value.type.spelling == type.spelling else ast.Cast(value, type, value.place)
