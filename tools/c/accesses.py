"""Finds which elements of its arrays a C function touches, by running it symbolically.

A loop's body runs first on trial, each variable that it changes at an unknown start: what an iteration adds to
it shows at the end. Then it runs as iteration t, where such a variable is its start plus t times that (an
induction variable in the sense of Aho, Lam, Sethi and Ullman, 'Compilers', section 9.1). Helpers that the file
defines are followed with their arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from . import ast
from .annotations import Annotation
from .bounds import ITERATION, Facts, TooIntricateError, age
from .calls import global_uses
from .induction import Head, Loop, counts_of, offset_of, open_condition
from .library import ALLOCATES, COPIES, HOSTED, PURE, SPEAKS, is_told
from .memory import Access, Array, Pointer, State, Value, merged, moved, pointed
from .polynomial import Polynomial, constant, quotient
from .spell import spell
from .symbolic import Evaluator

_DEEPEST_CALL = 16
_MOST_TARGETS = 16
_GUESSES = 3  # how often a supposed bound of a loop's variable is corrected before it is given up


@dataclass(frozen=True)
class Touched:
    """What a function touches. `arrays` are all that it knows; `counts` are how often its loops run at most,
    `bounding` the names that say so.

    `globals_read` and `globals_written` are the scalar globals, each with a place that does so.
    """

    arrays: tuple[Array, ...]
    accesses: tuple[Access, ...]
    counts: tuple[Polynomial, ...]
    bounding: frozenset[str]
    globals_read: dict[str, ast.Place]
    globals_written: dict[str, ast.Place]


def touched(
    unit: ast.Unit, function: ast.Function, annotations: Mapping[str, Annotation] | None = None
) -> Touched:
    """Runs a function of the unit symbolically. Raises SourceError where it cannot be followed."""
    walker = _Walker(unit, annotations or {})
    state = State({})
    for name in global_uses(unit, function.name):
        walker.declare_global(name, state)
    for parameter in function.parameters:
        # The lengths of a parameter speak of those before it.
        walker.names[parameter.name] = f"{parameter.name}#"
        value = walker.variable_value(parameter.name, parameter.type, "param", state)
        state.values[f"{parameter.name}#"] = value
    declared = [p.array for v in state.values.values() if isinstance(v, frozenset) for p in v]
    try:
        walker.body(function, state)
    except TooIntricateError:
        message = f"the subscripts of {function.name}() are too intricate to be bounded"
        raise walker.error(message, function.place, "write its loops more plainly") from None
    accesses = tuple(walker.accesses.values())
    return Touched(
        tuple(dict.fromkeys([*declared, *(access.array for access in accesses)])),
        accesses,
        tuple(walker.counts),
        frozenset(walker.bounding),
        walker.globals_read,
        walker.globals_written,
    )


@dataclass
class _Exits:
    """The states in which a loop or function was left early."""

    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    returns: list[tuple[Value, State]] = field(default_factory=list)


class _Walker(Evaluator):
    """Runs statements. A statement's result is the state after it; None where control does not get there."""

    def __init__(self, unit: ast.Unit, annotations: Mapping[str, Annotation]) -> None:
        super().__init__(unit, annotations)
        self.bounding: set[str] = set()
        self.counts: dict[Polynomial, None] = {}
        self.calls: list[str] = []
        self.frames = 0

    def body(self, function: ast.Function, state: State) -> tuple[Value, State]:
        """Runs a function's body; returns its value and the state at its end."""
        self.calls.append(function.name)
        exits = _Exits()
        end = self.statement(function.body, state, exits)
        self.calls.pop()
        ends = [*exits.returns, *([(None, end)] if end else [])]
        if not ends:
            return None, state
        return self.joined([(value, s.facts) for value, s in ends]), self.joined_states([s for _, s in ends])

    def statement(self, statement: ast.Stmt | None, state: State, exits: _Exits) -> State | None:
        match statement:
            case None:
                return state
            case ast.Block(body=body):
                outer = self.names
                self.names = dict(outer)
                current: State | None = state
                for inner in body:
                    if current is None:
                        break
                    current = self.statement(inner, current, exits)
                self.names = outer
                return current
            case ast.Declare(variables=variables):
                for variable in variables:
                    self.declare(variable, state)
                return state
            case ast.Evaluate(expression=expression):
                self.value(expression, state)
                return state
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                true, false = self.condition(condition, state)
                ends = (
                    self.statement(then, state.copy(true), exits),
                    self.statement(otherwise, state.copy(false), exits),
                )
                reached = [end for end in ends if end is not None]
                return self.joined_states(reached) if reached else None
            case ast.For(init=init, condition=condition, step=step, body=body):
                outer = self.names
                self.names = dict(outer)
                started = self.statement(init, state, exits)
                assert started is not None
                after = self.loop(Loop(open_condition(condition), body, step, False), started, exits)
                self.names = outer
                return after
            case ast.While(condition=ast.Literal(value=0), body=body, test_after=True):
                once = _Exits(returns=exits.returns)
                ended = self.statement(body, state, once)
                left = [*once.breaks, *once.continues, *([ended] if ended else [])]
                return self.joined_states(left) if left else None
            case ast.While(condition=condition, body=body, test_after=test_after):
                return self.loop(Loop(open_condition(condition), body, None, test_after), state, exits)
            case ast.Return(value=value):
                result = None if value is None else self.value(value, state)
                exits.returns.append((result, state))
                return None
            case ast.Jump(kind="break"):
                exits.breaks.append(state)
                return None
            case ast.Jump():
                exits.continues.append(state)
                return None

    def declare(self, variable: ast.Variable, state: State) -> None:
        place = variable.place
        if variable.static and not variable.type.const and not _constant_elements(variable.type):
            raise self.error(f"'{variable.name}' is static and keeps its value between calls", place)
        key = f"{variable.name}#{place.line}:{place.column}:{self.frames}"
        if variable.type.kind == "array":
            value = self.variable_value(key, variable.type, "local", state)
            if variable.init is not None:
                self.value(variable.init, state)
        elif variable.init is not None:
            value = self.converted(self.value(variable.init, state), variable.type)
        else:
            value = self.unknown(variable.type)
        self.names[variable.name] = key
        state.values[key] = value

    # Loops.

    def loop(self, loop: Loop, state: State, exits: _Exits) -> State | None:
        iteration = self.bounds.free(ITERATION, [0])
        head = self.head(loop, state, iteration)
        if loop.test_after:
            self.quiet += 1
            trial = self.once(loop, head(iteration), _Exits(), iteration)
            self.quiet -= 1
            self.bounds.limit(iteration, (n - 1 for n in counts_of(trial.true, iteration, loop)))
        inner = _Exits(returns=exits.returns)
        returned = len(exits.returns)
        ran = self.once(loop, head(iteration), inner, iteration)
        counts = counts_of(ran.true, iteration, loop)
        self.bounds.limit(iteration, (n - 1 for n in counts))
        if not self.quiet:
            self.bounding |= {n for bound in counts or ran.true for n in bound.names if "@" not in n}
            self.counts |= dict.fromkeys(bound for n in counts for bound in self.bounds.uppers(n))
        ends = list(inner.breaks)
        if loop.condition is not None:
            left_early = inner.breaks or len(exits.returns) > returned
            exact = len(ran.true) == len(counts) == 1 and ran.false and not left_early
            last = counts[0] if exact else self.bounds.free(ITERATION, [0], counts)
            ends += self.left(loop, head, last, iteration)
        return self.joined_states(ends) if ends else None

    def left(self, loop: Loop, head: Head, last: Polynomial, iteration: Polynomial) -> list[State]:
        """The state after the loop's condition failed, `last` iterations after the start."""
        self.quiet += 1
        if loop.test_after:
            end = self.once(loop, head(last - 1), _Exits(), iteration).end
        else:
            end = head(last)
            assert loop.condition is not None
            _, false = self.condition(loop.condition, end, iteration)
            end.facts = merged(end.facts, false)
        self.quiet -= 1
        return [end] if end else []

    def once(self, loop: Loop, head: State, exits: _Exits, iteration: Polynomial) -> _Ran:
        """Runs one iteration from its head."""
        true: Facts = ()
        false: Facts = ()
        if loop.condition is not None and not loop.test_after:
            true, false = self.condition(loop.condition, head, iteration)
        exits.continues = []
        current = self.statement(loop.body, head.copy(true), exits)
        ends = [*exits.continues, *([current] if current else [])]
        if not ends:
            return _Ran(None, true, false)
        end = self.joined_states(ends)
        if loop.step is not None:
            self.value(loop.step, end)
        if loop.condition is not None and loop.test_after:
            true, false = self.condition(loop.condition, end, iteration)
        return _Ran(end, true, false)

    def head(self, loop: Loop, state: State, iteration: Polynomial) -> Head:
        """The state at the head of an iteration, as a function of the iteration's number."""
        changed = self.changed(loop, state)
        head = Head(self.bounds, state, iteration)
        self.quiet += 1
        while True:
            probes = {key: self.bounds.free(key) for key in changed if head.countable(key, changed)}
            for key, probe in probes.items():
                head.unknown[key] = probe
            end = self.once(loop, head(iteration), _Exits(), iteration).end
            head.unknown.clear()
            if any(len(pointers) > _MOST_TARGETS for pointers in head.widened.values()):
                raise self.error("cannot tell where a pointer that this loop sets points", loop.body.place)
            if end is None or not head.widen(end, changed.keys() - probes.keys()):
                break
        if end is not None:
            unresolved = [key for key, probe in probes.items() if not self.resolve(head, key, probe, end)]
            self.suppose(loop, head, unresolved)
        self.quiet -= 1
        return head

    def resolve(self, head: Head, key: str, probe: Polynomial, end: State) -> bool:
        """Finds what one iteration adds to a variable: a known step, else constant bounds of it."""
        now, start = offset_of(end.values.get(key)), offset_of(head.state.values[key])
        head.ranges[key] = ([], [])
        if now is None or start is None:
            return True
        step = now - probe
        if age(step) < age(head.iteration):
            head.steps[key] = step
            del head.ranges[key]
            return True
        steps = (self.bounds.lowers(step, end.facts), self.bounds.uppers(step, end.facts))
        for bounds, found in zip(steps, head.ranges[key], strict=True):
            found += [start + bound * head.iteration for bound in bounds if bound.value is not None]
        return bool(head.ranges[key][0] or head.ranges[key][1])

    def suppose(self, loop: Loop, head: Head, keys: list[str]) -> None:
        """Induction: bounds that hold at the start, and after an iteration if all held before it.

        First the start itself, then what an iteration sets a variable to, then nothing.
        """
        starts = {key: start for key in keys if isinstance(start := head.state.values[key], Polynomial)}
        supposed = {(key, upper): start for key, start in starts.items() for upper in (False, True)}
        tries: Counter[tuple[str, bool]] = Counter()
        while supposed:
            end = self.once(loop, head.supposing(supposed)(head.iteration), _Exits(), head.iteration).end
            assert end is not None
            broken = [side for side, bound in supposed.items() if not self.within(side, end, bound)]
            for side in broken:
                tries[side] += 1
                guess = self.guess(side, head.state, end, tries[side])
                if guess is None or guess == supposed.pop(side):
                    supposed.pop(side, None)
                else:
                    supposed[side] = guess
            if not broken:
                # What a guess took too wide, one more iteration narrows.
                for side in supposed if tries else ():
                    supposed[side] = self.guess(side, head.state, end, 1) or supposed[side]
                break
        for (key, upper), bound in supposed.items():
            head.ranges[key][upper].append(bound)

    def within(self, side: tuple[str, bool], end: State, bound: Polynomial) -> bool:
        now = end.values.get(side[0])
        if not isinstance(now, Polynomial):
            return False
        return self.bounds.proves(bound - now if side[1] else now - bound, end.facts)

    def guess(self, side: tuple[str, bool], start: State, end: State, tried: int) -> Polynomial | None:
        """A bound of a variable's start and of its value at the end."""
        key, upper = side
        first, now = start.values[key], end.values.get(key)
        if not isinstance(first, Polynomial) or not isinstance(now, Polynomial) or tried > _GUESSES:
            return None
        if tried == _GUESSES:
            return None if upper or not self.bounds.proves(first, start.facts) else constant(0)
        sign = 1 if upper else -1
        bounds = self.above([(sign * first, start.facts), (sign * now, end.facts)])
        return sign * bounds[-1] if bounds else None

    def changed(self, loop: Loop, state: State) -> dict[str, bool]:
        """The variables that a loop changes, and whether each only steps up or down."""
        changed: dict[str, bool] = {}
        parts = [part for part in (loop.condition, loop.body, loop.step) if part is not None]
        for name, steps in self.changes(parts):
            key = name.name if name.scope == "global" else self.names.get(name.name, "")
            if key in state.values:
                changed[key] = changed.get(key, True) and steps
        return changed

    def changes(self, parts: Iterable[ast.Expr | ast.Stmt]) -> Iterator[tuple[ast.Name, bool]]:
        for node in (node for part in parts for node in ast.walk(part)):
            match node:
                case ast.Assign("=", ast.Name() as name, ast.Binary("+" | "-", ast.Name() as base)):
                    yield name, base.name == name.name
                case ast.Assign(op=op, target=ast.Name() as name):
                    yield name, op in ("+=", "-=")
                case ast.Step(target=ast.Name() as name):
                    yield name, True
                case ast.Unary(op="&", operand=ast.Name() as name):
                    yield name, False
                case ast.Call(function=function) if function in self.unit.functions:
                    yield from self.global_changes(function)

    def global_changes(self, function: str) -> Iterator[tuple[ast.Name, bool]]:
        if function not in self.calls:
            self.calls.append(function)
            for name, steps in self.changes([self.unit.functions[function].body]):
                if name.scope == "global":
                    yield name, steps
            self.calls.pop()

    # Calls.

    def call(self, call: ast.Call, state: State) -> Value:
        values = [self.value(argument, state) for argument in call.arguments]
        name = call.function
        if name in self.unit.functions:
            return self.follow(self.unit.functions[name], call, values, state)
        if name in self.unit.unsupported:
            construct, place = self.unit.unsupported[name]
            raise self.error(f"{name}() uses what is not supported: {construct}", place)
        if name in ALLOCATES:
            heap = f"{name}#{call.place.line}:{call.place.column}"
            void = ast.CType("void", "void")
            return frozenset([Pointer(Array(heap, "local", void, (None,)), (constant(0),))])
        if name in COPIES or name == "memset":
            self.touch(call, values, state)
            return values[0]
        if name in ("abs", "labs", "llabs") and isinstance(value := values[0], Polynomial):
            both = [(value, state.facts), (-value, state.facts)]
            return self.bounds.free("abs", [0], self.above(both))
        if name in PURE or name == "free":
            return self.unknown(call.type)
        if name in SPEAKS:
            for argument in call.arguments:
                if not is_told(argument):
                    message = f"cannot tell how much {name}() reads of '{spell(argument)}'"
                    raise self.error(message, argument.place, "pass it single elements")
            return self.unknown(call.type)
        if name in HOSTED:
            raise self.error(f"{self.calls[-1]}() calls {name}(), which {HOSTED[name]}", call.place)
        remedy = f"put the definition of {name}() into this file, or choose another function with --function"
        raise self.error(
            f"{self.calls[-1]}() calls {name}(), which this file does not define", call.place, remedy
        )

    def follow(self, function: ast.Function, call: ast.Call, values: list[Value], state: State) -> Value:
        if function.name in self.calls or len(self.calls) > _DEEPEST_CALL:
            raise self.error(f"{function.name}() calls itself", call.place, "write it as a loop")
        outer = self.names
        self.names = {}
        self.frames += 1
        for parameter, argument, value in zip(function.parameters, call.arguments, values, strict=True):
            key = f"{parameter.name}#{self.frames}"
            state.values[key] = self.passed(value, parameter.type, argument)
            self.names[parameter.name] = key
        result, end = self.body(function, state)
        self.names = outer
        state.values, state.facts, state.written = end.values, end.facts, end.written
        return self.converted(result, function.result)

    def passed(self, value: Value, type: ast.CType, argument: ast.Expr) -> Value:
        if isinstance(value, frozenset) and type.element is not None:
            return frozenset(self.reinterpreted(p, type, argument) for p in value)
        return self.converted(value, type)

    def touch(self, call: ast.Call, values: list[Value], state: State) -> None:
        """Records what memcpy, memmove and memset touch."""
        count = values[2]
        for argument, value, writes in zip(call.arguments[:2], values[:2], (True, False), strict=True):
            for pointer in value if isinstance(value, frozenset) else ():
                size = pointer.array.element.size
                if not isinstance(count, Polynomial) or size is None:
                    continue
                first = replace(pointer, index=(*pointer.index, *(constant(0),) * pointer.depth))
                offset = self.bounds.free(ITERATION, [0], [quotient(count, constant(size)) - 1])
                (last,) = pointed(moved(frozenset([first]), offset))
                self.record(last, writes, argument, state)


@dataclass(frozen=True)
class _Ran:
    """The state at the end of an iteration, and what its condition tells where it holds and where not."""

    end: State | None
    true: Facts
    false: Facts


def _constant_elements(type: ast.CType) -> bool:
    while type.kind == "array" and type.element is not None:
        type = type.element
    return type.const
