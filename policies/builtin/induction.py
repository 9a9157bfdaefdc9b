"""Loops that count by moving pointers or counters: each such variable becomes its start plus a multiple of the trip.

    while (n--) *y++ = *x++;     becomes     for (t = 0; t < n; t++) y[t] = x[t];

(Aho, Lam, Sethi and Ullman, "Compilers", section 9.1: induction variables.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...tools.c import ast
from . import flow
from .build import At
from .loops import Loop, break_in, counted, statements_of
from .tree import INT, LONG, Names, rebuild, substituted


@dataclasses.dataclass(frozen=True)
class _Move:
    """An update by a constant in statement `where` of the body; `embedded` in an expression there."""

    by: int
    where: int
    update: ast.Expr
    embedded: bool


@dataclasses.dataclass(frozen=True)
class _Induction:
    """A variable that each trip moves by constants."""

    variable: ast.Name
    moves: tuple[_Move, ...]

    @property
    def by(self) -> int:
        return sum(move.by for move in self.moves)


def straightened(
    statement: ast.For | ast.While, live_after: Callable[[str], bool], names: Names
) -> ast.Block | None:
    """The loop with one counter of its own and nothing else that moves; None where it is so already, or irregular."""
    at = At(statement.place)
    if isinstance(statement, ast.For) and isinstance(loop := counted(statement), Loop):
        block = _counted(at, statement, loop, live_after)
        if block is None and not loop.declares and not _leaves(statement) and live_after(loop.variable):
            return _with_own_counter(at, statement, loop, names)
        return block
    if isinstance(statement, ast.While) and statement.test_after:
        return None
    first: list[ast.Stmt] = []
    body = list(_one_by_one(statement.body))
    if isinstance(statement, ast.For):
        if isinstance(statement.init, ast.Declare | ast.Evaluate):
            first.append(statement.init)
        if statement.step is not None:
            body += [at.evaluate(e) for e in _commas(statement.step)]
    if statement.condition is None or _jumps(body):
        return None
    condition, ahead = _condition(at, statement.condition)
    body = [*ahead, *body]
    moving = _inductions(body)
    trips = _trips(at, condition, moving, after=bool(ahead))
    changed = flow.written(body) | flow.declared_in(body).keys()
    if trips is None or not changed.isdisjoint(flow.names_in([trips]).keys() - moving.keys()):
        return None
    counter = at.name(names.fresh("t"), INT if trips.type.spelling == "int" else LONG)
    declared = flow.declared_in(first).keys()
    live = [i for n, i in moving.items() if n not in declared and live_after(n)]
    bound: ast.Expr = trips
    if live:
        bound = at.name(names.fresh("trips"), counter.type)
        none = at.binary("<", trips, at.number(0))
        some = trips if ahead else ast.Conditional(none, at.number(0), trips, counter.type, at.place)
        first.append(at.declare(bound, some))
    moved = at.count(counter, bound, *_moved(at, body, moving, counter))
    ends = [_end(at, i, bound, more=bool(ahead) and i.moves[0].where == 0) for i in live]
    return at.block(*first, moved, *ends)


def _counted(at: At, statement: ast.For, loop: Loop, live_after: Callable[[str], bool]) -> ast.Block | None:
    """A counted loop whose body moves further variables."""
    body = list(_one_by_one(statement.body))
    moving = _inductions(body)
    if not moving or abs(loop.step) != 1 or _jumps(body):
        return None
    variable = at.name(loop.variable, loop.type)
    trip = at.binary("-", variable, loop.first) if loop.step > 0 else at.binary("-", loop.first, variable)
    moved = dataclasses.replace(statement, body=at.block(*_moved(at, body, moving, trip)))
    ends_ = (loop.bound, loop.first) if loop.step > 0 else (loop.first, loop.bound)
    trips = at.binary("-", *ends_)
    if loop.inclusive:
        trips = at.binary("+", trips, at.number(1))
    runs = ast.Binary(loop.comparison, loop.first, loop.bound, INT, at.place)
    ends = [_end(at, i, trips) for name, i in moving.items() if live_after(name)]
    return at.block(moved, *([at.when(runs, *ends)] if ends else []))


def _with_own_counter(at: At, statement: ast.For, loop: Loop, names: Names) -> ast.Block:
    """A loop that counts in a variable of its own; the one that it had ends where the loop left it."""
    outer = at.name(loop.variable, loop.type)
    own = at.name(names.fresh(loop.variable), loop.type)
    parts = {p: substituted(getattr(statement, p), {outer.name: own}) for p in ("condition", "step", "body")}
    inner = dataclasses.replace(statement, init=at.declare(own, outer), **parts)
    by = at.number(abs(loop.step))
    ends = (loop.bound, outer) if loop.step > 0 else (outer, loop.bound)
    distance = at.binary("-", *ends)
    beyond = abs(loop.step) - 1 + loop.inclusive
    trips = at.binary("+", distance, at.number(beyond))
    if abs(loop.step) != 1:
        trips = at.binary("*", at.binary("/", trips, by), by)
    runs = ast.Binary(loop.comparison, outer, loop.bound, INT, at.place)
    moved = at.when(runs, at.set(outer, trips, "+=" if loop.step > 0 else "-="))
    return at.block(at.set(outer, loop.first), inner, moved)


def _one_by_one(body: ast.Stmt) -> Iterator[ast.Stmt]:
    """The statements of a body, each declaring one variable at most."""
    for statement in statements_of(body):
        if isinstance(statement, ast.Declare):
            yield from (ast.Declare((v,), v.place) for v in statement.variables)
        else:
            yield statement


def _commas(expression: ast.Expr) -> list[ast.Expr]:
    if isinstance(expression, ast.Binary) and expression.op == ",":
        return [*_commas(expression.left), *_commas(expression.right)]
    return [expression]


def _condition(at: At, condition: ast.Expr) -> tuple[ast.Expr, list[ast.Stmt]]:
    """The condition, and what it does besides: ``n--`` steps whether the loop goes on or not."""
    match condition:
        case ast.Step(op="--", prefix=False, target=ast.Name() as target):
            return target, [at.evaluate(condition)]
        case ast.Binary(
            op=">" | "!=",
            left=ast.Step(op="--", prefix=False, target=ast.Name() as target) as step,
            right=right,
        ) if isinstance(right, ast.Literal) and right.value == 0:
            return target, [at.evaluate(step)]
        case _:
            return condition, []


def _trips(at: At, condition: ast.Expr, moving: dict[str, _Induction], *, after: bool) -> ast.Expr | None:
    """How often the loop runs, if at all; `after`: its condition moves the variable too."""
    match condition:
        case ast.Name(name=name) if name in moving and moving[name].by == -1 and condition.type.kind == "int":
            return condition
        case ast.Binary(op="<" | ">" | "<=" | ">=" | "!=", left=left, right=right) if not after:
            op: str = condition.op
            if isinstance(right, ast.Name) and right.name in moving:
                left, right = right, left
                op = op.translate(str.maketrans("<>", "><"))
            if not isinstance(left, ast.Name) or left.name not in moving:
                return None
            by = moving[left.name].by
            if flow.names_in([right]).keys() & moving.keys() or abs(by) != 1:
                return None
            mixed = left.type.signed != right.type.signed and not isinstance(right, ast.Literal)
            if op[0] not in ("<!" if by > 0 else ">!") or (op != "!=" and mixed):
                return None
            ends = (right, left) if by > 0 else (left, right)
            type = LONG if left.type.element is not None else left.type
            zero = isinstance(ends[1], ast.Literal) and ends[1].value == 0
            distance = ends[0] if zero else ast.Binary("-", ends[0], ends[1], type, at.place)
            return at.binary("+", distance, at.number(1)) if op.endswith("=") and op != "!=" else distance
        case _:
            return None


def _inductions(body: Sequence[ast.Stmt]) -> dict[str, _Induction]:
    """The variables that the body moves by constants, the same ones in each trip."""
    variables: dict[str, ast.Name] = {}
    found: dict[str, list[_Move]] = {}
    declared = flow.declared_in(body).keys()
    for where, statement in enumerate(body):
        expression = _expression(statement)
        if expression is None:
            continue
        for update in flow.certain(expression):
            moved = _moved_by(update)
            if moved is None:
                continue
            target, by = moved
            embedded = isinstance(statement, ast.Declare) or update is not expression
            mentions = sum(isinstance(n, ast.Name) and n.name == target.name for n in ast.walk(expression))
            alone = not embedded or (isinstance(update, ast.Step) and mentions == 1)
            if alone and target.scope in ("param", "local") and target.name not in declared:
                variables[target.name] = target
                found.setdefault(target.name, []).append(_Move(by, where, update, embedded))
    return {
        name: _Induction(variables[name], tuple(moves))
        for name, moves in found.items()
        if sum(name in flow.changed_by(n) for s in body for n in ast.walk(s)) == len(moves)
    }


def _expression(statement: ast.Stmt) -> ast.Expr | None:
    match statement:
        case ast.Evaluate(expression=expression) | ast.Declare(variables=(ast.Variable(init=expression),)):
            return expression
        case _:
            return None


def _moved_by(update: ast.Expr) -> tuple[ast.Name, int] | None:
    """The variable that an expression moves, and by how much, where no later trip changes that."""
    match update:
        case ast.Step(op=op, target=ast.Name() as target):
            by = 1 if op == "++" else -1
        case ast.Assign(
            op="+=" | "-=" as op, target=ast.Name() as target, value=ast.Literal(value=int() as by)
        ):
            by = by if op == "+=" else -by
        case _:
            return None
    return (target, by) if target.type.kind in ("int", "pointer") else None


def _moved(at: At, body: Sequence[ast.Stmt], moving: dict[str, _Induction], trip: ast.Expr) -> list[ast.Stmt]:
    """The body with each moving variable replaced by where it stands in a trip."""
    kept: list[ast.Stmt] = []
    moves = [move for induction in moving.values() for move in induction.moves]
    for where, statement in enumerate(body):
        if any(move.where == where and not move.embedded for move in moves):
            continue
        values = {name: _offset(at, induction, trip, where) for name, induction in moving.items()}
        kept.append(_replaced(at, statement, values, {id(move.update) for move in moves if move.embedded}))
    return kept


def _offset(at: At, induction: _Induction, trip: ast.Expr, where: int) -> ast.Expr:
    """How far a variable stands from its start in a statement of a trip."""
    distance = at.binary("*", trip, at.number(induction.by))
    if induction.by == -1:
        distance = ast.Unary("-", trip, trip.type, at.place)
    more = sum(m.by for m in induction.moves if m.where < where or (m.where == where and _prefix(m)))
    return at.binary("+" if more > 0 else "-", distance, at.number(abs(more)))


def _prefix(move: _Move) -> bool:
    return isinstance(move.update, ast.Step) and move.update.prefix


def _replaced(at: At, node: Any, offsets: dict[str, ast.Expr], updates: set[int]) -> Any:
    def change(child: Any) -> Any:
        return _replaced(at, child, offsets, updates)

    def pointer(expression: ast.Expr) -> tuple[ast.Name, ast.Expr] | None:
        """A moving pointer and where it stands."""
        if isinstance(expression, ast.Step) and id(expression) in updates:
            expression = expression.target
        if (
            isinstance(expression, ast.Name)
            and expression.name in offsets
            and expression.type.element is not None
        ):
            return expression, offsets[expression.name]
        return None

    match node:
        case ast.Unary(op="*", operand=operand) if (found := pointer(operand)) is not None:
            return ast.Subscript(found[0], found[1], node.type, at.place)
        case ast.Subscript(base=base, index=index) if (found := pointer(base)) is not None:
            return ast.Subscript(found[0], at.binary("+", found[1], change(index)), node.type, at.place)
        case ast.Step() if id(node) in updates:
            return change(node.target)
        case ast.Name(name=name) if name in offsets:
            offset = offsets[name]
            if isinstance(offset, ast.Unary):
                return at.binary("-", node, offset.operand)
            return at.binary("+", node, offset)
        case _:
            return rebuild(node, change)


def _end(at: At, induction: _Induction, trips: ast.Expr, *, more: bool = False) -> ast.Stmt:
    """Moves a variable to where the loop leaves it; `more`: by one step beyond the last trip."""
    steps = at.binary("+", trips, at.number(1)) if more else trips
    distance = at.binary("*", steps, at.number(abs(induction.by)))
    return at.set(induction.variable, distance, "+=" if induction.by > 0 else "-=")


def _leaves(statement: ast.For) -> bool:
    returns = any(isinstance(n, ast.Return) for n in ast.walk(statement))
    return returns or break_in(statements_of(statement.body)) is not None


def _jumps(body: Sequence[ast.Stmt]) -> bool:
    """Whether a ``break``, ``continue`` or ``return`` leaves a trip."""
    for statement in body:
        match statement:
            case ast.Jump() | ast.Return():
                return True
            case ast.For() | ast.While():
                if any(isinstance(n, ast.Return) for n in ast.walk(statement)):
                    return True
                continue
        if _jumps([c for c in ast.children(statement) if isinstance(c, ast.Stmt)]):
            return True
    return False
