"""Scalars that a loop carries by one associative update, and uses on the way: prefix sums, compaction, running maxima.

Such a loop runs in parallel once every iteration knows what all before it have made of the variable.
(Blelloch, "Prefix Sums and Their Applications", CMU-CS-90-190, 1990.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...tools.c import ast
from . import flow
from .build import At
from .loops import Loop, counted, statements_of
from .promotion import replaced
from .reduction import Reduction, reduction_of
from .tree import Names, root_of, same, substituted


@dataclass(frozen=True)
class Scan:
    """A carried variable and the operator that updates it; `live`: its last value is used after the loop."""

    reduction: Reduction
    live: bool

    @property
    def name(self) -> str:
        return self.reduction.name


def scan_of(variable: ast.Name, body: tuple[ast.Stmt, ...], live: bool) -> Scan | None:
    """The scan that a loop's body makes of a variable that it also uses otherwise; None where it is none."""
    updates = sliced(body, {variable.name})
    if updates is None:
        return None
    reduction = reduction_of(variable, updates)
    if reduction is None or reduction.operator[0] in "=f" or reduction.operator in ("&&", "||"):
        return None
    return Scan(reduction, live)


def sliced(body: Sequence[ast.Stmt], names: set[str]) -> tuple[ast.Stmt, ...] | None:
    """What of a body the updates of the named variables need: everything but stores to memory.

    None where an update depends on such a store, on one of the variables themselves, or stands in a loop.
    """
    kept = _kept_of(body, names, set())
    return None if kept is None else tuple(kept)


def _kept(statement: ast.Stmt, names: set[str], stored: set[str]) -> list[ast.Stmt] | None:
    match statement:
        case ast.Evaluate(expression=expression):
            return _effects(statement, expression, names, stored)
        case ast.Declare(variables=variables):
            values = [v.init for v in variables if v.init is not None]
            if any(v.type.kind == "array" for v in variables) or not _is_free(values, names, stored):
                if names.isdisjoint(flow.names_in(values)) or _changes(values):
                    return None
                # No update may depend on what is made of the variables themselves.
                stored |= {v.name for v in variables}
                return []
            return [statement]
        case ast.Block(body=body):
            inner = _kept_of(body, names, stored)
            return None if inner is None else [dataclasses.replace(statement, body=tuple(inner))]
        case ast.If() if _is_extremum(statement, names):
            return None if stored & flow.names_in([statement]).keys() else [statement]
        case ast.If(condition=condition, then=then, otherwise=otherwise):
            if not _is_free([condition], names, stored):
                return None
            first = _kept_of(statements_of(then), names, stored)
            second = _kept_of(statements_of(otherwise), names, stored) if otherwise is not None else []
            if first is None or second is None:
                return None
            if not first and not second:
                return []
            block = ast.Block(tuple(first), then.place)
            rest = ast.Block(tuple(second), then.place) if second else None
            return [dataclasses.replace(statement, then=block, otherwise=rest)]
        case ast.For() | ast.While():
            stores = _stores(statement)
            stored |= stores
            if names & (flow.written([statement]) | flow.names_in([statement]).keys()):
                return None
            if stores:
                return None if flow.written([statement]) else []
            return [statement] if _is_free([statement], names, stored) else None
        case _:
            return None


def _kept_of(body: Iterable[ast.Stmt], names: set[str], stored: set[str]) -> list[ast.Stmt] | None:
    kept: list[ast.Stmt] = []
    for statement in body:
        part = _kept(statement, names, stored)
        if part is None:
            return None
        kept += part
    return kept


def _is_extremum(statement: ast.If, names: set[str]) -> bool:
    """Whether the statement is an update as a whole: ``if (x > m) m = x``."""
    mentioned = flow.names_in([statement])
    return any(
        n in mentioned
        and flow.written([statement]) == {n}
        and reduction_of(mentioned[n], [statement]) is not None
        for n in names
    )


def _changes(values: list[ast.Expr]) -> bool:
    return any(isinstance(n, ast.Assign | ast.Step) for v in values for n in ast.walk(v))


def _effects(
    statement: ast.Evaluate, expression: ast.Expr, names: set[str], stored: set[str]
) -> list[ast.Stmt] | None:
    """The updates in an expression statement, or all of it where it sets another variable."""
    match expression:
        case ast.Assign(target=ast.Name(name=name)) if name not in names:
            if names & flow.names_in([expression]).keys():
                return None
            return [statement] if _is_free([expression.value], names, stored) else None
        case ast.Assign(target=ast.Name()) | ast.Step(target=ast.Name()):
            value = expression.value if isinstance(expression, ast.Assign) else expression
            return (
                None if stored & flow.names_in([value]).keys() or flow.calls_others([value]) else [statement]
            )
    updates = [n for n in flow.certain(expression) if isinstance(n, ast.Step) and _is_one(n.target, names)]
    everything = [n for n in ast.walk(expression) if isinstance(n, ast.Assign | ast.Step)]
    if any(_is_one(n.target, names) for n in everything if n not in updates) or flow.calls_others(
        [expression]
    ):
        return None
    stored |= {_owner(n.target) for n in everything if n not in updates}
    return [ast.Evaluate(u, statement.place) for u in updates]


def _is_one(target: ast.Expr, names: set[str]) -> bool:
    return isinstance(target, ast.Name) and target.name in names


def _is_free(nodes: Sequence[Any], names: set[str], stored: set[str]) -> bool:
    """Whether nodes neither use the variables, nor memory that was stored to, nor change anything by a call."""
    return not names & flow.names_in(nodes).keys() and not any(
        stored & flow.names_in([n]).keys() or flow.calls_others([n]) for n in nodes
    )


def _owner(target: ast.Expr) -> str:
    """The variable through which a store goes."""
    if isinstance(target, ast.Unary):
        target = target.operand
    return root_of(target) or min(flow.names_in([target]), default="")


def _stores(node: Any) -> set[str]:
    return {
        _owner(n.target)
        for n in ast.walk(node)
        if isinstance(n, ast.Assign | ast.Step) and not isinstance(n.target, ast.Name)
    }


def compacted(body: Sequence[ast.Stmt], scans: Iterable[Scan]) -> frozenset[str]:
    """Arrays that the body only writes, at places that a counter takes once: ``y[k++] = x`` or ``y[k] = x; k++``."""
    counters = {
        s.name
        for s in scans
        if s.reduction.operator == "+" and s.reduction.type.kind == "int" and _only_grows(body, s.name)
    }
    good: dict[str, int] = {}
    for counter in counters:
        for root in _placed(body, counter):
            good[root] = good.get(root, 0) + 1
    uses: dict[str, int] = {}
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Name) and node.type.element is not None:
            uses[node.name] = uses.get(node.name, 0) + 1
    return frozenset(root for root, number in good.items() if uses[root] == number)


def _only_grows(body: Sequence[ast.Stmt], name: str) -> bool:
    for node in (n for s in body for n in ast.walk(s)):
        match node:
            case ast.Step(op=op, target=ast.Name(name=stepped)) if stepped == name:
                if op != "++":
                    return False
            case ast.Assign(op=op, target=ast.Name(name=assigned), value=value) if assigned == name:
                if op != "+=" or not isinstance(value, ast.Literal) or value.value <= 0:
                    return False
    return True


def _placed(statements: Sequence[ast.Stmt], counter: str) -> Iterator[str]:
    """The array of each store to the counter's place that a step of the counter follows in the same block."""
    for position, statement in enumerate(statements):
        match statement:
            case ast.Evaluate(
                expression=ast.Assign(
                    op="=", target=ast.Subscript(base=ast.Name(name=root), index=index), value=value
                )
            ) if counter not in flow.names_in([value]):
                if isinstance(index, ast.Step):
                    if not index.prefix and _is_one(index.target, {counter}):
                        yield root
                elif _is_one(index, {counter}) and any(
                    _steps(s, counter) for s in statements[position + 1 :]
                ):
                    yield root
            case ast.For() | ast.While():
                continue
            case _:
                for child in ast.children(statement):
                    if isinstance(child, ast.Stmt):
                        yield from _placed(statements_of(child), counter)


def _steps(statement: ast.Stmt, counter: str) -> bool:
    match statement:
        case ast.Evaluate(
            expression=ast.Step(target=ast.Name(name=name)) | ast.Assign(target=ast.Name(name=name))
        ):
            return name == counter
        case _:
            return False


def carried_element(statement: ast.For, names: Names) -> ast.Block | None:
    """A loop that makes each element from the one before (``y[i] = y[i - 1] + x[i]``), with that in a variable."""
    loop = counted(statement)
    if not isinstance(loop, Loop) or abs(loop.step) != 1:
        return None
    body = statements_of(statement.body)
    at = At(statement.place)
    variable = at.name(loop.variable, loop.type)
    for position, s in enumerate(body):
        if not isinstance(s, ast.Evaluate) or not isinstance(s.expression, ast.Assign):
            continue
        target = s.expression.target
        if (
            not isinstance(target, ast.Subscript)
            or not target.type.scalar
            or not _is_one(target.index, {variable.name})
        ):
            continue
        before = dataclasses.replace(
            target, index=at.binary("-" if loop.step > 0 else "+", variable, at.number(1))
        )
        if not any(same(n, before) for n in ast.walk(s.expression.value)):
            continue
        carried = at.name(names.fresh(f"{root_of(target) or 'value'}_before"), target.type)
        value = s.expression.value
        if s.expression.op != "=":
            value = ast.Binary(s.expression.op[:-1], target, value, target.type, s.place)
        new = [at.set(carried, replaced(value, before, carried)), at.set(target, carried)]
        rest = [*body[:position], *new, *body[position + 1 :]]
        if any(same(n, before) for r in rest for n in ast.walk(r)):
            return None
        runs = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        start = substituted(before, {variable.name: loop.first})
        moved = dataclasses.replace(statement, body=at.block(*rest))
        return at.block(at.when(runs, at.declare(carried, start), moved))
    return None
