"""Spells an expression of the tree as C, for people to read in messages."""

from __future__ import annotations

from . import ast

_PRECEDENCE = {
    **dict.fromkeys(("*", "/", "%"), 10),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("<", "<=", ">", ">="), 7),
    **dict.fromkeys(("==", "!="), 6),
    **{"&": 5, "^": 4, "|": 3, "&&": 2, "||": 1, ",": -2},
}
_UNARY = 11
_POSTFIX = 12


def spell(expression: ast.Expr, around: int = -2) -> str:
    """The expression in C; in parentheses where it binds less tightly than `around`."""
    text, precedence = _spelled(expression)
    return f"({text})" if precedence < around else text


def _spelled(expression: ast.Expr) -> tuple[str, int]:
    match expression:
        case ast.Literal(text=text) | ast.Name(name=text):
            return text, _POSTFIX
        case ast.Subscript(base=base, index=index):
            return f"{spell(base, _POSTFIX)}[{spell(index)}]", _POSTFIX
        case ast.Member(base=base, field=field, arrow=arrow):
            return f"{spell(base, _POSTFIX)}{'->' if arrow else '.'}{field}", _POSTFIX
        case ast.Unary(op=op, operand=operand):
            return f"{op}{spell(operand, _UNARY)}", _UNARY
        case ast.Step(op=op, prefix=True, target=target):
            return f"{op}{spell(target, _UNARY)}", _UNARY
        case ast.Step(op=op, target=target):
            return f"{spell(target, _POSTFIX)}{op}", _POSTFIX
        case ast.Cast(operand=operand, type=type):
            return f"({type.spelling}){spell(operand, _UNARY)}", _UNARY
        case ast.Binary(op=op, left=left, right=right):
            own = _PRECEDENCE[op]
            return f"{spell(left, own)} {op} {spell(right, own + 1)}", own
        case ast.Assign(op=op, target=target, value=value):
            return f"{spell(target, _UNARY)} {op} {spell(value, -1)}", -1
        case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
            return f"{spell(condition, 1)} ? {spell(then)} : {spell(otherwise, 0)}", 0
        case ast.Call(function=function, arguments=arguments):
            return f"{function}({', '.join(spell(a, -1) for a in arguments)})", _POSTFIX
        case ast.InitList(items=items):
            return f"{{{', '.join(spell(i, -1) for i in items)}}}", _POSTFIX
