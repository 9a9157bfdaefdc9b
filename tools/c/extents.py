"""Roles and extents of a C function's arrays, and what its integers are for, from the elements that it touches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal as OneOf

from . import ast
from .accesses import Touched, touched
from .annotations import Annotation, Role, bound
from .bounds import Facts, at_least
from .memory import Access, Array, Scope
from .parse import SourceError
from .polynomial import Opaque, Polynomial, atom, constant, factored, maximum, minimum, quotient
from .unsupported import UNSUPPORTED

Usage = OneOf["size", "count", "value"]


@dataclass(frozen=True)
class ArrayUse:
    """How a function uses an array. `shape` are its extents as C expressions, outermost first."""

    name: str
    scope: Scope
    element: ast.CType
    role: Role
    shape: tuple[str, ...]


@dataclass(frozen=True)
class Uses:
    """How a function uses its parameters and globals.

    `usage` tells what integers are for; `limits` are the least and greatest values of integers beyond which some
    subscript leaves its array. `indices` are the arrays whose elements serve in subscripts, with the least and
    (in C) the greatest value that stays inside. `assumptions` say in words what was taken for granted.
    """

    arrays: dict[str, ArrayUse]
    usage: dict[str, Usage]
    limits: dict[str, tuple[int | None, int | None]]
    indices: dict[str, tuple[int | None, str | None]]
    globals_read: dict[str, ast.Place]
    globals_written: dict[str, ast.Place]
    assumptions: tuple[str, ...]


def uses(unit: ast.Unit, function: ast.Function, annotations: Mapping[str, Annotation]) -> Uses:
    """Finds how the function uses its arrays.

    Raises SourceError where a subscript cannot be bounded or leaves its array, with the annotation to add.
    """
    found = touched(unit, function, annotations)
    shapes = _Shapes(function, annotations, found)
    arrays = {}
    for array in found.arrays:
        accesses = [a for a in found.accesses if a.array == array]
        shape = shapes.shape(array, accesses)
        if array.scope in ("param", "global"):
            told = annotations.get(array.name)
            role = told.role if told and told.role else _role(accesses)
            arrays[array.name] = ArrayUse(array.name, array.scope, array.element, role, shape)
    if shapes.unknown:
        raise shapes.question(found)
    shaping = {name for use in arrays.values() for extent in use.shape for name in _names(extent)}
    usage: dict[str, Usage] = dict.fromkeys(found.bounding, "count")
    # What bounds the used part of an array of fixed size is a size as well.
    usage.update(dict.fromkeys(shaping | shapes.most.keys(), "size"))
    limits = {
        name: (shapes.least.get(name), shapes.most.get(name)) for name in shapes.least.keys() | shapes.most
    }
    return Uses(
        arrays,
        usage,
        limits,
        {name: (shapes.index_least.get(name), _least_of(highs)) for name, highs in shapes.index_most.items()},
        found.globals_read,
        found.globals_written,
        tuple(dict.fromkeys(shapes.assumptions)),
    )


def _names(expression: str) -> set[str]:
    return set(re.findall(r"\b[A-Za-z_]\w*", expression))


def _role(accesses: Iterable[Access]) -> Role:
    writes = {access.writes for access in accesses}
    return "inout" if len(writes) == 2 else "out" if True in writes else "in"


@dataclass
class _Shapes:
    """Finds the shapes of a function's arrays; collects limits of parameters, assumptions and open questions."""

    function: ast.Function
    annotations: Mapping[str, Annotation]
    found: Touched
    least: dict[str, int] = field(default_factory=dict)
    most: dict[str, int] = field(default_factory=dict)
    index_least: dict[str, int] = field(default_factory=dict)
    index_most: dict[str, list[str]] = field(default_factory=dict)
    assumptions: list[str] = field(default_factory=list)
    unknown: dict[Array, Access] = field(default_factory=dict)

    def shape(self, array: Array, accesses: list[Access]) -> tuple[str, ...]:
        """The array's extents, and what must hold of parameters and of subscripts that are data."""
        shape = self.extents(array, accesses)
        for access in accesses:
            self.check_start(access)
            for extent, loaded, uppers in zip(shape, access.loaded, access.uppers, strict=False):
                if loaded is not None and not uppers:
                    self.keep_index(*loaded, extent)
        return shape

    def extents(self, array: Array, accesses: list[Access]) -> tuple[str, ...]:
        told = self.annotations.get(array.name)
        if told is not None and told.shape is not None:
            return told.shape
        inner = array.lengths[1:]
        for access in accesses:
            self.check_inner(access)
        if array.scope != "param":
            declared = array.lengths
            if declared[0] is not None:
                for access in accesses:
                    self.check_declared(access, declared[0])
                return tuple(extent.to_c() for extent in declared if extent is not None)
            if array.scope == "local":
                return ()
        if not accesses:
            self.assumptions.append(f"'{array.name}' is never used")
            outer = array.lengths[0] or constant(1)
        else:
            counted = self.outer(array, accesses)
            if counted is None:
                return ()
            outer = counted
        rows = [d for d, length in enumerate(array.lengths) if d and length is None and accesses]
        lengths = dict(enumerate(inner, start=1)) | {d: self.row(array, accesses, d) for d in rows}
        if any(lengths[d] is None for d in rows):
            return ()
        factors = (*self.found.counts, *(pitch for access in accesses for pitch in access.pitches))
        texts = (factored(extent, factors) for extent in (outer, *lengths.values()) if extent is not None)
        return tuple(texts)

    def row(self, array: Array, accesses: list[Access], dimension: int) -> Polynomial | None:
        """The length of rows that no declaration tells; None where some subscript has no bound."""
        counts: list[tuple[Polynomial, Facts]] = []
        for access in accesses:
            if not access.uppers[dimension]:
                self.unknown.setdefault(array, access)
                return None
            count = reduce(minimum, (upper + 1 for upper in access.uppers[dimension]))
            counts.append((_without_remainders(count, access.given), access.given))
        return _largest(counts)

    def outer(self, array: Array, accesses: list[Access]) -> Polynomial | None:
        """The extent of the outermost dimension; None where some subscript has no bound."""
        declared = array.lengths[0]
        counts: list[tuple[Polynomial, Facts]] = []
        for access in accesses:
            count = _rows(access)
            if count is None:
                if declared is not None:
                    return declared
                self.unknown.setdefault(array, access)
                return None
            whole = _whole_rows(count, access) if len(array.lengths) == 1 else count
            counts.append((whole, access.given))
        total = _largest(counts)
        exact = _largest([(count, a.given) for a in accesses if (count := _rows(a)) is not None])
        if total != exact:
            self.assumptions.append(
                f"'{array.name}' is taken to hold whole rows: {total.to_c()} elements, "
                f"of which the loops reach {exact.to_c()}"
            )
        if declared is not None:
            if at_least(declared, total, ()):
                return declared
            if declared.value is not None:
                self.require(declared - total)
                return declared
        return total

    def check_start(self, access: Access) -> None:
        """An element before the start is refused, or the parameters kept where there is none."""
        for lowers in access.lowers:
            if not lowers or any(at_least(lower, constant(0), access.given) for lower in lowers):
                continue
            if not access.certain:
                for name in access.data:
                    self.index_most.setdefault(name, [])
                    self.index_least.setdefault(name, 0)
                continue
            if all(at_least(constant(-1), lower, ()) for lower in lowers):
                raise self.error(access, f"reaches element {lowers[0].to_c()}, before the start of")
            for lower in lowers:
                self.require(lower)

    def check_inner(self, access: Access) -> None:
        """Subscripts of inner dimensions stay within them, or the parameters are kept where they do."""
        for length, uppers in zip(access.array.lengths[1:], access.uppers[1:], strict=True):
            if length is not None and not _is_flat(access) and len(uppers) == 1:
                self.require(length - 1 - uppers[0])

    def check_declared(self, access: Access, length: Polynomial) -> None:
        uppers = access.uppers[0]
        if _is_flat(access) or not uppers or any(at_least(length - 1, u, access.given) for u in uppers):
            return
        if not access.certain:
            if access.loaded[0] is not None:
                self.keep_index(*access.loaded[0], length.to_c())
            return
        if all(at_least(upper, length, ()) for upper in uppers):
            raise self.error(access, f"reaches element {uppers[0].to_c()}, after the end of")
        for upper in uppers:
            self.require(length - 1 - upper)

    def require(self, of: Polynomial) -> None:
        """Keeps a polynomial at least 0, where it depends on one parameter alone."""
        if len(of.names) != 1 or of.degree() != 1:
            return
        (name,) = of.names
        factor, rest = of.coefficient(name).value, of.coefficient(name, 0).value
        if factor is None or rest is None:
            return
        if factor < 0:
            self.most[name] = min(self.most.get(name, rest // -factor), rest // -factor)
        elif -(rest // factor) > 1:
            self.least[name] = max(self.least.get(name, 1), -(rest // factor))

    def keep_index(self, name: str, offset: int, extent: str) -> None:
        """Keeps the elements of an array inside an extent, where they serve as subscripts plus an offset."""
        high = f"{extent} - {1 + offset}"
        for count in bound(extent):
            high = (count - 1 - offset).to_c()
        self.index_least[name] = max(self.index_least.get(name, -offset), -offset)
        self.index_most.setdefault(name, []).append(high)

    def error(self, access: Access, message: str) -> SourceError:
        at = access.place
        message = f"the subscript {access.text} {message} '{_plain(access.array)}'"
        return SourceError(
            message, at.file, at.line, at.column, "correct the subscript or the loop around it"
        )

    def question(self, found: Touched) -> SourceError:
        """Asks for the extents that are missing."""
        sizes = [p.name for p in self.function.parameters if p.type.kind == "int"]
        size = sizes[0] if sizes else "LENGTH"
        array, access = next(iter(self.unknown.items()))
        if array.element.spelling == "char" and not sizes:
            message = f"'{array.name}' is not supported yet: {UNSUPPORTED['string']}"
            at = access.place
            return SourceError(message, at.file, at.line, at.column, "pass its length as a parameter")
        missing = ", ".join(a.name + f"[{size}]" * len(a.lengths) for a in self.unknown)
        at = access.place
        return SourceError(
            f"cannot tell how many elements of '{array.name}' {self.function.name}() uses "
            f"(subscript {access.text} at {at.file}:{at.line})",
            *(at.file, at.line, at.column),
            f"add a comment above the function that says so: // cudaperf: {missing}",
        )


def _least_of(values: list[str]) -> str | None:
    """The least of several C expressions."""
    different = list(dict.fromkeys(values))
    return reduce(lambda a, b: f"({a} < {b} ? {a} : {b})", different) if different else None


def _plain(array: Array) -> str:
    return array.name.partition("#")[0]


def _is_flat(access: Access) -> bool:
    """Whether an array of several dimensions is walked as one: only the last subscript moves."""
    zero = ((constant(0),),)
    if None in access.array.lengths[1:]:
        return False
    return len(access.uppers) > 1 and access.uppers[:-1] == zero * (len(access.uppers) - 1)


def _rows(access: Access) -> Polynomial | None:
    """How many elements of the outermost dimension an access reaches; None: no bound is known."""
    uppers = access.uppers[-1] if _is_flat(access) else access.uppers[0]
    if not uppers:
        return None
    count = _without_remainders(reduce(minimum, (upper + 1 for upper in uppers)), access.given)
    if not _is_flat(access):
        return count
    row = constant(1)
    for length in access.array.lengths[1:]:
        row *= length if length is not None else constant(1)
    return quotient(count + row - 1, row)


def _without_remainders(count: Polynomial, given: Facts) -> Polynomial:
    """Divisions taken exactly of what is known to be divisible: ``if (n % 4) return;`` before an unrolled loop."""
    for fact in given:
        for known in (-fact).atoms:
            if not (isinstance(known, Opaque) and known.op == "%" and -fact == atom(known)):
                continue
            for opaque in count.atoms:
                if isinstance(opaque, Opaque) and opaque.op == "/" and opaque.right == known.right:
                    over, number = (opaque.left - known.left).value, known.right.value
                    factor = count.coefficient(opaque)
                    if over is not None and number and 0 <= over < number and count.degree(opaque) == 1:
                        exact = quotient(factor * known.left, known.right)
                        count = count.coefficient(opaque, 0) + exact
    return count


def _whole_rows(count: Polynomial, access: Access) -> Polynomial:
    """Rounds a count up to whole rows, where a loop moves from row to row of a flat array.

    A stencil's loops stop short of the end of the last row, which belongs to the array all the same.
    """
    for pitch in sorted(access.pitches, key=Polynomial.degree, reverse=True):
        if len(pitch.terms) != 1:
            continue
        ((monomial, _),) = pitch.terms
        factors = set(monomial)
        short = Polynomial.of((m, c) for m, c in count.terms if not factors <= set(m))
        if short.terms and short.degree() < pitch.degree() and (-short).at_least(0):
            return count - short
    return count


def _largest(counts: Iterable[tuple[Polynomial, Facts]]) -> Polynomial:
    """The greatest of several counts, each of which matters only where its facts hold."""
    kept: list[tuple[Polynomial, Facts]] = []
    for count, facts in dict.fromkeys(counts):
        if not any(at_least(other, count, facts) for other, _ in kept):
            kept = [(other, given) for other, given in kept if not at_least(count, other, given)]
            kept.append((count, facts))
    return reduce(maximum, (count for count, _ in kept))
