"""The polyhedral model of a loop nest: its statements, the iterations that each runs for, and what depends on what.

(Feautrier, "Dataflow Analysis of Array and Scalar References", IJPP 1991.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import islpy as isl

from ...tools.c import ast
from ...tools.c.polynomial import Monomial, Polynomial
from . import flow
from .accesses import accesses_of, integer_value
from .dependence import Overlap, Tester
from .formula import ANY, Formula, comparison
from .loops import Loop, break_in, continues, counted, statements_of
from .nest import Surroundings
from .symbolic import Access
from .tree import same

MOST_STATEMENTS = 16
# What isl may spend on a model and on its schedule: about a tenth of a second.
OPERATIONS = 5_000_000


class NotAffine(Exception):
    """The nest has no exact model."""


@dataclass(frozen=True)
class Statement:
    """Statements that run together, in the order written, once for each iteration of the `loops` around them.

    `position` tells where it stands: the index in the body of each loop around it, outermost first.
    """

    name: str
    body: tuple[ast.Stmt, ...]
    loops: tuple[Loop, ...]
    position: tuple[int, ...]
    accesses: tuple[Access, ...]
    domain: Formula


@dataclass(frozen=True)
class Model:
    """`domain`: the iterations of each statement; `dependences`: pairs of them of which the first must run first.

    `parameters` gives for each of isl's parameters the product of variables that it stands for.
    """

    statements: tuple[Statement, ...]
    domain: isl.UnionSet
    dependences: isl.UnionMap
    parameters: dict[str, Monomial]


def model(nest: ast.For, around: Surroundings, depth: int) -> Model:
    """The model of a nest; loops at `depth` and below stay whole, as parts of statements. Raises NotAffine."""
    statements, tester = _collected(nest, around, depth)
    domains = [f"{_tuple(tester, s, 'a')} : {s.domain.text(_exact(tester.speller('a')))}" for s in statements]
    relations = [
        relation
        for first in statements
        for second in statements
        for relation in _dependences(tester, first, second, around.overlap)
    ]
    tester.context.set_max_operations(OPERATIONS)
    tester.context.reset_operations()
    head = f"[{', '.join(tester.parameters.values())}] -> "
    try:
        return Model(
            statements=statements,
            domain=isl.UnionSet(f"{head}{{ {'; '.join(domains)} }}", tester.context),
            dependences=isl.UnionMap(f"{head}{{ {'; '.join(relations)} }}", tester.context).coalesce(),
            parameters={name: monomial for monomial, name in tester.parameters.items()},
        )
    except isl.Error:
        raise NotAffine from None


def reads_of_the_past(nest: ast.For, around: Surroundings) -> list[ast.Expr]:
    """The elements of arrays that the nest writes as it reads them before any of its writes to the same place.

    Raises NotAffine where the nest has no exact model.
    """
    statements, tester = _collected(nest, around, MOST_STATEMENTS)
    written = {a.location.root for s in statements for a in s.accesses if a.kind == "write"}
    past: list[ast.Expr] = []
    present: list[ast.Expr] = []
    for statement in statements:
        targets = {
            n.target for s in statement.body for n in ast.walk(s) if isinstance(n, ast.Assign | ast.Step)
        }
        for read in (a for a in statement.accesses if a.kind == "read" and a.location.root in written):
            texts = [
                text
                for first in statements
                for text in _meetings(
                    tester, first, statement, around.overlap, "write", read, _order(tester, first, statement)
                )
            ]
            if len(statement.body) > 1 or not isinstance(statement.body[0], ast.Evaluate):
                same_instance = _equal(tester, statement) or "true"
                texts += _meetings(tester, statement, statement, around.overlap, "write", read, same_instance)
            fresh = read.expression not in targets and not any(map(tester.satisfiable, texts))
            (past if fresh else present).append(read.expression)
    return [p for p in past if not any(same(p, q) for q in present)]


def _collected(nest: ast.For, around: Surroundings, depth: int) -> tuple[tuple[Statement, ...], Tester]:
    """The statements of a nest, and what asks isl about them."""
    collector = _Collector(around, depth)
    collector.loop(nest, (), (0,))
    statements = tuple(collector.statements)
    if len(statements) > MOST_STATEMENTS:
        raise NotAffine
    _check_scalars(nest, statements, around)
    loops = tuple(dict.fromkeys(loop.variable for s in statements for loop in s.loops))
    tester = Tester(loops, tuple(a for s in statements for a in s.accesses))
    return statements, tester


class _Collector:
    def __init__(self, around: Surroundings, depth: int) -> None:
        self.around = around
        self.depth = depth
        self.statements: list[Statement] = []

    def loop(self, statement: ast.For, loops: tuple[Loop, ...], position: tuple[int, ...]) -> None:
        loop = counted(statement)
        if isinstance(loop, str) or not self.is_affine(loop, loops):
            if not loops:
                raise NotAffine
            self.leaf((statement,), loops, position)
            return
        inside = (*loops, loop)
        groups = list(_groups(statements_of(statement.body)))
        for index, group in enumerate(groups):
            only = group[0]
            if len(group) == 1 and isinstance(only, ast.For) and len(inside) < self.depth:
                self.loop(only, inside, (*position, index))
            else:
                self.leaf(group, inside, (*position, index))

    def is_affine(self, loop: Loop, outer: tuple[Loop, ...]) -> bool:
        """Whether the loop's iterations are known exactly, and nothing else needs its variable."""
        statements = statements_of(loop.statement.body)
        if break_in(statements) is not None or continues(statements):
            return False
        if not loop.declares and self.around.live_after(loop.variable):
            return False
        return loop.variable not in {o.variable for o in outer} and all(
            not any(n.startswith("?") for n in integer_value(e).names) for e in (loop.first, loop.bound)
        )

    def leaf(self, body: tuple[ast.Stmt, ...], loops: tuple[Loop, ...], position: tuple[int, ...]) -> None:
        if any(isinstance(n, ast.Return) for s in body for n in ast.walk(s)):
            raise NotAffine
        domain = ANY
        for loop in loops:
            variable, first, bound = _variable(loop), integer_value(loop.first), integer_value(loop.bound)
            if abs(loop.step) != 1:
                raise NotAffine
            domain &= comparison(loop.comparison, variable, bound)
            domain &= comparison(">=" if loop.step > 0 else "<=", variable, first)
        outer = (*self.around.outer, *loops)
        found = accesses_of(outer, (), body, self.around.functions, self.around.given)
        known = [_known(a) for a in found]
        accesses = tuple({(a.location, a.kind, a.domain): a for a in known}.values())
        name = f"S{len(self.statements)}"
        self.statements.append(Statement(name, body, loops, position, accesses, domain))


def _known(access: Access) -> Access:
    """The access under what is known for certain of when it happens. Raises NotAffine where its place is not known."""
    inner = {name for name, _ in access.inner}
    steps = (s.names for s in access.location.steps if not isinstance(s, str))
    if any(n.startswith("?") for n in frozenset().union(*steps) - inner):
        raise NotAffine
    unknown = {n for n in access.domain.names if n.startswith("?")} - inner
    return dataclasses.replace(access, domain=access.domain.without(unknown)) if unknown else access


def _variable(loop: Loop) -> Polynomial:
    return integer_value(ast.Name(loop.variable, "local", loop.type, loop.place))


def _groups(statements: Sequence[ast.Stmt]) -> Iterator[tuple[ast.Stmt, ...]]:
    """The statements of a body, with those kept together of which one needs a variable that another sets."""
    declares = [flow.declared_in([s]) if isinstance(s, ast.Declare) else {} for s in statements]
    own = {loop.variable for s in statements for n in ast.walk(s) if isinstance(loop := _counted(n), Loop)}
    spans = []
    for name in flow.written(statements) - own | {n for d in declares for n in d}:
        start = 0
        for i, statement in enumerate(statements):
            use = flow.Use(name, [statement])
            if name in declares[i] or (use.assigned and not use.exposed):
                start = i
            elif use.exposed:
                spans.append((start, i))
    start = 0
    while start < len(statements):
        end = start
        while (reach := max((b for a, b in spans if a <= end), default=end)) > end:
            end = reach
        yield tuple(statements[start : end + 1])
        start = end + 1


def _counted(node: ast.Expr | ast.Stmt) -> Loop | str | None:
    return counted(node) if isinstance(node, ast.For) else None


def _check_scalars(nest: ast.For, statements: tuple[Statement, ...], around: Surroundings) -> None:
    """Each statement must set the variables that it needs itself, and leave none behind."""
    changed = flow.written([nest])
    for statement in statements:
        loops = {loop.variable for loop in statement.loops}
        for name in (changed - loops) & flow.names_in(statement.body).keys():
            if name in flow.declared_in(statement.body):
                continue
            variable = flow.names_in(statement.body)[name]
            if variable.scope == "global" or around.live_after(name):
                raise NotAffine
            if flow.Use(name, statement.body).exposed:
                raise NotAffine
        if loops & flow.written(statement.body):
            raise NotAffine


def _dependences(tester: Tester, first: Statement, second: Statement, overlap: Overlap) -> Iterator[str]:
    """For each pair of accesses that may meet: the instances that do, those that come first on the left."""
    for other in second.accesses:
        kinds = ("read", "write") if other.kind == "write" else ("write",)
        for kind in kinds:
            for text in _meetings(tester, first, second, overlap, kind, other, _order(tester, first, second)):
                unknown = sorted(n for n in tester.spelled_in(text) if "_u" in n)
                some = f"exists ({', '.join(unknown)} : {text})" if unknown else text
                yield f"{_tuple(tester, first, 'a')} -> {_tuple(tester, second, 'b')} : {some}"


def _meetings(
    tester: Tester,
    first: Statement,
    second: Statement,
    overlap: Overlap,
    kind: str,
    other: Access,
    order: str | None,
) -> Iterator[str]:
    """When an access of some kind in an instance of one statement meets another's in an instance of the second.

    `order` says how the two instances follow each other; None: they do not.
    """
    if order is None:
        return
    domains = [s.domain.text(_exact(tester.speller(i))) for s, i in ((first, "a"), (second, "b"))]
    for one in (a for a in first.accesses if a.kind == kind):
        relation = overlap(one.location.root, other.location.root)
        if relation == "distinct":
            continue
        equalities = tester.same_element(one, other) if relation == "same" else []
        if equalities is None:
            continue
        conditions = [*domains, f"({order})", *equalities]
        conditions += [f"({x.domain.text(tester.speller(i))})" for x, i in ((one, "a"), (other, "b"))]
        yield " and ".join(conditions)


def _equal(tester: Tester, statement: Statement) -> str:
    """When two instances of a statement are the same."""
    names = [loop.variable for loop in statement.loops]
    return " and ".join(f"{tester.spelled_name(n, 'a')} = {tester.spelled_name(n, 'b')}" for n in names)


def _order(tester: Tester, first: Statement, second: Statement) -> str | None:
    """When an instance of the first statement runs before one of the second; None: never."""
    shared = [
        loop
        for loop, _ in takewhile(
            lambda pair: pair[0] is pair[1], zip(first.loops, second.loops, strict=False)
        )
    ]
    equal: list[str] = []
    cases = []
    for loop in shared:
        a, b = (tester.spelled_name(loop.variable, i) for i in ("a", "b"))
        cases.append(" and ".join([*equal, f"{a} {'<' if loop.step > 0 else '>'} {b}"]))
        equal.append(f"{a} = {b}")
    if first.position < second.position:
        cases.append(" and ".join(equal) or "true")
    return " or ".join(f"({c})" for c in cases) or None


def _tuple(tester: Tester, statement: Statement, instance: str) -> str:
    names = (tester.spelled_name(loop.variable, instance) for loop in statement.loops)
    return f"{statement.name}[{', '.join(names)}]"


def _exact(spell: Callable[[Polynomial], str | None]) -> Callable[[Polynomial], str]:
    def spelled(polynomial: Polynomial) -> str:
        text = spell(polynomial)
        if text is None:
            raise NotAffine
        return text

    return spelled
