"""Divides a function into parallel nests, which become kernels, and the host part around them.

A loop that is parallel, or holds parallel loops that can be moved outward, becomes a nest. Any other loop stays on
the host where parallel nests are found inside it; where none is, the function is refused with the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...tools.c import ast
from ...tools.c.calls import reached
from ...tools.records import FunctionSpec
from . import flow, host, pointers
from .allocation import with_local_arrays
from .alone import alone, is_lesser
from .build import At
from .complex_sums import parted_sum
from .cost import Cost, cost
from .decisive import DECISIVE
from .expansion import expanded, snapshot
from .flatten import flattened
from .guards import guarded
from .induction import straightened
from .inline import inlined
from .loops import Loop, counted, jumps
from .mathematics import is_library_function
from .nest import Nest, Surroundings, parallel_nest
from .parameters import with_launched_parameters
from .pointers import States
from .promotion import promoted
from .refusals import Refused, loop_at
from .reschedule import rescheduled
from .scan import carried_element
from .splitting import parted
from .strided import strided
from .teams import with_team
from .tree import RESERVED, Names, rebuild, unshadowed
from .wraparound import unwrapped

# How many rewritings of a loop may stand on one another.
DEEPEST = 4


@dataclass
class Plan:
    """The file as prepared for C++, and what becomes of the function in it.

    `scratch` are local arrays that live on the device, `tables` local arrays that nothing writes.
    `returned` are nests whose only reduction is what the function returns next. `depths` tells for each nest how
    many loops of the host part repeat it. `single` are nests of one iteration, `alone` those of them that run a loop
    in order, with the reason. `kept` are loops without anything parallel that stay on the host for a call that no
    device has. `rewritten` are statements with what was put in their place.
    """

    unit: ast.Unit
    function: ast.Function
    nests: dict[ast.For, Nest] = field(default_factory=dict)
    scratch: dict[str, ast.Variable] = field(default_factory=dict)
    tables: dict[str, ast.Variable] = field(default_factory=dict)
    returned: dict[ast.For, ast.Return] = field(default_factory=dict)
    host_calls: set[str] = field(default_factory=set)
    depths: dict[ast.For, int] = field(default_factory=dict)
    single: set[ast.For] = field(default_factory=set)
    alone: dict[ast.For, Refused] = field(default_factory=dict)
    kept: dict[ast.Stmt, ast.Call] = field(default_factory=dict)
    rewritten: dict[ast.Stmt, ast.Stmt] = field(default_factory=dict)

    @property
    def parallel(self) -> dict[ast.For, Nest]:
        """The nests with more than one iteration."""
        return {s: n for s, n in self.nests.items() if s not in self.single}

    def copy(self) -> Plan:
        parts = {f.name: copy(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return Plan(**parts)


def plan(unit: ast.Unit, spec: FunctionSpec) -> Plan:
    """Plans the port of a function. Raises Refused with the reason where it cannot be ported."""
    if spec.name in unit.unsupported:
        construct, place = unit.unsupported[spec.name]
        raise Refused("construct", f"{construct} is not translated", place)
    unit = with_launched_parameters(unit, spec)
    function = inlined(unit.functions[spec.name], unit.functions)
    whole = dataclasses.replace(unit, functions=unit.functions | {spec.name: function})
    units = [unit] if function == unit.functions[spec.name] else [unit, whole]
    refusals = []
    for lenient in (False, True):
        for each in units:
            try:
                return _planned(each, spec, lenient)
            except Refused as refusal:
                refusals.append(refusal)
    raise refusals[len(units) - 1]


def _planned(unit: ast.Unit, spec: FunctionSpec, lenient: bool) -> Plan:
    """`lenient`: loops that must run in order may run on one thread, where others are the greater part."""
    prepared = _prepared(unit, spec)
    function = prepared.functions[spec.name]
    planner = _Planner(prepared, function, lenient)
    planner.sequence(function.body.body, pointers.initial(p.name for p in spec.arrays))
    made = planner.plan
    if not made.parallel and made.kept:
        loop, call = next(iter(made.kept.items()))
        message = f"the {loop_at(loop.place)} calls {call.function}, which only the host can"
        raise Refused("unknown-call", message, call.place)
    if not made.parallel:
        raise Refused("no-loop", f"{spec.name} has no loop that could run in parallel", function.place)
    for statement, refusal in made.alone.items():
        if not is_lesser(statement.body, ((n, made.depths[s]) for s, n in made.parallel.items())):
            raise refusal
    made.function = dataclasses.replace(function, body=_rewritten(function.body, made))
    return made


def _rewritten(node: Any, made: Plan) -> Any:
    """The statement with all that was put in place of its parts."""
    if node in made.nests:
        return node
    if node in made.rewritten:
        return _rewritten(made.rewritten[node], made)
    return rebuild(node, lambda child: _rewritten(child, made) if isinstance(child, ast.Stmt) else child)


def _prepared(unit: ast.Unit, spec: FunctionSpec) -> ast.Unit:
    """The file with names that C++ accepts, the function's parameters named as the launcher's, and flat arrays; what
    the function does not reach stays as it is."""
    prepared = dict(unit.functions)
    for name in reached(unit, spec.name):
        function = unit.functions[name]
        parameters = [f"{p.name}_" if p.name in RESERVED else p.name for p in function.parameters]
        if name == spec.name:
            parameters = [p.name for p in spec.parameters if p.origin == "parameter"]
        outer = (*unit.globals, *unit.functions)
        prepared[name] = flattened(with_local_arrays(unshadowed(function, parameters, outer)))
    return dataclasses.replace(unit, functions=prepared)


Choice = tuple[Cost, Plan, States]
"""A plan up to the end of some statement, what that statement's part of it costs, and where pointers point then."""


class _Planner:
    def __init__(self, unit: ast.Unit, function: ast.Function, lenient: bool) -> None:
        self.unit = unit
        self.lenient = lenient
        self.plan = Plan(unit, function)
        self.rest: list[tuple[ast.Stmt | ast.Expr, ...]] = []
        self.depth = 0
        self.loops = 0
        self.trials = 0
        self.outer: list[Loop] = []
        self.given: tuple[ast.Expr, ...] = ()
        self.serial: set[ast.For] = set()
        self.keeps_order = False
        self.expands = False
        self.idioms = 0
        self.names = Names((*unit.globals, *unit.functions, *_variables(function)))

    def sequence(self, body: tuple[ast.Stmt, ...], states: States) -> States:
        self.depth += 1
        for i, statement in enumerate(body):
            self.rest.append(body[i + 1 :])
            states = self.statement(statement, states)
            self.rest.pop()
            following = body[i + 1] if i + 1 < len(body) else None
            if isinstance(following, ast.Return) and statement in self.plan.nests:
                self.return_from_device(self.plan.nests[statement], following)
        self.depth -= 1
        return states

    def statement(self, statement: ast.Stmt, states: States) -> States:
        match statement:
            case ast.Evaluate() | ast.If() if self.loops and self.runs_on_device(statement, states):
                pass
            case ast.Block(body=body):
                return self.sequence(body, states)
            case ast.For() | ast.While():
                return self.loop(statement, states)
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                host.check(self.unit, self.plan, condition)
                given, self.given = self.given, (*self.given, *self.lasting(condition, then))
                taken = self.statement(then, pointers.entering(states, condition, True))
                self.given = given
                skipped = pointers.entering(states, condition, False)
                return taken | (self.statement(otherwise, skipped) if otherwise is not None else skipped)
            case ast.Declare(variables=variables):
                for variable in variables:
                    host.declare(self.unit, self.plan, variable, repeated=self.loops > 0)
            case ast.Evaluate(expression=expression):
                try:
                    host.check(self.unit, self.plan, expression)
                except Refused:
                    if not (self.lenient and self.runs_on_device(statement, states)):
                        raise
            case ast.Return(value=value) if value is not None:
                host.check(self.unit, self.plan, value)
        return pointers.after(states, statement)

    def lasting(self, condition: ast.Expr, then: ast.Stmt) -> Iterator[ast.Expr]:
        """The parts of a condition that hold all through a statement, which changes nothing that they depend on."""
        if isinstance(condition, ast.Binary) and condition.op == "&&":
            yield from self.lasting(condition.left, then)
            yield from self.lasting(condition.right, then)
            return
        names = flow.names_in([condition])
        plain = all(isinstance(n, ast.Name | ast.Literal | ast.Binary) for n in ast.walk(condition))
        kept = all(n.type.kind == "int" and n.scope in ("param", "local") for n in names.values())
        if plain and kept and flow.assigned(then).isdisjoint(names):
            yield condition

    def runs_on_device(self, statement: ast.Evaluate | ast.If, states: States) -> bool:
        """Plans a statement of a host loop that only changes single elements as a kernel of one thread.

        That costs a launch, where copies of the elements would make the host wait for the device.
        """
        nodes = list(ast.walk(statement))
        if any(isinstance(n, ast.For | ast.While | ast.Jump | ast.Return) for n in nodes):
            return False
        at = At(statement.place)
        loop = at.count(at.name(self.names.fresh("once")), at.number(1), statement)
        try:
            nest = parallel_nest(loop, self.surroundings(states))
        except Refused:
            return False
        if not nest.written or nest.reductions:
            return False
        self.plan.nests[loop] = nest
        self.plan.depths[loop] = self.loops
        self.plan.single.add(loop)
        self.plan.rewritten[statement] = loop
        return True

    def loop(self, statement: ast.For | ast.While, states: States) -> States:
        """A loop in the order written, or in another one where that makes more of it parallel."""
        if statement in self.serial:
            return self.as_written(statement, states)
        start = self.plan
        choices: list[Choice] = []
        refusal: Refused | None = None
        try:
            after = self.attempt(start, partial(self.as_written, statement, states))
            choices.append((_cost(start, self.plan), self.plan, after))
        except Refused as refused:
            refusal = refused
        written = choices[0][0] if choices else None
        if isinstance(statement, ast.For) and not self.keeps_order and self.is_improvable(statement, written):
            self.plan, expands = start, self.expands
            for block, again in self.orders(statement, states, choices):
                self.keeps_order, self.expands = not again, again
                try:
                    after = self.attempt(start, partial(self.statement, block, states))
                except Refused:
                    continue
                finally:
                    self.keeps_order, self.expands = False, expands
                self.plan.rewritten[statement] = block
                choices.append((_cost(start, self.plan), self.plan, after))
        if not choices and self.idioms < DEEPEST:
            self.idioms += 1
            for block in self.rewritings(statement, states):
                try:
                    after = self.attempt(start, partial(self.statement, block, states))
                except Refused:
                    continue
                self.plan.rewritten[statement] = block
                self.idioms -= 1
                return after
            self.idioms -= 1
        if not choices:
            self.plan = start
            assert refusal is not None
            if self.lenient and self.loops == self.trials == 0:
                return self.on_one_thread(statement, states, refusal)
            raise refusal
        _, self.plan, after = min(choices, key=lambda choice: choice[0])
        return after

    def on_one_thread(self, statement: ast.For | ast.While, states: States, refusal: Refused) -> States:
        """Plans a loop that was refused as a kernel of one thread. Raises the refusal where that cannot be."""
        made = alone(statement, self.live_after, self.names)
        if made is None:
            raise refusal
        block, once = made
        self.serial.add(once)
        try:
            after = self.attempt(self.plan, partial(self.statement, block, states))
        except Refused:
            raise refusal from None
        if once not in self.plan.nests:
            raise refusal
        self.plan.rewritten[statement] = block
        self.plan.single.add(once)
        self.plan.alone[once] = refusal
        return after

    def orders(
        self, statement: ast.For, states: States, choices: Sequence[Choice]
    ) -> Iterator[tuple[ast.Block, bool]]:
        """The nest in other orders, and whether what comes out may be reordered again. `choices` are those so far."""
        around = self.surroundings(states)
        ported = bool(choices)
        for block in rescheduled(statement, around):
            yield block, False
        if ported and not self.expands:
            for block in _made(snapshot(statement, around, self.names)):
                yield block, False
            for block in _made(expanded(statement, around, self.names)):
                yield block, True
        if choices and not self.expands:
            for block in _made(parted(statement, around)):
                yield block, True

    def rewritings(self, statement: ast.For | ast.While, states: States) -> Iterator[ast.Block]:
        """What a loop that is not parallel as it stands may be written as instead."""
        yield from _made(straightened(statement, self.live_after, self.names))
        if isinstance(statement, ast.For):
            overlap = self.surroundings(states).overlap
            yield from _made(unwrapped(statement, self.live_after, overlap, self.names))
            yield from _made(strided(statement, self.live_after, self.names))
            yield from _made(parted_sum(statement, self.names))
            yield from _made(promoted(statement, overlap, self.names))
            yield from _made(carried_element(statement, self.names))
            yield from _made(snapshot(statement, self.surroundings(states), self.names))
            if (tested := guarded(statement, self.surroundings(states), self.names)) is not None:
                choice, alone = tested
                self.serial.add(alone)
                yield ast.Block((choice,), choice.place)
            for idiom in DECISIVE:
                yield from _made(idiom(statement, self.live_after, self.names))

    def is_improvable(self, statement: ast.For, written: Cost | None) -> bool:
        """Whether another order could be better than the loop as it is written, at the given cost where it can be.

        A loop that repeats parallel nests over the same elements gains nothing.
        """
        if written is None:
            return True
        serial, launches, _ = written
        nested = any(depth > self.loops + 1 for depth in self.plan.depths.values())
        return serial > launches or (launches > 0 and (nested or _indexes(statement)))

    def attempt(self, start: Plan, make: Callable[[], States]) -> States:
        """What `make` leads to from the plan at the start, which stays as it was."""
        self.plan = start.copy()
        rest, place = list(self.rest), (self.depth, self.loops, self.outer, self.given)
        self.trials += 1
        try:
            return make()
        except Refused:
            self.rest, (self.depth, self.loops, self.outer, self.given) = rest, place
            raise
        finally:
            self.trials -= 1

    def surroundings(self, states: States) -> Surroundings:
        return Surroundings(
            functions=self.unit.functions,
            outer=tuple(self.outer),
            live_after=self.live_after,
            overlap=lambda a, b: pointers.overlap(states, a, b),
            given=self.given,
        )

    def as_written(self, statement: ast.For | ast.While, states: States) -> States:
        """A loop as a parallel nest where it is one, else on the host around the nests inside it."""
        reason = None
        if isinstance(statement, ast.For):
            try:
                around = self.surroundings(states)
                nest = parallel_nest(statement, around)
                if nest.atomic and (
                    promoted(statement, around.overlap, self.names) or guarded(statement, around, self.names)
                ):
                    message = f"iterations of the {loop_at(statement.place)} may update the same element"
                    raise Refused("loop-carried-dependence", message, statement.place)
                self.plan.nests[statement] = with_team(nest, around)
                self.plan.depths[statement] = self.loops
            except Refused as refusal:
                reason = refusal
            else:
                return states
        found = len(self.plan.parallel)
        try:
            after = self.host_loop(statement, states)
        except Refused as inner:
            raise (reason if reason is not None and _indexes(statement) else inner) from None
        if len(self.plan.parallel) == found and (call := host.spoken(statement)) is not None:
            self.plan.kept[statement] = call
        elif len(self.plan.parallel) == found and _touches_memory(statement):
            if reason is None:
                message = f"{loop_at(statement.place)} is a while loop with nothing parallel inside"
                reason = Refused("sequential-loop", message, statement.place)
            raise reason
        return after

    def host_loop(self, statement: ast.For | ast.While, states: States) -> States:
        again: list[ast.Stmt | ast.Expr] = [statement]
        if isinstance(statement, ast.For):
            if statement.init is not None:
                states = self.statement(statement.init, states)
            again = [dataclasses.replace(statement, init=None)]
            if statement.step is not None:
                host.check(self.unit, self.plan, statement.step)
                again.insert(0, statement.step)
        if statement.condition is not None:
            host.check(self.unit, self.plan, statement.condition)
            again.insert(0, statement.condition)
        states = pointers.repeated(states, statement)
        inside = states
        if statement.condition is not None and not (
            isinstance(statement, ast.While) and statement.test_after
        ):
            inside = pointers.entering(states, statement.condition, True)
        loop = counted(statement) if isinstance(statement, ast.For) else None
        known = (
            isinstance(loop, Loop) and not flow.written([statement.body]) & flow.names_in([loop.first]).keys()
        )
        outer = self.outer
        if isinstance(loop, Loop) and known:
            self.outer = [*outer, loop]
        self.rest.append(tuple(again))
        self.depth += 1
        self.loops += 1
        self.statement(statement.body, inside)
        self.loops -= 1
        self.depth -= 1
        self.rest.pop()
        self.outer = outer
        return states

    def live_after(self, name: str) -> bool:
        """Whether a variable's value is read after the statement that is being planned."""
        assigned = False
        for nodes in reversed(self.rest):
            use = flow.Use(name, nodes, assigned)
            if use.exposed:
                return True
            if not any(jumps(n) for n in nodes):
                assigned = use.assigned
        return False

    def return_from_device(self, nest: Nest, statement: ast.Return) -> None:
        """Lets the nest's last kernel store the function's result, where it is made of the one reduction."""
        if len(nest.reductions) != 1 or statement.value is None:
            return
        nodes = list(ast.walk(statement.value))
        names = flow.names_in([statement.value])
        plain = not any(
            isinstance(n, ast.Subscript | ast.Member | ast.Assign | ast.Step)
            or (isinstance(n, ast.Unary) and n.op in ("*", "&"))
            or (isinstance(n, ast.Call) and not is_library_function(n.function))
            for n in nodes
        )
        if plain and nest.reductions[0].name in names and all(n.type.scalar for n in names.values()):
            self.plan.returned[nest.statement] = statement


def _cost(before: Plan, after: Plan) -> Cost:
    made = {s: n for s, n in after.nests.items() if s not in before.nests}
    return cost(made, after.depths, after.single)


def _made(block: ast.Block | None) -> tuple[ast.Block, ...]:
    return () if block is None else (block,)


def _variables(function: ast.Function) -> Iterable[str]:
    body = [function.body]
    return (*(p.name for p in function.parameters), *flow.names_in(body), *flow.declared_in(body))


def _indexes(statement: ast.For | ast.While) -> bool:
    """Whether a loop's own variable appears in a subscript: if not, it only repeats what stands inside."""
    loop = counted(statement) if isinstance(statement, ast.For) else None
    if loop is None or isinstance(loop, str):
        return False
    indices = [n.index for n in ast.walk(statement.body) if isinstance(n, ast.Subscript)]
    return loop.variable in flow.names_in(indices)


def _touches_memory(statement: ast.Stmt) -> bool:
    return any(
        isinstance(n, ast.Subscript)
        or (isinstance(n, ast.Unary) and n.op == "*")
        or (isinstance(n, ast.Member) and n.arrow)
        for n in ast.walk(statement)
    )
