"""Recognizes scalars that a loop only accumulates into: sums, products, extrema, logical and bitwise joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...tools.c import ast
from .tree import same

_SUMS = {"+=": "+", "-=": "+", "*=": "*", "&=": "&", "|=": "|", "^=": "^"}
_EXTREMA = {name + suffix: name for name in ("fmin", "fmax") for suffix in ("", "f")}
_LONGEST_TYPE = 8
_MIRRORED: dict[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Reduction:
    """`operator` joins two partial results.

    It is one of ``+ * & | ^ && ||``, ``<`` and ``>`` for the minimum and maximum by comparison (which keep the old
    value where a comparison with NaN fails), the name of C's ``fmin`` or ``fmax``, or ``=1`` where some iterations
    set the variable to that constant.
    """

    name: str
    type: ast.CType
    operator: str

    @property
    def neutral(self) -> str | None:
        """What a partial result starts from; None: from the variable's value before the loop."""
        return {"+": "0", "*": "1", "^": "0"}.get(self.operator)

    def joined(self, a: str, b: str) -> str:
        """C++ that joins two partial results, both plain names."""
        match self.operator:
            case "<" | ">":
                return f"{b} {self.operator} {a} ? {b} : {a}"
            case "fmin" | "fmax":
                suffix = "f" if self.type.spelling == "float" else ""
                return f"{self.operator}{suffix}({a}, {b})"
            case str() as setting if setting.startswith("="):
                return f"{b} == {setting[1:]} ? {b} : {a}"
            case operator:
                return f"{a} {operator} {b}"


def reduction_of(variable: ast.Name, body: Iterable[ast.Stmt]) -> Reduction | None:
    """The reduction that `body` makes of a variable, or None where it uses the variable in any other way."""
    type = variable.type
    if not type.scalar or type.kind == "enum" or (type.size or 0) > _LONGEST_TYPE:
        return None
    operators = _operators(variable.name, type, list(body))
    if operators is None or len(operators) != 1:
        return None
    return Reduction(variable.name, type, operators.pop())


def _operators(name: str, type: ast.CType, nodes: list[Any]) -> set[str] | None:
    """The operators of all updates of a variable; None where something else mentions it."""
    found: set[str] = set()
    for node in nodes:
        if not _mentions(name, node):
            continue
        operator = _update(name, type, node)
        if operator is not None:
            found.add(operator)
            continue
        if isinstance(node, ast.Name | ast.Assign | ast.Step):
            return None
        inner = _operators(name, type, list(ast.children(node)))
        if inner is None:
            return None
        found |= inner
    return found


def _update(name: str, type: ast.CType, statement: Any) -> str | None:
    """The operator by which a statement updates the variable, where that is all it does with it."""
    match statement:
        case ast.Evaluate(expression=ast.Step(target=ast.Name(name=target))) if target == name:
            return "+"
        case ast.Evaluate(expression=ast.Assign(op=op, target=ast.Name(name=target), value=value)) if (
            target == name
        ):
            if op != "=":
                return _SUMS.get(op) if not _mentions(name, value) and _exact(type, value.type) else None
            return _assigned(name, type, value)
        case ast.If(condition=condition, then=then, otherwise=None):
            body = then.body if isinstance(then, ast.Block) else (then,)
            match body:
                case (
                    ast.Evaluate(expression=ast.Assign(op="=", target=ast.Name(name=target), value=value)),
                ):
                    if target == name and not _mentions(name, value):
                        return _extremum(name, type, condition, value, when_true=True)
    return None


def _assigned(name: str, type: ast.CType, value: ast.Expr) -> str | None:
    match value:
        case ast.Literal(text=text, value=int()) if type.kind in ("int", "bool"):
            return f"={text}"
        case ast.Binary(op="+" | "-" | "*" | "&" | "|" | "^" as op):
            operator = "+" if op == "-" else op
            return operator if _chain(name, type, operator, value) else None
        case ast.Binary(op="&&" | "||" as op, left=ast.Name(name=left), right=right) if left == name:
            return op if not _mentions(name, right) else None
        case ast.Call(function=function, arguments=(a, b)) if function in _EXTREMA:
            other = b if _is(name, a) else a if _is(name, b) else None
            double = type.spelling == "double" or function.endswith("f")
            exact = other is not None and not _mentions(name, other) and type.kind == "float" and double
            return _EXTREMA[function] if exact else None
        case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
            if _is(name, otherwise) and not _mentions(name, then):
                return _extremum(name, type, condition, then, when_true=True)
            if _is(name, then) and not _mentions(name, otherwise):
                return _extremum(name, type, condition, otherwise, when_true=False)
    return None


def _chain(name: str, type: ast.CType, operator: str, value: ast.Expr) -> bool:
    """Whether `value` is the variable, joined with terms that do not mention it."""
    match value:
        case ast.Binary(op=op, left=left, right=right) if ("+" if op == "-" else op) == operator:
            if not _exact(type, value.type):
                return False
            if _mentions(name, left):
                return not _mentions(name, right) and _chain(name, type, operator, left)
            return op != "-" and _chain(name, type, operator, right)
        case _:
            return _is(name, value)


def _extremum(
    name: str, type: ast.CType, condition: ast.Expr, value: ast.Expr, *, when_true: bool
) -> str | None:
    """``<`` or ``>`` where the condition tells that `value` should replace the variable (or should not)."""
    match condition:
        case ast.Binary(op=str() as op, left=left, right=right) if op in _MIRRORED:
            if _is(name, left) and same(right, value):
                op = _MIRRORED[op]
            elif not (_is(name, right) and same(left, value)):
                return None
        case _:
            return None
    size, most = value.type.size or 0, type.size or 0
    narrower = size < most if type.signed and not value.type.signed else size <= most
    held = narrower and (type.signed or not value.type.signed)
    if value.type.kind != type.kind or not (type.kind == "float" or held):
        return None
    return op[0] if when_true else _MIRRORED[op[0]]


def _exact(target: ast.CType, value: ast.CType) -> bool:
    """Whether joining in another order loses nothing but rounding: an integer must not take in fractions."""
    return target.kind == "float" or value.kind in ("int", "bool", "enum")


def _is(name: str, expression: ast.Expr) -> bool:
    return isinstance(expression, ast.Name) and expression.name == name


def _mentions(name: str, node: Any) -> bool:
    return any(isinstance(n, ast.Name) and n.name == name for n in ast.walk(node))
