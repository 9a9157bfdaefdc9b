"""Evaluates the C integer expressions that extents are written in."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import cache

import tree_sitter
import tree_sitter_c

from . import ast

_INT = ast.CType("int", "int", 4)
_LONG = ast.CType("int", "long long", 8)
_NOWHERE = ast.Place("", 0, 0)
_BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "|": operator.or_,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


def evaluate(expression: str, values: Mapping[str, int]) -> int:
    """The value of a C integer expression of named values; division truncates towards zero as in C.

    Raises ZeroDivisionError, and ValueError for a name without a value or anything else that is no such expression.
    """
    return _evaluate(_parse(expression), values)


def tree(expression: str, names: Mapping[str, ast.Expr]) -> ast.Expr:
    """The expression as a syntax tree, with these in the place of its names; products are made in 64 bits.

    Raises ValueError for what is no such expression.
    """
    return _tree(_parse(expression), names)


def _tree(node: tree_sitter.Node, names: Mapping[str, ast.Expr]) -> ast.Expr:
    def field(name: str) -> ast.Expr:
        child = node.child_by_field_name(name)
        assert child is not None
        return _tree(child, names)

    text = (node.text or b"").decode()
    match node.type:
        case "number_literal":
            return ast.Literal(int(text.rstrip("uUlL"), 0), text, _INT, _NOWHERE)
        case "identifier" if text in names:
            return names[text]
        case "parenthesized_expression":
            return _tree(node.named_children[0], names)
        case "conditional_expression":
            return ast.Conditional(
                field("condition"), field("consequence"), field("alternative"), _LONG, _NOWHERE
            )
        case "unary_expression" if node.children[0].type == "-":
            return ast.Unary("-", field("argument"), _LONG, _NOWHERE)
        case "binary_expression" if node.children[1].type in (*_BINARY, "/", "%"):
            op, left, right = node.children[1].type, field("left"), field("right")
            return ast.Binary(
                op, ast.Cast(left, _LONG, _NOWHERE) if op == "*" else left, right, _LONG, _NOWHERE
            )
    raise ValueError(f"cannot read {text!r} in an extent")


@cache
def _parse(expression: str) -> tree_sitter.Node:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
    root = parser.parse(f"long x = ({expression});".encode()).root_node
    declarator = next((n for n in root.named_children[0].named_children if n.type == "init_declarator"), None)
    value = declarator.child_by_field_name("value") if declarator else None
    if root.has_error or value is None:
        raise ValueError(f"not a C expression: {expression}")
    return value


def _evaluate(node: tree_sitter.Node, values: Mapping[str, int]) -> int:
    def field(name: str) -> int:
        child = node.child_by_field_name(name)
        assert child is not None
        return _evaluate(child, values)

    text = (node.text or b"").decode()
    match node.type:
        case "number_literal":
            return int(text.rstrip("uUlL"), 0)
        case "identifier" if text in values:
            return int(values[text])
        case "parenthesized_expression":
            return _evaluate(node.named_children[0], values)
        case "cast_expression":
            return field("value")
        case "conditional_expression":
            return field("consequence") if field("condition") else field("alternative")
        case "unary_expression" if node.children[0].type == "-":
            return -field("argument")
        case "binary_expression":
            sign, left, right = node.children[1].type, field("left"), field("right")
            if sign in _BINARY:
                return int(_BINARY[sign](left, right))
            if sign in "/%":
                if right == 0:
                    raise ZeroDivisionError(f"division by zero in {text}")
                quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
                return quotient if sign == "/" else left - quotient * right
    raise ValueError(f"cannot evaluate {text!r} in an extent")
