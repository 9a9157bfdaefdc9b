"""Evaluates expressions symbolically, and records which elements of memory they touch.

An integer is a polynomial of the loop variables, of values that the nest does not change, and of unknowns (``?1``),
which stand for anything that satisfies their definition. Integer arithmetic is taken not to overflow, which C leaves
undefined for signed integers; products with constants as large as those of hash functions are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal as OneOf

from ...tools.c import ast
from ...tools.c.polynomial import Polynomial, atom, constant
from .formula import ANY, NEGATED, Formula, at_least, comparison, equal
from .loops import Loop
from .refusals import Refused

_ATOMIC_UPDATES = {"+=": "+", "-=": "+", "++": "+", "--": "+"}


@dataclass(frozen=True)
class Location:
    """An element of memory: the variable through which it is reached, then subscripts and field names.

    The root of a variable's own storage is ``=name``.
    """

    root: str
    steps: tuple[Polynomial | str, ...]

    def moved(self, by: Polynomial) -> Location:
        if not self.steps or isinstance(self.steps[-1], str):
            return self
        return Location(self.root, (*self.steps[:-1], self.steps[-1] + by))

    def inside(self, *steps: Polynomial | str) -> Location:
        return Location(self.root, (*self.steps, *steps))


Value = Polynomial | Location | None
"""An integer, a pointer, or anything else."""


@dataclass(frozen=True)
class Access:
    """One access of memory that outlives the iteration. `domain` holds whenever it happens.

    `update` is set on both halves of an integer update that could be atomic. `conditional`: some iterations may go
    without it. `inner` are the counted loops around it inside the iteration, with the names of their variables' values;
    `helper` is the function that it stands in.
    """

    location: Location
    kind: OneOf["read", "write"]
    expression: ast.Expr
    domain: Formula
    conditional: bool
    inner: tuple[tuple[str, Loop], ...]
    update: str | None = None
    helper: str | None = None


class Evaluator:
    """The state of a symbolic execution: values of variables, what holds on the way here, what was touched so far."""

    def __init__(self, functions: Mapping[str, ast.Function]) -> None:
        self.functions = functions
        self.env: dict[str, Value] = {}
        self.found: list[Access] = []
        self.definitions: dict[str, Formula] = {}
        self.written_globals: dict[str, ast.Place] = {}
        self.path = ANY
        self.branches = 0
        self.inner: tuple[tuple[str, Loop], ...] = ()
        self.natural: set[str] = set()
        self.private: set[str] = set()
        self.calls: tuple[str, ...] = ()
        self.unknowns = 0
        self.discards: ast.Expr | None = None

    def fresh(self, define: Formula = ANY) -> Polynomial:
        self.unknowns += 1
        name = f"?{self.unknowns}"
        self.definitions[name] = define
        return atom(name)

    def either(self, one: Value, when: Formula, other: Value, unless: Formula, place: ast.Place) -> Value:
        """The value that is `one` or `other`, as the conditions say."""
        if isinstance(one, Polynomial) and isinstance(other, Polynomial):
            value = self.fresh()
            (name,) = value.names
            self.definitions[name] = (when & equal(value, one)) | (unless & equal(value, other))
            return value
        if isinstance(one, Location) and isinstance(other, Location):
            if one.root != other.root or one.steps[:-1] != other.steps[:-1]:
                raise Refused("pointer-arithmetic", "a pointer may point to one array or another", place)
            index = self.either(one.steps[-1], when, other.steps[-1], unless, place)  # type: ignore[arg-type]
            return Location(one.root, (*one.steps[:-1], index))  # type: ignore[arg-type]
        return None

    # Expressions.

    def integer(self, expression: ast.Expr) -> Polynomial:
        value = self.evaluate(expression)
        return value if isinstance(value, Polynomial) else self.fresh()

    def evaluate(self, expression: ast.Expr) -> Value:
        match expression:
            case ast.Literal(value=int() as number) | ast.Name(value=int() as number):
                return constant(number)
            case ast.Name():
                return self.variable(expression)
            case ast.Subscript() | ast.Member() | ast.Unary(op="*"):
                if expression.type.kind == "array":
                    return self.pointer(expression)
                return self.load(expression)
            case ast.Unary(op="&", operand=operand):
                return self.locate(operand)
            case ast.Unary(op="-", operand=operand):
                negated = self.evaluate(operand)
                return -negated if isinstance(negated, Polynomial) else None
            case ast.Unary(op="+", operand=operand):
                return self.evaluate(operand)
            case ast.Unary(op="!") | ast.Binary(op="&&" | "||" | "<" | "<=" | ">" | ">=" | "==" | "!="):
                self.condition(expression)
                return self.fresh()
            case ast.Unary(operand=operand):
                self.evaluate(operand)
                return self.fresh()
            case ast.Binary(op=op, left=left, right=right):
                first, second = self.evaluate(left), self.evaluate(right)
                return second if op == "," else self.binary(op, first, second, expression)
            case ast.Assign():
                return self.assign(expression)
            case ast.Step(op=op, prefix=prefix, target=target):
                return self.step(expression, op, prefix, target)
            case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
                when, unless = self.condition(condition)
                one = self.under(when, then)
                other = self.under(unless, otherwise)
                return self.either(one, when, other, unless, expression.place)
            case ast.Cast(operand=operand, type=type):
                value = self.pointer(operand) if operand.type.kind == "array" else self.evaluate(operand)
                if isinstance(value, Location) and type.element != operand.type.element:
                    raise Refused("construct", "a pointer is cast to another type", expression.place)
                return self.as_type(value, type)
            case ast.Call():
                return self.call(expression)
            case ast.InitList(items=items):
                for item in items:
                    self.evaluate(item)
        return None

    def variable(self, name: ast.Name) -> Value:
        if name.name in self.env:
            return self.env[name.name]
        if name.type.kind in ("pointer", "array"):
            return Location(name.name, (constant(0),))
        if name.type.kind not in ("int", "bool", "enum"):
            return None
        if not name.type.signed:
            self.natural.add(name.name)
        return atom(name.name)

    def under(self, when: Formula, expression: ast.Expr) -> Value:
        """The value of an expression that is evaluated only under a condition."""
        path = self.path
        self.path = path & when
        self.branches += 1
        value = self.evaluate(expression)
        self.path = path
        self.branches -= 1
        return value

    def condition(self, expression: ast.Expr) -> tuple[Formula, Formula]:
        """What holds when the condition is true, and what when it is false."""
        match expression:
            case ast.Unary(op="!", operand=operand):
                when, unless = self.condition(operand)
                return unless, when
            case ast.Binary(op="&&" | "||" as op, left=left, right=right):
                when, unless = self.condition(left)
                path = self.path
                self.path = path & (when if op == "&&" else unless)
                self.branches += 1
                second_when, second_unless = self.condition(right)
                self.path = path
                self.branches -= 1
                if op == "&&":
                    return when & second_when, unless | second_unless
                return when | second_when, unless & second_unless
            case ast.Binary(op=op, left=left, right=right) if op in NEGATED:
                first, second = self.evaluate(left), self.evaluate(right)
                if not isinstance(first, Polynomial) or not isinstance(second, Polynomial):
                    return ANY, ANY
                if _is_unsigned(left.type, right.type) and not (
                    self.is_natural(first) and self.is_natural(second)
                ):
                    return ANY, ANY
                return comparison(op, first, second), comparison(NEGATED[op], first, second)
            case _:
                value = self.evaluate(expression)
                if not isinstance(value, Polynomial):
                    return ANY, ANY
                return comparison("!=", value, constant(0)), equal(value, 0)

    def is_natural(self, value: Polynomial) -> bool:
        """Whether an integer is surely not negative, on the face of it."""
        return all(c >= 0 and self.natural.issuperset(monomial) for monomial, c in value.terms)

    def binary(self, op: str, left: Value, right: Value, expression: ast.Binary) -> Value:
        if isinstance(right, Location) and not isinstance(left, Location) and op == "+":
            left, right = right, left
        if isinstance(left, Location):
            if isinstance(right, Polynomial) and op in ("+", "-"):
                return left.moved(right if op == "+" else -right)
            return self.fresh()
        if not isinstance(left, Polynomial) or not isinstance(right, Polynomial):
            return self.as_type(None, expression.type)
        value: Polynomial | None = None
        match op:
            case "+":
                value = left + right
            case "-":
                value = left - right
            case "*":
                value = left * right
            case "<<" if right.value is not None and 0 <= right.value < 31:
                value = left * (1 << right.value)
            case "/" | "%" | ">>" | "&":
                value = self.divided(op, left, right)
        if value is None or _is_hash(value, expression.type):
            return self.fresh()
        return value

    def divided(self, op: str, dividend: Polynomial, by: Polynomial) -> Polynomial | None:
        """Division by a positive constant, truncating as C does; shifts and masks where they are divisions."""
        number = by.value
        if op == ">>":
            number = 1 << number if number is not None and 0 <= number < 31 else None
        elif op == "&":
            number = number + 1 if number is not None and number >= 0 and number & (number + 1) == 0 else None
        if number is None or number <= 0:
            return None
        quotient = self.fresh()
        (name,) = quotient.names
        rest = dividend - quotient * number
        upward = at_least(rest, 0) & at_least(constant(number - 1), rest)
        if op in ("/", "%"):
            downward = at_least(dividend, 0) & upward
            negative = at_least(-dividend, 1) & at_least(-rest, 0) & at_least(rest, 1 - number)
            self.definitions[name] = downward if self.is_natural(dividend) else downward | negative
        else:
            self.definitions[name] = upward
        return quotient if op in ("/", ">>") else rest

    def as_type(self, value: Value, type: ast.CType) -> Value:
        """The value after a conversion."""
        if type.kind in ("int", "bool", "enum"):
            if isinstance(value, Polynomial) and (
                (type.kind != "bool" and (type.size or 0) >= 4) or value.value in (0, 1)
            ):
                return value
            return self.fresh()
        return value if type.kind in ("pointer", "array") and isinstance(value, Location) else None

    # Memory.

    def pointer(self, expression: ast.Expr) -> Location:
        """What a pointer, or an array that decays to one, points to."""
        if expression.type.kind == "array":
            if isinstance(expression, ast.Name):
                value = self.variable(expression)
            else:
                value = self.locate(expression).inside(constant(0))
        else:
            value = self.evaluate(expression)
        if not isinstance(value, Location):
            raise Refused(
                "construct", "a pointer is neither a parameter nor derived from one", expression.place
            )
        return value

    def locate(self, expression: ast.Expr) -> Location:
        match expression:
            case ast.Subscript(base=base, index=index):
                return self.pointer(base).moved(self.integer(index))
            case ast.Unary(op="*", operand=operand):
                return self.pointer(operand)
            case ast.Member(base=base, field=field, arrow=arrow):
                return (self.pointer(base) if arrow else self.locate(base)).inside(field)
            case ast.Name(name=name, type=type):
                return self.pointer(expression) if type.kind == "array" else Location(f"={name}", ())
            case _:
                self.evaluate(expression)
                return Location("=", ())

    def load(self, expression: ast.Expr) -> Value:
        location = self.locate(expression)
        if expression.type.kind == "pointer":
            raise Refused("construct", "a pointer is read from memory", expression.place)
        if location.root.startswith("="):
            name = ".".join((location.root[1:], *map(str, location.steps)))
            unchanged = expression.type.kind == "int" and location.root[1:] not in self.env
            return atom(name) if unchanged else self.as_type(None, expression.type)
        self.record(location, "read", expression)
        return self.as_type(None, expression.type)

    def record(
        self,
        location: Location,
        kind: OneOf["read", "write"],
        expression: ast.Expr,
        update: str | None = None,
    ) -> None:
        if location.root.startswith("=") or location.root in self.private:
            return
        names = self.path.names.union(*(s.names for s in location.steps if isinstance(s, Polynomial)))
        domain, pending, done = self.path, sorted(names), set(names)
        while pending:
            define = self.definitions.get(pending.pop(), ANY)
            domain = domain & define
            pending += sorted(define.names - done)
            done |= define.names
        helper = self.calls[-1] if self.calls else None
        conditional = self.branches > 0
        self.found.append(Access(location, kind, expression, domain, conditional, self.inner, update, helper))

    def assign(self, assign: ast.Assign) -> Value:
        target = assign.target
        if isinstance(target, ast.Name):
            old = self.variable(target) if assign.op != "=" else None
            value = self.evaluate(assign.value)
            if assign.op != "=":
                value = self.compound(assign, old, value)
            if target.scope == "global":
                self.written_globals[target.name] = target.place
            self.env[target.name] = self.as_type(value, target.type)
            return self.env[target.name]
        location = self.locate(target)
        value = self.evaluate(assign.value)
        if target.type.kind == "pointer":
            raise Refused("construct", "a pointer is written to memory", target.place)
        update = self.atomic_update(assign, assign.op) if _adds_exactly(assign) else None
        if assign.op != "=":
            self.record(location, "read", target, update)
        self.record(location, "write", target, update)
        return self.as_type(value if assign.op == "=" else None, target.type)

    def atomic_update(self, expression: ast.Assign | ast.Step, op: str) -> str | None:
        """The operator of an update of memory that an atomic operation can make, its value unused."""
        type = expression.target.type
        fits = type.kind in ("int", "float") and type.size in (4, 8)
        return _ATOMIC_UPDATES.get(op) if fits and expression is self.discards else None

    def compound(self, assign: ast.Assign, old: Value, value: Value) -> Value:
        op = assign.op[:-1]
        synthetic = ast.Binary(op, assign.target, assign.value, assign.target.type, assign.place)
        return self.binary(op, old, value, synthetic)

    def step(self, step: ast.Step, op: str, prefix: bool, target: ast.Expr) -> Value:
        by = constant(1 if op == "++" else -1)
        if not isinstance(target, ast.Name):
            location = self.locate(target)
            update = self.atomic_update(step, op)
            self.record(location, "read", target, update)
            self.record(location, "write", target, update)
            return self.as_type(None, target.type)
        old = self.variable(target)
        if target.scope == "global":
            self.written_globals[target.name] = target.place
        if isinstance(old, Polynomial):
            new: Value = self.as_type(old + by, target.type)
        else:
            new = old.moved(by) if isinstance(old, Location) else None
        self.env[target.name] = new
        return new if prefix else old

    def call(self, call: ast.Call) -> Value:
        raise NotImplementedError


def _adds_exactly(assign: ast.Assign) -> bool:
    """Whether the value can be converted to the target's type before it is added."""
    target, value = assign.target.type, assign.value.type
    if target.kind == "float":
        return value.kind == "int" or (value.size or 8) <= (target.size or 0)
    return value.kind == "int"


def _is_unsigned(left: ast.CType, right: ast.CType) -> bool:
    """Whether C compares values of these types as unsigned."""
    ranks = [(t.size or 4, not t.signed) for t in (left, right) if (t.size or 4) >= 4]
    return max(ranks, default=(4, False))[1]


def _is_hash(value: Polynomial, type: ast.CType) -> bool:
    """Whether unsigned arithmetic looks meant to wrap around."""
    limit = 1 << (4 * (type.size or 4))
    return type.kind == "int" and not type.signed and any(abs(c) >= limit for _, c in value.terms)
