"""Evaluates C expressions symbolically, once for all inputs, and records which array elements they touch.

An integer's value is a polynomial of the parameters and of free values (`tools.c.bounds`); a pointer's value
is the set of places that it may point to. Numbers that are no integers have no value here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from . import ast
from .annotations import Annotation, bound
from .ast import CType, Place
from .bounds import Bounds, Facts
from .memory import (
    LOADED,
    Access,
    Array,
    Cell,
    Pointer,
    Scope,
    State,
    Value,
    alike,
    distance,
    inside,
    loaded_from,
    merged,
    moved,
    pitches,
    pointed,
    sources,
)
from .parse import SourceError
from .polynomial import Polynomial, apply, atom, constant, maximum
from .spell import spell


class Evaluator:
    """Evaluates expressions in a state, which it changes. `quiet` above 0: a trial, nothing is recorded."""

    def __init__(self, unit: ast.Unit, annotations: Mapping[str, Annotation]) -> None:
        self.unit = unit
        self.annotations = annotations
        self.bounds = Bounds()
        self.accesses: dict[tuple[object, ...], Access] = {}
        self.globals_read: dict[str, Place] = {}
        self.globals_written: dict[str, Place] = {}
        self.names: dict[str, str] = {}
        self.quiet = 0

    # Values.

    def unknown(self, type: CType, stem: str = "v") -> Value:
        """A value of which only the type is known."""
        if type.kind == "bool":
            return self.bounds.free(stem, [0], [1])
        if type.kind not in ("int", "enum"):
            return None
        bits = 8 * (type.size or 4)
        if bits > 16:
            return self.bounds.free(stem, [] if type.signed else [0])
        if type.signed:
            return self.bounds.free(stem, [-(1 << bits - 1)], [(1 << bits - 1) - 1])
        return self.bounds.free(stem, [0], [(1 << bits) - 1])

    def integer(self, expression: ast.Expr, state: State) -> Polynomial:
        value = self.value(expression, state)
        return value if isinstance(value, Polynomial) else self.bounds.free("v")

    def pointers(self, expression: ast.Expr, state: State) -> frozenset[Pointer]:
        value = self.value(expression, state)
        if isinstance(value, frozenset):
            return value
        raise self.error(f"cannot tell where '{spell(expression)}' points", expression.place)

    def converted(self, value: Value, type: CType) -> Value:
        """An integer converted to an integer type: unchanged where it surely fits."""
        if type.kind not in ("int", "bool", "enum") or not isinstance(value, Polynomial):
            return value if type.kind in ("pointer", "array") else self.unknown(type)
        if type.kind == "bool" or (type.size or 4) < 4:
            fit = self.unknown(type)
            assert isinstance(fit, Polynomial)
            least, most = self.bounds.lowers(fit)[0], self.bounds.uppers(fit)[0]
            fits = self.bounds.proves(value - least) and self.bounds.proves(most - value)
            return value if fits else fit
        return value

    def error(self, message: str, place: Place, remedy: str = "") -> SourceError:
        return SourceError(message, place.file, place.line, place.column, remedy)

    # Expressions.

    def value(self, expression: ast.Expr, state: State) -> Value:
        match expression:
            case ast.Literal(value=int() as number) if expression.type.kind != "float":
                return constant(number)
            case ast.Name(value=int() as number):
                return constant(number)
            case ast.Name() | ast.Subscript() | ast.Member() | ast.Unary(op="*"):
                return self.load(self.cell(expression, state), expression, state)
            case ast.Unary(op="&", operand=operand):
                return self.address(operand, state)
            case ast.Unary(op="!"):
                self.condition(expression, state)
                return self.bounds.free("c", [0], [1])
            case ast.Unary(op=op, operand=operand):
                value = self.value(operand, state)
                if not isinstance(value, Polynomial) or expression.type.kind == "float":
                    return self.unknown(expression.type)
                return value if op == "+" else -value - (op == "~")
            case ast.Binary():
                return self.binary(expression, state)
            case ast.Assign():
                return self.assign(expression, state)
            case ast.Step(op=op, prefix=prefix, target=target):
                old = self.value(target, state)
                new = moved(old, constant(1 if op == "++" else -1))
                self.store(self.cell(target, state), self.converted(new, target.type), target, state)
                return new if prefix else old
            case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
                true, false = self.condition(condition, state)
                first, second = state.copy(true), state.copy(false)
                values = (self.value(then, first), self.value(otherwise, second))
                state.values = self.joined_states([first, second]).values
                return self.joined(list(zip(values, (first.facts, second.facts), strict=True)))
            case ast.Cast(operand=operand, type=type):
                return self.cast(operand, type, state)
            case ast.Call():
                return self.call(expression, state)
            case ast.InitList(items=items):
                for item in items:
                    self.value(item, state)
                return None
            case _:
                return None

    def binary(self, expression: ast.Binary, state: State) -> Value:
        op, left, right = expression.op, expression.left, expression.right
        if op == ",":
            self.value(left, state)
            return self.value(right, state)
        if op in ("&&", "||", "<", "<=", ">", ">=", "==", "!="):
            self.condition(expression, state)
            return self.bounds.free("c", [0], [1])
        first, second = self.value(left, state), self.value(right, state)
        return self.combined(op, first, second, expression.type, state)

    def combined(self, op: str, first: Value, second: Value, type: CType, state: State) -> Value:
        """The value of an arithmetic operator."""
        if isinstance(first, frozenset) and isinstance(second, Polynomial):
            return moved(first, second if op == "+" else -second)
        if isinstance(second, frozenset) and isinstance(first, Polynomial):
            return moved(second, first)
        if isinstance(first, frozenset) and isinstance(second, frozenset):
            apart = distance(first, second)
            return self.unknown(type) if apart is None else apart
        if not isinstance(first, Polynomial) or not isinstance(second, Polynomial) or type.kind == "float":
            return self.unknown(type)
        if (result := apply(op, first, second)) is not None:
            bits = 8 * (type.size or 4) - (second.value or 0)
            if op == ">>" and not type.signed and bits <= 16 and not self.bounds.uppers(result, state.facts):
                # What wraps around has no bound before its upper bits are taken.
                return self.bounds.free("v", [0], [(1 << bits) - 1])
            return result
        if op == "&":
            # A mask that is not negative bounds the result, whatever the other operand.
            masks = [v for v in (first, second) if self.bounds.proves(v, state.facts)]
            return self.bounds.free("m", [0] if masks else [], masks)
        return self.unknown(type)

    def assign(self, expression: ast.Assign, state: State) -> Value:
        value = self.value(expression.value, state)
        target = expression.target
        cell = self.cell(target, state)
        if expression.op != "=":
            old = self.load(cell, target, state)
            value = self.combined(expression.op[:-1], old, value, target.type, state)
        value = self.converted(value, target.type)
        self.store(cell, value, target, state)
        return value

    def cast(self, operand: ast.Expr, type: CType, state: State) -> Value:
        value = self.value(operand, state)
        if type.kind == "pointer" and isinstance(value, frozenset):
            return frozenset(self.reinterpreted(p, type, operand) for p in value)
        return self.converted(value, type)

    def reinterpreted(self, pointer: Pointer, type: CType, operand: ast.Expr) -> Pointer:
        """A pointer cast: between an array and its elements, or to bytes and back."""
        element, depth = type.element, 0
        while element is not None and element.kind == "array":
            element, depth = element.element, depth + 1
        if element is not None and pointer.array.element.kind == "void":
            return replace(pointer, array=replace(pointer.array, element=element))
        same = element is not None and alike(element, pointer.array.element)
        if same and depth < pointer.depth:
            zeros = (constant(0),) * (pointer.depth - depth)
            return replace(pointer, index=(*pointer.index, *zeros))
        if (same and depth == pointer.depth) or pointer.inside or (element and element.kind == "void"):
            return pointer
        message = f"the pointer '{spell(operand)}' is cast to '{type.spelling}'"
        raise self.error(message, operand.place, "use a pointer of the array's own type")

    def address(self, operand: ast.Expr, state: State) -> Value:
        cell = self.cell(operand, state)
        if isinstance(cell, str):
            array = Array(cell, "variable", operand.type, (None,))
            return frozenset([Pointer(array, (constant(0),))])
        return cell

    # Lvalues.

    def cell(self, expression: ast.Expr, state: State) -> Cell:
        """What an lvalue names; evaluates its subscripts."""
        match expression:
            case ast.Name(name=name, scope=scope):
                if scope != "global":
                    return self.names[name]
                self.declare_global(expression, state)
                return pointed(state.values[name]) if expression.type.kind == "struct" else name
            case ast.Subscript(base=base, index=index):
                by = self.integer(index, state)
                return self.inner(moved(self.pointers(base, state), by), expression.type)
            case ast.Unary(op="*", operand=operand):
                return self.inner(self.pointers(operand, state), expression.type)
            case ast.Member(base=base, arrow=True):
                return inside(self.pointers(base, state))
            case ast.Member(base=base, field=field):
                cell = self.cell(base, state)
                if isinstance(cell, frozenset):
                    return inside(cell)
                if isinstance(cell, str) and expression.type.kind == "array":
                    return pointed(self.variable_value(f"{cell}.{field}", expression.type, "local", state))
                return None
            case _:
                self.value(expression, state)
                return None

    def inner(self, pointers: Value, type: CType) -> Cell:
        """The elements pointed to; for an element that is itself an array, its first element."""
        if type.kind != "array":
            return pointed(pointers)
        first = (constant(0),)
        return frozenset(p if p.inside else replace(p, index=(*p.index, *first)) for p in pointed(pointers))

    def declare_global(self, name: ast.Name, state: State) -> None:
        if name.name in state.values:
            return
        if name.name in self.unit.unsupported:
            construct, place = self.unit.unsupported[name.name]
            raise self.error(f"the global '{name.name}' uses what is not supported: {construct}", place)
        state.values[name.name] = self.variable_value(name.name, name.type, "global", state)

    def variable_value(self, name: str, type: CType, scope: Scope, state: State) -> Value:
        """What a parameter, global or local array is at the start; a struct counts as an array of one."""
        if type.kind in ("array", "pointer", "struct"):
            array = self.array(name, type, scope, state)
            return frozenset([Pointer(array, (constant(0),))])
        return atom(name) if type.kind in ("int", "bool", "enum") else None

    def array(self, name: str, type: CType, scope: Scope, state: State) -> Array:
        lengths: list[Polynomial | None] = [] if type.kind == "array" else [None]
        element: CType | None = type.element if type.kind == "pointer" else type
        while element is not None and element.kind == "array":
            length = element.length
            if isinstance(length, int):
                lengths.append(constant(length))
            else:
                lengths.append(None if length is None else self.integer(length, state))
            element = element.element
        assert element is not None
        return Array(name, scope, element, tuple(lengths))

    def load(self, cell: Cell, expression: ast.Expr, state: State) -> Value:
        if isinstance(cell, str):
            if expression.type.kind not in ("array", "pointer") and "#" not in cell:
                self.globals_read.setdefault(cell, expression.place)
            return state.values.get(cell)
        if cell is None:
            return self.unknown(expression.type)
        if expression.type.kind == "array":
            return cell
        for pointer in cell:
            if (pointer.array, pointer.index) not in state.written:
                self.record(pointer, False, expression, state)
        (array, *others) = {p.array for p in cell}
        return self.unknown(expression.type) if others else self.loaded(array, expression.type)

    def loaded(self, array: Array, type: CType) -> Value:
        """A value loaded from an array; an annotation may say within what bounds it lies."""
        told = self.annotations.get(array.name)
        stem = f"{array.name}{LOADED}"
        if told is None or not (told.low or told.high) or type.kind not in ("int", "enum"):
            return self.unknown(type, stem)
        return self.bounds.free(stem, bound(told.low), bound(told.high))

    def store(self, cell: Cell, value: Value, expression: ast.Expr, state: State) -> None:
        if isinstance(cell, str):
            if expression.type.kind not in ("array", "pointer") and "#" not in cell:
                self.globals_written.setdefault(cell, expression.place)
            state.values[cell] = value
        elif cell is not None:
            for pointer in cell:
                self.record(pointer, True, expression, state)
                if pointer.array.scope == "variable":
                    sure = value if len(cell) == 1 else self.unknown(expression.type)
                    state.values[pointer.array.name] = sure
            if len(cell) == 1 and not next(iter(cell)).inside:
                state.written |= {(p.array, p.index) for p in cell}

    def record(self, pointer: Pointer, writes: bool, expression: ast.Expr, state: State) -> None:
        array = pointer.array
        if self.quiet or array.scope == "variable":
            return
        key = (array, writes, pointer.index, state.facts)
        if key not in self.accesses:
            lowers = tuple(self.bounds.lowers(i, state.facts) for i in pointer.index)
            uppers = tuple(self.bounds.uppers(i, state.facts) for i in pointer.index)
            given = self.bounds.implied(state.facts)
            moves = pitches(pointer.index[-1])
            text, place = spell(expression), expression.place
            loaded = tuple(loaded_from(i) for i in pointer.index)
            self.accesses[key] = Access(
                array, writes, lowers, uppers, given, moves, loaded, *sources(pointer.index), text, place
            )

    # Conditions and joins.

    def condition(
        self, expression: ast.Expr, state: State, counter: Polynomial | None = None
    ) -> tuple[Facts, Facts]:
        """What is known where a condition holds, and where it does not. `counter` is a loop's iteration."""
        match expression:
            case ast.Unary(op="!", operand=operand):
                true, false = self.condition(operand, state, counter)
                return false, true
            case ast.Binary(op="&&" | "||" as op, left=left, right=right):
                true, false = self.condition(left, state, counter)
                inner = State(state.values, merged(state.facts, true if op == "&&" else false), state.written)
                right_true, right_false = self.condition(right, inner, counter)
                return (merged(true, right_true), ()) if op == "&&" else ((), merged(false, right_false))
            case ast.Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" as op, left=left, right=right):
                first, second = self.value(left, state), self.value(right, state)
                if isinstance(first, frozenset) and isinstance(second, frozenset):
                    difference = distance(first, second)
                elif isinstance(first, Polynomial) and isinstance(second, Polynomial):
                    difference = first - second
                else:
                    return (), ()
                if difference is None:
                    return (), ()
                true, false = self.compared(op, difference, state, counter)
                return self.older(true), self.older(false)
            case _:
                value = self.value(expression, state)
                if not isinstance(value, Polynomial):
                    return (), ()
                return self.compared("!=", value, state, counter)

    def older(self, facts: Facts) -> Facts:
        return merged(*(self.bounds.weakened(fact) for fact in facts))

    def compared(
        self, op: str, difference: Polynomial, state: State, counter: Polynomial | None
    ) -> tuple[Facts, Facts]:
        match op:
            case ">":
                return (difference - 1,), (-difference,)
            case ">=":
                return (difference,), (-difference - 1,)
            case "<":
                return (-difference - 1,), (difference,)
            case "<=":
                return (-difference,), (difference - 1,)
        equal = (difference, -difference)
        unequal: Facts = ()
        if self.bounds.proves(difference, state.facts):
            unequal = (difference - 1,)
        elif self.bounds.proves(-difference, state.facts):
            unequal = (-difference - 1,)
        elif counter is not None:
            # A loop until two values meet starts on the side that its counter leaves.
            speed = difference.coefficient(next(iter(counter.atoms))).value or 0
            unequal = (difference * (1 if speed < 0 else -1) - 1,) if speed else ()
        return (equal, unequal) if op == "==" else (unequal, equal)

    def joined(self, branches: Sequence[tuple[Value, Facts]]) -> Value:
        """One value for what several branches leave, each with the facts that hold there."""
        values = [value for value, _ in branches]
        if all(value == values[0] for value in values):
            return values[0]
        if all(isinstance(value, frozenset) for value in values):
            return frozenset().union(*(v for v in values if isinstance(v, frozenset)))
        known = [(value, facts) for value, facts in branches if isinstance(value, Polynomial)]
        if len(known) < len(branches):
            return None
        negated = [(-value, facts) for value, facts in known]
        return self.bounds.free("j", (-bound for bound in self.above(negated)), self.above(known))

    def above(self, branches: Sequence[tuple[Polynomial, Facts]]) -> list[Polynomial]:
        """Upper bounds of the values that several branches leave."""
        proves = self.bounds.proves
        bounds = [
            value
            for value in dict.fromkeys(value for value, _ in branches)
            if all(proves(value - other, facts) for other, facts in branches)
        ]
        eliminated = [self.bounds.uppers(value, facts) for value, facts in branches]
        if all(eliminated):
            most = eliminated[0][0]
            for uppers in eliminated[1:]:
                most = maximum(most, uppers[0])
            bounds.append(most)
        return bounds

    def joined_states(self, states: Sequence[State]) -> State:
        if len(states) == 1:
            return states[0]
        keys = dict.fromkeys(key for state in states for key in state.values)
        values = {key: self.joined([(s.values.get(key), s.facts) for s in states]) for key in keys}
        facts = tuple(fact for fact in states[0].facts if all(fact in s.facts for s in states[1:]))
        written = frozenset.intersection(*(s.written for s in states))
        return State(values, facts, written)

    def call(self, call: ast.Call, state: State) -> Value:
        raise NotImplementedError
