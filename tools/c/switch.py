"""Switch statements whose arms end by themselves, as chains of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from clang.cindex import Cursor, CursorKind

from . import ast

_INT = ast.CType("int", "int", 4)
_ENDS = (ast.Return, ast.Jump)


class FallsThrough(Exception):
    """An arm runs into the next one, or is left in its middle."""


@dataclass
class _Arm:
    """The values that lead to an arm, whether the default does, and its statements."""

    values: list[Cursor] = field(default_factory=list)
    default: bool = False
    body: list[Cursor] = field(default_factory=list)


def chain(
    cursor: Cursor,
    statement: Callable[[Cursor], ast.Stmt],
    expression: Callable[[Cursor], ast.Expr],
    place: ast.Place,
) -> ast.Block:
    """The switch as ``if (x == 1 || x == 2) ... else if ...``. Raises FallsThrough."""
    tested, inside = cursor.get_children()
    value = expression(tested)
    first: list[ast.Stmt] = []
    if any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(value)):
        kept = ast.Variable(f"switched_{place.line}", value.type, place, value)
        first.append(ast.Declare((kept,), place))
        value = ast.Name(kept.name, "local", value.type, place)
    arms = _arms(inside)
    result: ast.Stmt | None = None
    for position, arm in reversed(list(enumerate(arms))):
        body = [statement(c) for c in arm.body]
        if body and isinstance(body[-1], ast.Block) and len(body) == 1:
            body = list(body[-1].body)
        if body and isinstance(body[-1], ast.Jump) and body[-1].kind == "break":
            body.pop()
        elif position + 1 < len(arms) and not (body and isinstance(body[-1], _ENDS)):
            raise FallsThrough
        if any(_breaks(s) for s in body):
            raise FallsThrough
        block = ast.Block(tuple(body), place)
        if arm.default:
            if position + 1 < len(arms):
                raise FallsThrough
            result = block
            continue
        condition: ast.Expr | None = None
        for label in arm.values:
            equal = ast.Binary("==", value, expression(label), _INT, place)
            condition = equal if condition is None else ast.Binary("||", condition, equal, _INT, place)
        assert condition is not None, "an arm has a label"
        result = ast.If(condition, block, result, place)
    return ast.Block((*first, *([result] if result is not None else [])), place)


def _arms(inside: Cursor) -> list[_Arm]:
    arms: list[_Arm] = []
    for child in inside.get_children():
        if child.kind not in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            if not arms:
                raise FallsThrough
            arms[-1].body.append(child)
            continue
        arm, first = _Arm(), child
        while first.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            *labels, first = first.get_children()
            arm.default |= not labels
            arm.values += labels
            if len(labels) > 1:
                raise FallsThrough
        arm.body.append(first)
        arms.append(arm)
    return arms


def _breaks(node: ast.Stmt) -> bool:
    """Whether a ``break`` inside leaves the switch."""
    match node:
        case ast.Jump(kind="break"):
            return True
        case ast.For() | ast.While():
            return False
        case _:
            return any(_breaks(c) for c in ast.children(node) if isinstance(c, ast.Stmt))
