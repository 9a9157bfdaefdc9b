"""What a symbolic run knows of memory: arrays, pointers into them, and the elements that were touched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from .ast import CType, Place
from .bounds import ITERATION, Facts, age
from .polynomial import Polynomial

Scope = OneOf["param", "global", "local", "variable"]


@dataclass(frozen=True)
class Array:
    """Memory that pointers point into. `element` is a scalar or a struct; `lengths` are the declared ones,
    outermost first, None where the declaration leaves it open.

    A variable whose address is taken counts as one element; `name` is then its key in the state.
    """

    name: str
    scope: Scope
    element: CType = field(compare=False)
    lengths: tuple[Polynomial | None, ...] = field(compare=False)


@dataclass(frozen=True)
class Pointer:
    """Points to ``array[index[0]][index[1]]...``; `inside`: to a member of that element."""

    array: Array
    index: tuple[Polynomial, ...]
    inside: bool = False

    @property
    def depth(self) -> int:
        """How many array levels lie below what it points to."""
        return len(self.array.lengths) - len(self.index)


Value = Polynomial | frozenset[Pointer] | None
Cell = str | frozenset[Pointer] | None
"""What an lvalue names: a variable's key, elements of arrays, or nothing that is followed (a member)."""


@dataclass(frozen=True)
class Access:
    """A subscript met on the way: for each dimension the bounds of its index, over parameters alone.

    `given` is known of the parameters where the access happens at all; `pitches` are the distances by which
    loops move the last index, where parameters make them. `loaded` tells of an index that is an element of an
    array, plus an offset, that array's name and the offset; `data` are all arrays that indices depend on, and
    `certain` tells that they are made of loops' counters alone.
    """

    array: Array
    writes: bool
    lowers: tuple[tuple[Polynomial, ...], ...]
    uppers: tuple[tuple[Polynomial, ...], ...]
    given: Facts
    pitches: tuple[Polynomial, ...]
    loaded: tuple[tuple[str, int] | None, ...]
    data: frozenset[str]
    certain: bool
    text: str
    place: Place


@dataclass
class State:
    """What is known at a point of the program. `written` are elements surely written on the way there."""

    values: dict[str, Value]
    facts: Facts = ()
    written: frozenset[tuple[Array, tuple[Polynomial, ...]]] = frozenset()

    def copy(self, facts: Facts = ()) -> State:
        return State(dict(self.values), merged(self.facts, facts), self.written)


def merged(*groups: Facts) -> Facts:
    return tuple(dict.fromkeys(fact for group in groups for fact in group))


def moved(value: Value, by: Polynomial) -> Value:
    """An integer plus an offset, or pointers so many elements on; inside an element they stay in it."""
    if isinstance(value, frozenset):
        return frozenset(
            p if p.inside else replace(p, index=(*p.index[:-1], p.index[-1] + by)) for p in value
        )
    return None if value is None else value + by


def pointed(value: Value) -> frozenset[Pointer]:
    assert isinstance(value, frozenset)
    return value


def pitches(index: Polynomial) -> tuple[Polynomial, ...]:
    factors = (index.coefficient(name) for name in index.atoms if age(name))
    return tuple(f for f in factors if not age(f) and f.value is None)


LOADED = "[]"
"""What follows an array's name in the stem of a free value that was loaded from it."""


def loaded_from(index: Polynomial) -> tuple[str, int] | None:
    """The array that an index was loaded from, and what was added to it."""
    names = [a for a in index.atoms if isinstance(a, str) and LOADED in a]
    if len(index.atoms) != 1 or not names or index.coefficient(names[0]).value != 1:
        return None
    offset = index.coefficient(names[0], 0).value
    return None if offset is None or index.degree() > 1 else (names[0].partition(LOADED)[0], offset)


def sources(indices: Iterable[Polynomial]) -> tuple[frozenset[str], bool]:
    """The arrays that indices depend on, and whether nothing but loops' counters varies in them."""
    names = {name for index in indices for name in index.names if age(name)}
    data = frozenset(name.partition(LOADED)[0] for name in names if LOADED in name)
    return data, all(name.startswith(f"{ITERATION}@") for name in names)


def inside(pointers: frozenset[Pointer]) -> frozenset[Pointer]:
    return frozenset(replace(p, inside=True) for p in pointers)


def alike(first: CType, second: CType) -> bool:
    """Whether elements of two types lie alike in memory: the same type, or numbers of one size."""
    if first.scalar and second.scalar:
        return first.size == second.size
    return (first.kind, first.spelling) == (second.kind, second.spelling)


def distance(first: frozenset[Pointer], second: frozenset[Pointer]) -> Polynomial | None:
    """How many elements lie between two pointers into one array."""
    if len(first) != 1 or len(second) != 1:
        return None
    (a,), (b,) = first, second
    if a.array != b.array or a.index[:-1] != b.index[:-1] or len(a.index) != len(b.index):
        return None
    return a.index[-1] - b.index[-1]
