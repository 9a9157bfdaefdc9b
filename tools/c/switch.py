"""Switch statements in the tree's own terms.

Where each arm ends by itself they become chains of comparisons. Else the position of the arm to start at is found
first, and the arms from there on run in order, inside of a loop that runs once and is what a ``break`` leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clang.cindex import Cursor, CursorKind

from . import ast

_INT = ast.CType("int", "int", 4)
_ENDS = (ast.Return, ast.Jump)


class Irregular(Exception):
    """A label inside of another statement, a range of values, a ``continue``, or a variable that arms share."""


@dataclass
class _Arm:
    """The values that lead to an arm, whether the default does, and its statements."""

    values: list[Cursor] = field(default_factory=list)
    default: bool = False
    body: list[Cursor] = field(default_factory=list)


def lowered_switch(
    cursor: Cursor,
    statement: Callable[[Cursor], ast.Stmt],
    expression: Callable[[Cursor], ast.Expr],
    place: ast.Place,
) -> ast.Block:
    """The switch as other statements. Raises Irregular."""
    tested, inside = cursor.get_children()
    value = expression(tested)
    first: list[ast.Stmt] = []
    if any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(value)):
        kept = ast.Variable(f"switched_{place.line}", value.type, place, value)
        first.append(ast.Declare((kept,), place))
        value = ast.Name(kept.name, "local", value.type, place)
    arms = _arms(inside)
    conditions = [_any([_equal(value, expression(v), place) for v in arm.values], place) for arm in arms]
    bodies = [[statement(c) for c in arm.body] for arm in arms]
    separate = [_ended(body, last=body is bodies[-1]) for body in bodies]
    if all(body is not None for body in separate):
        blocks = [ast.Block(tuple(body or ()), place) for body in separate]
        made: ast.Stmt | None = _chain(arms, conditions, blocks, place)
    else:
        if any(_continues(s) for body in bodies for s in body):
            raise Irregular
        _check_scopes(bodies)
        made = _sequence(arms, conditions, bodies, place)
    return ast.Block((*first, *([made] if made is not None else [])), place)


def _ended(body: list[ast.Stmt], *, last: bool) -> list[ast.Stmt] | None:
    """An arm that ends by itself, without the ``break`` at its end; None for any other."""
    if len(body) == 1 and isinstance(body[0], ast.Block):
        body = list(body[0].body)
    if body and isinstance(body[-1], ast.Jump) and body[-1].kind == "break":
        body = body[:-1]
    elif not last and not (body and isinstance(body[-1], _ENDS)):
        return None
    return None if any(map(_breaks, body)) else body


def _chain(
    arms: list[_Arm], conditions: Sequence[ast.Expr | None], blocks: list[ast.Block], place: ast.Place
) -> ast.Stmt | None:
    """``if (x == 1 || x == 2) ... else if ...``, what is left to the default at the end."""
    result: ast.Stmt | None = next((b for a, b in zip(arms, blocks, strict=True) if a.default), None)
    for arm, condition, block in reversed(list(zip(arms, conditions, blocks, strict=True))):
        if not arm.default:
            assert condition is not None, "an arm has a label"
            result = ast.If(condition, block, result, place)
    return result


def _sequence(
    arms: list[_Arm], conditions: Sequence[ast.Expr | None], bodies: list[list[ast.Stmt]], place: ast.Place
) -> ast.Stmt:
    """``int arm = x == 3 ? 0 : x == 1 ? 1 : 2; do { if (arm <= 0) ... if (arm <= 1) ... } while (0)``."""
    start: ast.Expr = _number(next((i for i, arm in enumerate(arms) if arm.default), len(arms)), place)
    for i, condition in reversed(list(enumerate(conditions))):
        if condition is not None:
            start = ast.Conditional(condition, _number(i, place), start, _INT, place)
    variable = ast.Variable(f"arm_{place.line}", _INT, place, start)
    chosen = ast.Name(variable.name, "local", _INT, place)
    steps = [
        ast.If(
            ast.Binary("<=", chosen, _number(i, place), _INT, place),
            ast.Block(tuple(body), place),
            None,
            place,
        )
        for i, body in enumerate(bodies)
    ]
    once = ast.While(_number(0, place), ast.Block(tuple(steps), place), True, place)
    return ast.Block((ast.Declare((variable,), place), once), place)


def _number(value: int, place: ast.Place) -> ast.Literal:
    return ast.Literal(value, str(value), _INT, place)


def _equal(value: ast.Expr, label: ast.Expr, place: ast.Place) -> ast.Expr:
    return ast.Binary("==", value, label, _INT, place)


def _any(conditions: list[ast.Expr], place: ast.Place) -> ast.Expr | None:
    result: ast.Expr | None = None
    for condition in conditions:
        result = condition if result is None else ast.Binary("||", result, condition, _INT, place)
    return result


def _arms(inside: Cursor) -> list[_Arm]:
    arms: list[_Arm] = []
    for child in inside.get_children():
        if child.kind not in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            if not arms:
                raise Irregular
            arms[-1].body.append(child)
            continue
        arm, first = _Arm(), child
        while first.kind in (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT):
            *labels, first = first.get_children()
            arm.default |= not labels
            arm.values += labels
            if len(labels) > 1:
                raise Irregular
        arm.body.append(first)
        arms.append(arm)
    return arms


def _check_scopes(bodies: list[list[ast.Stmt]]) -> None:
    """Refuses a variable that one arm declares and another one uses."""
    for body in bodies:
        declared = {v.name for s in body if isinstance(s, ast.Declare) for v in s.variables}
        others = [s for other in bodies if other is not body for s in other]
        if any(isinstance(n, ast.Name) and n.name in declared for s in others for n in ast.walk(s)):
            raise Irregular


def _breaks(node: ast.Stmt) -> bool:
    """Whether a ``break`` inside leaves the switch."""
    match node:
        case ast.Jump(kind="break"):
            return True
        case ast.For() | ast.While():
            return False
        case _:
            return any(_breaks(c) for c in ast.children(node) if isinstance(c, ast.Stmt))


def _continues(node: ast.Stmt) -> bool:
    """Whether a ``continue`` of a loop around the switch stands inside."""
    match node:
        case ast.Jump(kind="continue"):
            return True
        case ast.For() | ast.While():
            return False
        case _:
            return any(_continues(c) for c in ast.children(node) if isinstance(c, ast.Stmt))
