"""Loops: how variables change from one iteration to the next, and how often a loop runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from . import ast
from .bounds import Bounds, Facts, age
from .memory import Pointer, State, Value, moved
from .polynomial import Polynomial, floor_quotient


@dataclass(frozen=True)
class Loop:
    condition: ast.Expr | None
    body: ast.Stmt
    step: ast.Expr | None
    test_after: bool


@dataclass
class Head:
    """The state at the head of an iteration: a variable is its start plus `iteration` times its step, or lies
    in a range (lower and upper bounds, which may speak of `iteration`), or is unknown.
    """

    bounds: Bounds
    state: State
    iteration: Polynomial
    steps: dict[str, Polynomial] = field(default_factory=dict)
    ranges: dict[str, tuple[list[Polynomial], list[Polynomial]]] = field(default_factory=dict)
    unknown: dict[str, Polynomial] = field(default_factory=dict)
    widened: dict[str, frozenset[Pointer]] = field(default_factory=dict)

    def __call__(self, iteration: Polynomial) -> State:
        """The state at the head of the given iteration."""
        head = self.state.copy()
        for key, pointers in self.widened.items():
            head.values[key] = pointers
        now = {key: probe - self.start(key) for key, probe in self.unknown.items()}
        now |= {key: step * iteration for key, step in self.steps.items()}
        (name,) = self.iteration.atoms
        for key, ends in self.ranges.items():
            lowers, uppers = ([bound.replace(name, iteration) for bound in bounds] for bounds in ends)
            now[key] = self.bounds.free(key, lowers, uppers) - self.start(key)
        for key, by in now.items():
            head.values[key] = moved(self.state.values[key], by)
        return head

    def start(self, key: str) -> Polynomial:
        start = offset_of(self.state.values[key])
        assert start is not None
        return start

    def countable(self, key: str, changed: dict[str, bool]) -> bool:
        """Whether a variable may be a start plus a multiple of the iteration."""
        value = self.state.values[key]
        return isinstance(value, Polynomial) or (changed[key] and offset_of(value) is not None)

    def widen(self, end: State, keys: Iterable[str]) -> bool:
        """Adds where pointers point at the end to where they may point at the head; whether any were new."""
        grown = False
        for key in keys:
            start, now = self.widened.get(key, self.state.values[key]), end.values.get(key)
            if isinstance(start, frozenset) and isinstance(now, frozenset) and not now <= start:
                self.widened[key] = start | now
                grown = True
        return grown

    def supposing(self, bounds: Mapping[tuple[str, bool], Polynomial]) -> Head:
        """The head with these bounds (lower: False, upper: True) alone for some variables."""
        supposed: dict[str, tuple[list[Polynomial], list[Polynomial]]] = {key: ([], []) for key, _ in bounds}
        for (key, upper), bound in bounds.items():
            supposed[key][upper].append(bound)
        return replace(self, ranges=self.ranges | supposed)


def open_condition(condition: ast.Expr | None) -> ast.Expr | None:
    """A loop's condition; None where it always holds."""
    return None if isinstance(condition, ast.Literal) and condition.value else condition


def offset_of(value: Value) -> Polynomial | None:
    """An integer, or the last index of a pointer that points to one place."""
    if isinstance(value, frozenset):
        return next(iter(value)).index[-1] if len(value) == 1 else None
    return value


def counts_of(true: Facts, iteration: Polynomial, loop: Loop) -> tuple[Polynomial, ...]:
    """Bounds of how often a loop runs, from what holds whenever it goes on."""
    (name,) = iteration.atoms
    counts = []
    for fact in true:
        step, rest = -fact.coefficient(name), fact.coefficient(name, 0)
        if fact.degree(name) == 1 and age(rest) < age(iteration) and not age(step) and step.at_least(1):
            counts.append(floor_quotient(rest, step) + (2 if loop.test_after else 1))
    return tuple(counts)
