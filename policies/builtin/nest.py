"""Parallel loop nests: which loops run as threads, which variables each iteration has for itself, what it reduces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...tools.c import ast
from . import flow
from .accesses import accesses_of
from .box import boxed, is_iteration
from .dependence import Conflict, Overlap, conflicts
from .emit import Printer
from .loops import Loop, break_in, counted, declaring, jumps, statements_of
from .mathematics import is_library_function
from .reduction import Reduction, reduction_of
from .refusals import Refused, loop_at
from .scan import Scan, compacted, scan_of, sliced
from .symbolic import Access

if TYPE_CHECKING:
    from .teams import Team

MOST_DIMENSIONS = 3


@dataclass(frozen=True)
class Nest:
    """A loop nest that runs as a kernel.

    Each combination of the variables of `loops` (outermost first as written) is independent of the others, up to the
    `reductions` and to updates of the arrays in `atomic`. An iteration runs `body` inside the loops of `inner`.
    `private` are variables declared outside the nest of which each iteration has its own, `scans` those that it needs
    as all iterations before it leave them. Arrays in `overlapping` may share memory with another of the nest. A `team`
    of threads may share the loops inside an iteration.
    """

    statement: ast.For
    loops: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    body: tuple[ast.Stmt, ...]
    private: tuple[ast.Name, ...]
    reductions: tuple[Reduction, ...]
    accesses: tuple[Access, ...]
    scans: tuple[Scan, ...] = ()
    atomic: frozenset[str] = frozenset()
    overlapping: frozenset[str] = frozenset()
    names: Mapping[str, ast.Name] = field(default_factory=dict, hash=False)
    team: Team | None = None

    @property
    def written(self) -> tuple[str, ...]:
        """The arrays that the nest writes, in order."""
        return tuple(dict.fromkeys(a.location.root for a in self.accesses if a.kind == "write"))


@dataclass(frozen=True)
class Surroundings:
    """What a nest's analysis asks about the rest of the function.

    `outer` are the counted loops of the host part around the nest. `live_after` tells whether a variable's value is
    read after the nest, `overlap` how two pointers relate there, `given` which conditions hold.
    """

    functions: Mapping[str, ast.Function]
    outer: tuple[Loop, ...]
    live_after: Callable[[str], bool]
    overlap: Overlap
    given: tuple[ast.Expr, ...] = ()


def parallel_nest(statement: ast.For, around: Surroundings) -> Nest:
    """The nest that starts at a loop, with as many parallel loops as can be had; Refused where there are none."""
    loop = _regular(statement)
    loops, bodies = _perfect(loop)
    refusals = []
    for depth in range(len(loops), 0, -1):
        try:
            return _nest(statement, loops[:depth], bodies[depth - 1], around)
        except Refused as refusal:
            refusals.append(refusal)
    raise refusals[0]


def shared_loop(statement: ast.For, around: Surroundings) -> Nest:
    """The nest of one loop alone, whatever stands inside it; Refused where its iterations are not independent."""
    loop = _regular(statement)
    return _nest(statement, [loop], statements_of(statement.body), around)


def _regular(statement: ast.For) -> Loop:
    """The loop as a counted one that nothing returns from. Raises Refused."""
    loop = counted(statement)
    if isinstance(loop, str):
        raise Refused("irregular-loop", f"{loop_at(statement.place)} {loop}", statement.place)
    _check_exits(statement)
    return loop


def _check_exits(statement: ast.For) -> None:
    for node in ast.walk(statement):
        if isinstance(node, ast.Return):
            message = f"{loop_at(statement.place)} returns from inside"
            raise Refused("return-in-loop", message, node.place)


def _perfect(loop: Loop) -> tuple[list[Loop], list[tuple[ast.Stmt, ...]]]:
    """Loops nested in one another with nothing between them but what each iteration may compute again.

    The second list gives for each depth the body, with what stood between the loops in front of it.
    """
    loops, bodies = [loop], [statements_of(loop.statement.body)]
    prologue: tuple[ast.Stmt, ...] = ()
    while True:
        *before, last = statements_of(loops[-1].statement.body) or (None,)
        inner = counted(last) if isinstance(last, ast.For) else None
        if not isinstance(inner, Loop) or not all(isinstance(s, ast.Stmt) and _repeatable(s) for s in before):
            return loops, bodies
        assigned = flow.written(before) | flow.declared_in(before).keys()
        if assigned & (flow.written([inner.statement.body]) | {inner.variable}):
            return loops, bodies
        prologue = (*prologue, *before)
        loops.append(inner)
        bodies.append((*prologue, *statements_of(inner.statement.body)))


def _repeatable(statement: ast.Stmt) -> bool:
    """Whether a statement only gives values to scalars, and has no other effect."""
    match statement:
        case ast.Declare(variables=variables):
            values = [v.init for v in variables if v.init is not None]
            plain = all((v.type.scalar or v.type.kind == "pointer") and not v.static for v in variables)
        case ast.Evaluate(expression=ast.Assign(op="=", target=ast.Name(), value=value)):
            values, plain = [value], True
        case _:
            return False
    nodes = [n for v in values for n in ast.walk(v)]
    return plain and not any(
        isinstance(n, ast.Assign | ast.Step)
        or (isinstance(n, ast.Call) and not is_library_function(n.function))
        for n in nodes
    )


def _nest(statement: ast.For, loops: list[Loop], body: tuple[ast.Stmt, ...], around: Surroundings) -> Nest:
    for loop in loops:
        exit_ = break_in(statements_of(loop.statement.body))
        if exit_ is not None:
            raise Refused(
                "loop-exit", f"{loop_at(loop.place)} may end early at line {exit_.place.line}", exit_.place
            )
        if not loop.declares and around.live_after(loop.variable):
            message = f"{loop.variable} is read after the {loop_at(loop.place)}"
            raise Refused("scalar-live-out", message, loop.place)
    private, reductions, scans = _scalars(statement, body, around)
    if scans and (len(loops) > 1 or any(map(jumps, body))):
        raise _carries(statement, scans[0].name)
    accesses = accesses_of(around.outer, tuple(loops), body, around.functions, around.given)
    _check_prologue(loops, accesses, around)
    found = conflicts(loops, accesses, around.overlap, compacted(body, scans))
    parallel = _independent(loops, body, found)
    atomic = frozenset[str]()
    if not parallel and not scans and (atomic := _atomic(accesses)):
        rest = conflicts(loops, accesses, around.overlap, atomic)
        parallel = _independent(loops, body, rest)
    if not parallel:
        raise _carried(next((loop for loop in loops if loop.variable in found), loops[0]), found)
    chosen = parallel[-MOST_DIMENSIONS:]
    inner = [loop for loop in loops if loop not in chosen]
    inside = [*body, *(e for loop in loops for e in (loop.first, loop.bound))]
    boxes = _boxes(loops, body, found)
    if len(boxes) > len(parallel):
        chosen = list(boxes.values())[-MOST_DIMENSIONS:]
        inner = [loop for loop in loops if boxes.get(loop.variable) not in chosen]
        cut = [loop for loop in loops if loop not in inner and boxes[loop.variable] != loop]
        if cut:
            body, inner = _tested(body, inner, cut), []
    roots = dict.fromkeys(a.location.root for a in accesses)
    overlapping = frozenset(a for a in roots for b in roots if a != b and _related(around, a, b))
    declared = flow.declared_in(body).keys() | {loop.variable for loop in loops}
    mentioned = {k: v for k, v in flow.names_in(inside).items() if k not in declared}
    return Nest(
        statement=statement,
        loops=tuple(chosen),
        inner=tuple(inner),
        body=body,
        private=private,
        reductions=reductions,
        accesses=accesses,
        scans=scans,
        atomic=atomic,
        overlapping=overlapping,
        names=mentioned,
    )


def _scalars(
    statement: ast.For, body: tuple[ast.Stmt, ...], around: Surroundings
) -> tuple[tuple[ast.Name, ...], tuple[Reduction, ...], tuple[Scan, ...]]:
    """The variables from outside that the body writes: private ones, reductions and scans."""
    private, reductions, scans = [], [], []
    names = flow.names_in(body)
    for name in sorted(flow.written(body)):
        variable = names[name]
        use = flow.Use(name, body)
        live = variable.scope == "global" or around.live_after(name)
        if not use.exposed and not live:
            private.append(variable)
            continue
        if variable.scope != "global":
            if (reduction := reduction_of(variable, body)) is not None:
                reductions.append(reduction)
                continue
            if use.exposed and (scan := scan_of(variable, body, live)) is not None:
                scans.append(scan)
                continue
        if use.exposed:
            raise _carries(statement, name)
        message = f"{name} is read after the {loop_at(statement.place)}, which sets it"
        raise Refused("scalar-live-out", message, statement.place)
    if scans:
        scans += [Scan(r, True) for r in reductions]
        if sliced(body, {s.name for s in scans}) is None:
            raise _carries(statement, scans[0].name)
        reductions = []
    return tuple(private), tuple(reductions), tuple(scans)


def _carries(statement: ast.For, name: str) -> Refused:
    message = f"{loop_at(statement.place)} carries {name} from one iteration to the next"
    return Refused("carried-scalar", message, statement.place)


def _check_prologue(loops: list[Loop], accesses: tuple[Access, ...], around: Surroundings) -> None:
    """What stands between the loops may be computed again only if the nest does not change what it reads."""
    between = {
        node
        for loop in loops[:-1]
        for statement in statements_of(loop.statement.body)[:-1]
        for node in ast.walk(statement)
    }
    written = {a.location.root for a in accesses if a.kind == "write"}
    for access in accesses:
        root = access.location.root
        if access.expression in between and any(w == root or _related(around, w, root) for w in written):
            message = f"{loop_at(loops[0].place)} reads {root} between its loops and writes it inside"
            raise Refused("loop-carried-dependence", message, access.expression.place)


def _related(around: Surroundings, one: str, other: str) -> bool:
    return around.overlap(one, other) != "distinct"


def _atomic(accesses: tuple[Access, ...]) -> frozenset[str]:
    """Arrays that the nest only updates, in ways that an atomic operation can."""
    roots = {a.location.root for a in accesses if a.kind == "write"}
    return frozenset(
        r for r in roots if all(a.update and not a.helper for a in accesses if a.location.root == r)
    )


def _independent(loops: list[Loop], body: tuple[ast.Stmt, ...], found: dict[str, Conflict]) -> list[Loop]:
    """The loops that can run in parallel with bounds that are known before the nest starts."""
    changing = _changing(loops, body)
    return [
        loop
        for loop in loops
        if loop.variable not in found and changing.isdisjoint(flow.names_in([loop.first, loop.bound]))
    ]


def _changing(loops: list[Loop], body: tuple[ast.Stmt, ...]) -> set[str]:
    return {loop.variable for loop in loops} | flow.written(body) | flow.declared_in(body).keys()


def _boxes(loops: list[Loop], body: tuple[ast.Stmt, ...], found: dict[str, Conflict]) -> dict[str, Loop]:
    """The loops that can run in parallel, with bounds that cover what they need for any iteration of the others."""
    wider = boxed(loops, _changing(loops, body))
    loops = [wider.get(loop.variable, loop) for loop in loops]
    return {loop.variable: loop for loop in _independent(loops, body, found)}


def _tested(body: tuple[ast.Stmt, ...], inner: list[Loop], cut: list[Loop]) -> tuple[ast.Stmt, ...]:
    """The inner loops around the body, which runs only in iterations that the loops to be cut really have."""
    tests = {loop: is_iteration(loop) for loop in cut}
    for loop in (*reversed(inner), None):
        here = {c: t for c, t in tests.items() if loop is None or loop.variable in flow.names_in([t])}
        for test in here.values():
            body = (ast.If(test, ast.Block(body, test.place), None, test.place),)
        tests = {c: t for c, t in tests.items() if c not in here}
        if loop is not None:
            body = (declaring(loop, body),)
    return body


def _carried(loop: Loop, found: dict[str, Conflict]) -> Refused:
    where = loop_at(loop.place)
    conflict = found.get(loop.variable)
    if conflict is None:
        return Refused("irregular-loop", f"{where} has bounds that change while it runs", loop.place)
    text = Printer().expression
    write, other = text(conflict.write.expression), text(conflict.other.expression)
    if conflict.write.location.root != conflict.other.location.root:
        return Refused("possible-overlap", f"{where} writes {write}, which may overlap {other}", loop.place)
    if conflict.other.kind == "write":
        message = f"{where} may write {write} in more than one iteration"
        return Refused("loop-carried-dependence", message, loop.place)
    return Refused("loop-carried-dependence", f"{where} carries {other} -> {write}", loop.place)
