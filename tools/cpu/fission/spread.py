"""How the value of an expression spreads over the threads of a block: one for the block, one a warp, or any.

It is assumed that a row of the block's threads is made of whole warps, which the code that is built on it checks first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import tree_sitter

from ...cuda_source import Source, walk

BLOCK, WARP, LANES, ANY = range(4)
INTEGERS = {"int", "unsigned", "size_t", "long", "uint32_t", "int32_t", "uint64_t", "int64_t", "uint"}
UNSIGNED = {"unsigned", "size_t", "uint32_t", "uint64_t", "uint"}
_NARROW = {"char", "short"}
PURE = {"min", "max"}
_EFFECTS = (
    "assignment_expression", "comma_expression", "lambda_expression", "pointer_expression", "subscript_expression",
    "update_expression", "new_expression", "delete_expression",
)  # fmt: skip
_NUMBER = re.compile(r"(0[xX][\da-fA-F]+|0|[1-9]\d*)[uUlL]*")


@dataclass(frozen=True)
class Spread:
    """`over`: BLOCK, one value for all threads; WARP, one for each warp; LANES, 32 k + lane, with one k for each warp;
    ANY. `natural`: an integer that is never negative; `multiple`: a natural one of 32."""

    over: int
    natural: bool = False
    multiple: bool = False


UNKNOWN = Spread(ANY)
_BUILT_IN = {
    "threadIdx.x": Spread(LANES, True),
    "threadIdx.y": Spread(WARP, True),
    "threadIdx.z": Spread(WARP, True),
    "blockDim.x": Spread(BLOCK, True, True),
    "warpSize": Spread(BLOCK, True, True),
}
_OF_BLOCK = {"blockIdx", "blockDim", "gridDim"}


def spread_of(source: Source, node: tree_sitter.Node, spread_of_name: Callable[[str], Spread]) -> Spread:
    """The spread of an expression; that of its names is given."""
    text = "".join(source.text(node).split())
    if text in _BUILT_IN:
        return _BUILT_IN[text]

    def of(inner: tree_sitter.Node) -> Spread:
        return spread_of(source, inner, spread_of_name)

    def field(name: str) -> tree_sitter.Node:
        inner = node.child_by_field_name(name)
        assert inner is not None
        return inner

    match node.type:
        case "number_literal":
            number = _NUMBER.fullmatch(text)
            return Spread(BLOCK, number is not None, number is not None and int(number[1], 0) % 32 == 0)
        case "identifier":
            if text == "threadIdx":
                return UNKNOWN
            return Spread(BLOCK) if text in _OF_BLOCK else spread_of_name(text)
        case "field_expression":
            natural = text.partition(".")[0] in _OF_BLOCK
            return Spread(of(field("argument")).over, natural)
        case "parenthesized_expression" | "condition_clause":
            return of(node.named_children[0])
        case "cast_expression":
            return converted(of(field("value")), source.text(field("type")))
        case "binary_expression":
            return _binary(source, node, of(field("left")), of(field("right")))
        case "call_expression":
            if source.text(field("function")) not in PURE:
                return UNKNOWN
            return _together([of(a) for a in field("arguments").named_children])
        case kind if kind in _EFFECTS:
            return UNKNOWN
    return _together([of(child) for child in node.named_children])


def converted(spread: Spread, type_: str) -> Spread:
    """What is left of the spread in a variable of that type."""
    words = set(re.findall(r"\w+", type_))
    if words & INTEGERS and not words & _NARROW and "*" not in type_:
        return spread
    return Spread(spread.over if spread.over <= WARP else ANY)


def is_computed(source: Source, node: tree_sitter.Node) -> bool:
    """Whether an expression computes from names alone, and costs little."""
    for inner in walk(node):
        if inner.type in _EFFECTS or inner.type == "string_literal":
            return False
        if inner.type == "call_expression":
            function = inner.child_by_field_name("function")
            if function is None or source.text(function) not in PURE:
                return False
        operator = inner.child_by_field_name("operator")
        if inner.type == "binary_expression" and operator is not None and operator.type in ("/", "%"):
            divisor = inner.child_by_field_name("right")
            if divisor is None or (divisor.type != "number_literal" and source.text(divisor) != "warpSize"):
                return False
    return True


def certain(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Of an expression that does not always evaluate all of its parts, the one that it does."""
    operator = node.child_by_field_name("operator")
    if node.type == "conditional_expression":
        return node.child_by_field_name("condition")
    if node.type == "binary_expression" and operator is not None and operator.type in ("&&", "||"):
        return node.child_by_field_name("left")
    return None


def _together(parts: list[Spread]) -> Spread:
    """Of an expression whose parts may be combined in any way."""
    over = max((p.over for p in parts), default=BLOCK)
    return Spread(over if over <= WARP else ANY)


def _binary(source: Source, node: tree_sitter.Node, left: Spread, right: Spread) -> Spread:
    sign, divisor = node.child_by_field_name("operator"), node.child_by_field_name("right")
    operator, divided_by = (source.text(n) if n else "" for n in (sign, divisor))
    natural = left.natural and right.natural
    if left.over <= WARP and right.over <= WARP:
        both, one = left.multiple and right.multiple, left.multiple or right.multiple
        multiple = natural and ((operator == "+" and both) or (operator == "*" and one))
        return Spread(max(left.over, right.over), natural and operator != "-", multiple)
    lanes, other = (left, right) if left.over == LANES else (right, left)
    if lanes.over != LANES or other.over > WARP or not natural:
        return UNKNOWN
    if operator == "+" and other.multiple:
        return Spread(LANES, True)
    if lanes is left and operator == "/" and right.multiple and divided_by != "0":
        return Spread(WARP, True)
    shift = _NUMBER.fullmatch(divided_by) if lanes is left and operator == ">>" else None
    if shift is not None and int(shift[1], 0) >= 5:
        return Spread(WARP, True)
    if other.multiple and operator in (("<", ">=") if lanes is left else (">", "<=")):
        return Spread(WARP, True)
    return UNKNOWN
