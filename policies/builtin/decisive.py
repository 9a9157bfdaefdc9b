"""Loops that look for one iteration: the first that meets a condition, the last, or the one with the extreme value.

Each becomes a reduction over the iterations that finds the decisive one, and what follows from it once afterwards.
A search looks at all iterations, also at those after the one where the original stops.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable

from ...tools.c import ast
from . import flow
from .build import At
from .loops import Loop, counted, statements_of
from .tree import Names, root_of, same, substituted

LiveAfter = Callable[[str], bool]


@dataclasses.dataclass(frozen=True)
class _Choice:
    """A loop whose body computes variables (`before`), and does `then` where `condition` holds; then the `rest`."""

    loop: Loop
    before: tuple[ast.Stmt, ...]
    condition: ast.Expr
    then: tuple[ast.Stmt, ...]
    rest: tuple[ast.Stmt, ...]


def search(statement: ast.For, live_after: LiveAfter, names: Names) -> ast.Block | None:
    """A loop that stops at the first iteration with some property (``break`` or ``return``)."""
    choice = _choice(statement, live_after)
    if choice is None or not choice.then or not isinstance(choice.then[-1], ast.Jump | ast.Return):
        return None
    loop, last = choice.loop, choice.then[-1]
    if isinstance(last, ast.Jump) and last.kind != "break":
        return None
    if _leaves((*choice.rest, *choice.then[:-1])) or not _is_unchanged(choice, (*choice.rest, *choice.then)):
        return None
    at = At(statement.place)
    found = at.name(names.fresh(f"{loop.variable}_found"), loop.type)
    variable = at.name(loop.variable, loop.type)
    end = _end(at, loop)
    then = choice.then if isinstance(last, ast.Return) else choice.then[:-1]
    once = _at(found, loop, then)
    parts: list[ast.Stmt] = [at.declare(found, end), _reduced(at, choice, found, first=True)]
    if choice.rest:
        bound = dataclasses.replace(
            loop.statement, condition=at.binary("<" if loop.step > 0 else ">", variable, found)
        )
        parts.append(dataclasses.replace(bound, body=at.block(*choice.before, *choice.rest)))
    if not loop.declares and live_after(loop.variable):
        parts.append(at.set(variable, found))
    if once:
        hit = at.binary("<" if loop.step > 0 else ">", found, end)
        before = _at(found, loop, choice.before)
        parts.append(at.when(hit, *_needed(before, once), *once))
    return at.block(*parts)


def last_value(statement: ast.For, live_after: LiveAfter, names: Names) -> ast.Block | None:
    """A loop of which only the last iteration with some property leaves its mark, in variables."""
    choice = _choice(statement, live_after)
    if choice is None or choice.rest or not _sets_variables(choice.then):
        return None
    if not _is_unchanged(choice, choice.then) or any(
        flow.Use(name, choice.then).exposed for name in flow.written(choice.then)
    ):
        return None
    return _afterwards(statement, choice, names, first=False, extra=())


def extremum(statement: ast.For, live_after: LiveAfter, names: Names) -> ast.Block | None:
    """A loop that keeps the least or the greatest value and what belongs to it, with the original's rule for ties."""
    choice = _choice(statement, live_after)
    if choice is None or choice.rest or not _sets_variables(choice.then):
        return None
    at = At(statement.place)
    *guards, test = _conjuncts(choice.condition)
    if not isinstance(test, ast.Binary) or test.op not in ("<", "<=", ">", ">="):
        return None
    written = flow.written(choice.then)
    value, kept, op = test.left, test.right, test.op
    if not written & flow.names_in([kept]).keys():
        value, kept, op = kept, value, op.translate(str.maketrans("<>", "><"))
    if written & flow.names_in([value, *guards, *choice.before]).keys() or not kept.type.scalar:
        return None
    if not _keeps(choice, value, kept):
        return None
    best = at.name(names.fresh("best"), dataclasses.replace(kept.type, const=False))
    strict = op[0]
    better = at.binary(strict, value, best)
    reduce_ = dataclasses.replace(
        choice, condition=_joined(at, [*guards, better]), then=(at.set(best, value),)
    )
    decided = dataclasses.replace(choice, condition=_joined(at, [*guards, at.binary("==", value, best)]))
    improved = (at.binary(strict, best, kept),) if op == strict else ()
    after = _afterwards(statement, decided, names, first=op == strict, extra=improved)
    return at.block(at.declare(best, kept), _loop(at, reduce_), *after.body)


def _choice(statement: ast.For, live_after: LiveAfter) -> _Choice | None:
    loop = counted(statement)
    if isinstance(loop, str) or abs(loop.step) != 1:
        return None
    body = _declaring(statements_of(statement.body), live_after)
    before: list[ast.Stmt] = []
    for position, inner in enumerate(body):
        if isinstance(inner, ast.If) and inner.otherwise is None:
            conditions, then = [inner.condition], statements_of(inner.then)
            while len(then) == 1 and isinstance(nested := then[0], ast.If) and nested.otherwise is None:
                conditions.append(nested.condition)
                then = statements_of(nested.then)
            condition = _joined(At(inner.place), conditions)
            if not flow.is_pure([condition]):
                return None
            return _Choice(loop, tuple(before), condition, then, body[position + 1 :])
        if not _only_computes(inner):
            return None
        before.append(inner)
    return None


def _declaring(body: tuple[ast.Stmt, ...], live_after: LiveAfter) -> tuple[ast.Stmt, ...]:
    """The body with variables that each iteration sets anew declared where it does."""
    declared: set[str] = set()
    result: list[ast.Stmt] = []
    for statement in body:
        match statement:
            case ast.Evaluate(
                expression=ast.Assign(
                    op="=", target=ast.Name(name=name, scope="local") as target, value=value
                )
            ) if (
                name not in declared
                and target.type.scalar
                and not live_after(name)
                and not flow.Use(name, body).exposed
            ):
                declared.add(name)
                result.append(At(statement.place).declare(target, value))
            case _:
                result.append(statement)
    return tuple(result)


def _only_computes(statement: ast.Stmt) -> bool:
    """Whether a statement declares variables, and has no other effect than on them."""
    match statement:
        case ast.Declare(variables=variables):
            return all(v.type.scalar and not v.static for v in variables) and flow.is_pure(
                [v.init for v in variables if v.init is not None]
            )
        case _:
            return False


def _sets_variables(then: tuple[ast.Stmt, ...]) -> bool:
    """Whether the statements only assign to scalar variables."""
    return bool(then) and all(
        isinstance(s, ast.Evaluate)
        and isinstance(s.expression, ast.Assign)
        and s.expression.op == "="
        and isinstance(s.expression.target, ast.Name)
        and s.expression.target.type.scalar
        and s.expression.target.scope != "global"
        and flow.is_pure([s.expression.value])
        for s in then
    )


def _is_unchanged(choice: _Choice, by: tuple[ast.Stmt, ...]) -> bool:
    """Whether statements change nothing that the condition depends on."""
    needed = flow.names_in([*choice.before, choice.condition]).keys()
    stored = {
        root_of(n.target)
        for s in by
        for n in ast.walk(s)
        if isinstance(n, ast.Assign | ast.Step) and not isinstance(n.target, ast.Name)
    }
    return None not in stored and not needed & (flow.written(by) | stored) and not flow.calls_others(by)


def _leaves(statements: Iterable[ast.Stmt]) -> bool:
    return any(isinstance(n, ast.Jump | ast.Return) for s in statements for n in ast.walk(s))


def _keeps(choice: _Choice, value: ast.Expr, kept: ast.Expr) -> bool:
    """Whether `kept` is the value of the best iteration so far: a variable that takes it, or the same expression at
    a variable that takes the loop's."""
    assigned: dict[str, ast.Expr] = {}
    for s in choice.then:
        assert isinstance(s, ast.Evaluate) and isinstance(s.expression, ast.Assign)
        assert isinstance(s.expression.target, ast.Name)
        assigned[s.expression.target.name] = s.expression.value
    others = assigned.keys() & flow.names_in(assigned.values()).keys()
    if len(assigned) != len(choice.then) or others:
        return False
    if isinstance(kept, ast.Name):
        return kept.name in assigned and (
            same(assigned[kept.name], value) and kept.type.spelling == value.type.spelling
        )
    changed = [n for n in flow.names_in([kept]) if n in assigned]
    if len(changed) != 1 or choice.before:
        return False
    loop = At(choice.loop.place).name(choice.loop.variable, choice.loop.type)
    is_at = isinstance(index := assigned[changed[0]], ast.Name) and index.name == loop.name
    return is_at and same(substituted(kept, {changed[0]: index}), value)


def _afterwards(
    statement: ast.For, choice: _Choice, names: Names, *, first: bool, extra: tuple[ast.Expr, ...]
) -> ast.Block:
    """Finds the first or last iteration where the condition holds, then does there what the loop would."""
    at, loop = At(statement.place), choice.loop
    found = at.name(names.fresh(f"{loop.variable}_found"), _signed(loop.type))
    outside = _end(at, loop) if first else at.binary("-" if loop.step > 0 else "+", loop.first, at.number(1))
    up = (loop.step > 0) == first
    hit = at.binary("<" if up else ">", found, outside)
    then, before = _at(found, loop, choice.then), _at(found, loop, choice.before)
    return at.block(
        at.declare(found, outside),
        _reduced(at, choice, found, first=first),
        at.when(_joined(at, [*extra, hit]), *_needed(before, then), *then),
    )


def _reduced(at: At, choice: _Choice, found: ast.Name, *, first: bool) -> ast.For:
    """The loop that finds the first or the last iteration of which the condition holds."""
    variable = at.name(choice.loop.variable, choice.loop.type)
    earlier = at.binary("<" if (choice.loop.step > 0) == first else ">", variable, found)
    keep = ast.If(earlier, at.set(found, variable), None, at.place)
    return _loop(at, dataclasses.replace(choice, then=(keep,)))


def _loop(at: At, choice: _Choice) -> ast.For:
    """The loop with the condition and what it guards, nothing else."""
    then = choice.then
    for condition in reversed(_conjuncts(choice.condition)):
        then = (at.when(condition, *then),)
    body = at.block(*choice.before, *then)
    loop = choice.loop
    statement = dataclasses.replace(loop.statement, body=body)
    if not loop.declares:
        init = at.declare(at.name(loop.variable, loop.type), loop.first)
        statement = dataclasses.replace(statement, init=init)
    return statement


def _at(found: ast.Name, loop: Loop, statements: tuple[ast.Stmt, ...]) -> tuple[ast.Stmt, ...]:
    """The statements as they run in the iteration that was found."""
    return tuple(substituted(s, {loop.variable: found}) for s in statements)


def _end(at: At, loop: Loop) -> ast.Expr:
    """The first value beyond the loop, where it runs at all; else where it starts."""
    end = at.binary("+" if loop.step > 0 else "-", loop.bound, at.number(1)) if loop.inclusive else loop.bound
    if isinstance(loop.first, ast.Literal) and loop.first.value == 0 and not loop.bound.type.signed:
        return end
    runs = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
    return ast.Conditional(runs, end, loop.first, loop.type, at.place)


def _signed(type: ast.CType) -> ast.CType:
    """A type that holds the loop's values, and one before the first."""
    return type if type.signed else ast.CType("int", "long long", 8, True)


def _needed(before: tuple[ast.Stmt, ...], then: tuple[ast.Stmt, ...]) -> tuple[ast.Stmt, ...]:
    """The computed variables, where the statements use any."""
    return before if flow.declared_in(before).keys() & flow.names_in(then).keys() else ()


def _conjuncts(condition: ast.Expr) -> list[ast.Expr]:
    if isinstance(condition, ast.Binary) and condition.op == "&&":
        return [*_conjuncts(condition.left), *_conjuncts(condition.right)]
    return [condition]


def _joined(at: At, conditions: list[ast.Expr]) -> ast.Expr:
    first, *rest = conditions
    for condition in rest:
        first = at.binary("&&", first, condition)
    return first


DECISIVE = (search, extremum, last_value)
