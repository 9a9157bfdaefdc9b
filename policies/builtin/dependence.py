"""Which loops of a nest can run in parallel: exact tests on linear subscripts with isl, conservative elsewhere.

Two iterations conflict where one writes an element that the other touches. A loop whose variable is the same in
all conflicting iterations can run in parallel, and be moved outward past all others of the nest.
(Integer sets: Verdoolaege, "isl: An Integer Set Library for the Polyhedral Model", ICMS 2010.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal as OneOf

import islpy as isl

from ...tools.c.polynomial import Monomial, Polynomial, constant
from .formula import Formula, at_least
from .loops import Loop
from .symbolic import Access

# One emptiness test takes well under a thousand operations; a set that needs more counts as not empty.
OPERATIONS = 200_000
_VARIABLE = re.compile(r"\b[ab]_\w+")

Subscript = tuple[str, int]
"""An array, and which of the steps of a location in it."""
Strides = tuple[Polynomial, ...]
Overlap = Callable[[str, str], OneOf["same", "distinct", "unknown"]]
"""How two pointers of the nest relate: the same array (or maybe), never overlapping, or unknown."""


@dataclass(frozen=True)
class Conflict:
    """Two accesses, at least the first a write, that different iterations make to one element."""

    write: Access
    other: Access


def conflicts(
    loops: Sequence[Loop],
    accesses: tuple[Access, ...],
    overlap: Overlap,
    atomic: frozenset[str] = frozenset(),
) -> dict[str, Conflict]:
    """For each loop variable whose loop cannot run in parallel, a conflict that shows it.

    Updates of the arrays in `atomic` do not conflict with each other.
    """
    variables = tuple(loop.variable for loop in loops)
    tester = Tester(variables, accesses)
    found: dict[str, Conflict] = {}
    writes = [a for a in accesses if a.kind == "write"]
    reads = [a for a in accesses if a.kind == "read"]
    for i, write in enumerate(writes):
        for other in (*reads, *writes[i:]):
            roots = (write.location.root, other.location.root)
            relation = overlap(*roots)
            if relation == "distinct" or (roots[0] == roots[1] and roots[0] in atomic):
                continue
            for variable in variables:
                if variable not in found and (
                    relation == "unknown" or tester.conflict(write, other, variable)
                ):
                    found[variable] = Conflict(write, other)
    return found


class Tester:
    """Asks isl about accesses of iterations of some loops, named by their variables.

    Two iterations are told apart by the instances ``a`` and ``b``, which begin the names of their variables.
    """

    def __init__(self, loops: tuple[str, ...], accesses: tuple[Access, ...]) -> None:
        self.loops = loops
        self.context = isl.Context()
        self.context.set_max_operations(OPERATIONS)
        self.parameters: dict[Monomial, str] = {}
        self.strides: dict[Subscript, Strides] = {}
        self.bases: dict[Subscript, Polynomial] = {}
        for key, choices in _strides(accesses, self.varies).items():
            self.strides[key], self.bases[key] = choices[0], constant(0)
            for strides, base in product(choices, (constant(0), self.common(key, accesses))):
                if self.fits(key, strides, base, accesses):
                    self.strides[key], self.bases[key] = strides, base
                    break
        self.split: dict[Access, tuple[tuple[Polynomial, ...] | str | None, ...]] = {}
        self.split_beside: dict[tuple[Access, Formula], tuple[tuple[Polynomial, ...] | str | None, ...]] = {}

    def varies(self, name: str) -> bool:
        """Whether a name has a value of its own in each iteration."""
        return name in self.loops or name.startswith("?")

    def conflict(self, write: Access, other: Access, variable: str) -> bool:
        """Whether iterations that differ in `variable` may touch one element."""
        equalities = self.same_element(write, other)
        if equalities is None:
            return False
        apart = f"{self.spelled_name(variable, 'a')} != {self.spelled_name(variable, 'b')}"
        meeting = " and ".join((*equalities, apart))
        # Mostly the subscripts alone tell; what is known where they are reached can be long.
        if not self.satisfiable(meeting):
            return False
        write_domain, other_domain = (
            access.domain.text(self.speller(instance)) for access, instance in ((write, "a"), (other, "b"))
        )
        return self.satisfiable(f"({write_domain}) and ({other_domain}) and {meeting}")

    def same_element(self, write: Access, other: Access) -> list[str] | None:
        """The conditions, as far as they are linear, under which both touch one element; None: they never do."""
        equalities = []
        pairs = zip(self.subscripts(write, other), self.subscripts(other, write), strict=False)
        for position, (a, b) in enumerate(pairs):
            if isinstance(a, str) or isinstance(b, str):
                if a != b:
                    return None
                continue
            keys = [(x.location.root, position) for x in (write, other)]
            strides, bases = [self.strides.get(k) for k in keys], [self.bases.get(k) for k in keys]
            if a is None or b is None or strides[0] != strides[1] or bases[0] != bases[1]:
                continue
            for p, q in zip(a, b, strict=True):
                left, right = self.speller("a")(p), self.speller("b")(q)
                if left is not None and right is not None:
                    equalities.append(f"{left} = {right}")
        return equalities

    def subscripts(
        self, access: Access, beside: Access | None = None
    ) -> tuple[tuple[Polynomial, ...] | str | None, ...]:
        """The steps of a location, each subscript split into those of its dimensions; None: not linear.

        What holds for another access `beside` it may help to show where a row ends.
        """
        if access not in self.split:
            self.split[access] = self.parted(access, None)
        found = self.split[access]
        if beside is None or beside.domain == access.domain or None not in found:
            return found
        key = (access, beside.domain)
        if key not in self.split_beside:
            self.split_beside[key] = self.parted(access, beside.domain)
        return self.split_beside[key]

    def parted(
        self, access: Access, beside: Formula | None
    ) -> tuple[tuple[Polynomial, ...] | str | None, ...]:
        return tuple(
            step
            if isinstance(step, str)
            else self.delinearized(
                step - self.bases.get((access.location.root, position), constant(0)),
                self.strides.get((access.location.root, position), ()),
                access.domain,
                beside,
            )
            for position, step in enumerate(access.location.steps)
        )

    def fits(self, key: Subscript, strides: Strides, base: Polynomial, accesses: Iterable[Access]) -> bool:
        """Whether all subscripts at one place of an array's locations can be split by the strides, `base` taken off."""
        return all(self.delinearized(s - base, strides, a.domain) for s, a in _steps(key, accesses))

    def common(self, key: Subscript, accesses: Iterable[Access]) -> Polynomial:
        """What all subscripts at one place add that no iteration changes, with the least of their constants."""
        steps = [step for step, _ in _steps(key, accesses)]
        bases = {
            Polynomial.of({m: c for m, c in s.terms if m and not any(self.varies(str(a)) for a in m)})
            for s in steps
        }
        return bases.pop() + min(map(_constant_term, steps)) if len(bases) == 1 else constant(0)

    def delinearized(
        self, step: Polynomial, strides: Strides, domain: Formula, beside: Formula | None = None
    ) -> tuple[Polynomial, ...] | None:
        parts = []
        rest = step
        for stride in strides:
            quotient, rest = divided(rest, stride)
            parts.append(quotient)
        parts.append(rest)
        if any(self.speller("a")(p) is None for p in parts):
            return None
        finer = (*strides[1:], constant(1))
        extents = [_exact_quotient(big, small) for big, small in zip(strides, finer, strict=False)]
        for part, extent in zip(parts[1:], extents, strict=True):
            if extent is None or not self.within(part, extent, domain, beside):
                return None
        return tuple(parts)

    def within(self, part: Polynomial, extent: Polynomial, domain: Formula, beside: Formula | None) -> bool:
        """Whether 0 <= part < extent wherever the domain holds."""
        speller = self.speller("a")
        if speller(extent) is None:
            return False
        outside = at_least(-part, 1) | at_least(part, extent)
        other = "true" if beside is None else beside.text(self.speller("b"))
        return not self.satisfiable(f"({domain.text(speller)}) and ({outside.text(speller)}) and ({other})")

    def satisfiable(self, text: str) -> bool:
        """Whether some integers satisfy the condition; True also where isl gives up."""
        variables = ", ".join(sorted(self.spelled_in(text)))
        parameters = ", ".join(self.parameters.values())
        self.context.reset_operations()
        try:
            return not isl.Set(f"[{parameters}] -> {{ [{variables}] : {text} }}", self.context).is_empty()
        except isl.Error:
            return True

    def spelled_in(self, text: str) -> set[str]:
        """The variables of both iterations that a condition mentions."""
        return set(_VARIABLE.findall(text))

    def speller(self, instance: str) -> Callable[[Polynomial], str | None]:
        """Spells linear polynomials for isl, with the varying names of one of the two iterations."""

        def spelled(polynomial: Polynomial) -> str | None:
            terms = []
            for monomial, coefficient in polynomial.terms:
                varying = [a for a in monomial if self.varies(str(a))]
                if not monomial:
                    terms.append(str(coefficient))
                elif not varying:
                    terms.append(
                        f"{coefficient} {self.parameters.setdefault(monomial, f'p{len(self.parameters)}')}"
                    )
                elif len(monomial) == 1:
                    terms.append(f"{coefficient} {self.spelled_name(str(varying[0]), instance)}")
                else:
                    return None
            return " + ".join(terms) or "0"

        return spelled

    def spelled_name(self, name: str, instance: str) -> str:
        number = self.loops.index(name) if name in self.loops else f"u{name[1:]}"
        return f"{instance}_{number}"


def _steps(key: Subscript, accesses: Iterable[Access]) -> list[tuple[Polynomial, Access]]:
    """The subscripts at one place of an array's locations."""
    root, position = key
    found = [
        (a.location.steps[position], a)
        for a in accesses
        if a.location.root == root and len(a.location.steps) > position
    ]
    return [(step, access) for step, access in found if not isinstance(step, str)]


def _strides(
    accesses: Iterable[Access], varies: Callable[[str], bool]
) -> dict[Subscript, tuple[Strides, ...]]:
    """For each subscript of each array, the strides by which it may be linearized: what multiplies its variables.

    A variable that counts in two dimensions (``i * w + (c - i)``) is multiplied by less than the stride: so also
    that without its constant, or with one or two more.
    """
    found: dict[Subscript, set[Polynomial]] = {}
    for access in accesses:
        for position, step in enumerate(access.location.steps):
            if isinstance(step, str):
                continue
            strides = found.setdefault((access.location.root, position), set())
            for name in (n for n in step.names if varies(n)):
                factor = step.coefficient(name)
                if factor.value is None and not any(varies(n) for n in factor.names):
                    strides.add(factor)
    return {
        key: tuple(
            dict.fromkeys(
                (
                    _ordered(s),
                    _ordered({f - _constant_term(f) for f in s}),
                    *(_ordered({f + more for f in s}) for more in (1, 2)),
                )
            )
        )
        for key, s in found.items()
    }


def _ordered(strides: set[Polynomial]) -> Strides:
    """Strides, the largest first."""
    return tuple(sorted(strides, key=lambda p: (-p.degree(), -p.terms[0][1], str(p))))


def _constant_term(polynomial: Polynomial) -> int:
    return dict(polynomial.terms).get((), 0)


def divided(dividend: Polynomial, stride: Polynomial) -> tuple[Polynomial, Polynomial]:
    """How often a stride goes into a subscript, the highest terms first, and what is left."""
    leading, scale = stride.terms[0]
    quotient, rest = constant(0), dividend
    for degree in range(dividend.degree(), len(leading) - 1, -1):
        part = constant(0)
        for monomial, coefficient in rest.terms:
            left = list(monomial)
            fits = all(left.count(a) >= leading.count(a) for a in leading)
            if len(monomial) == degree and fits and coefficient % scale == 0:
                for a in leading:
                    left.remove(a)
                part += Polynomial.of({tuple(left): coefficient // scale})
        quotient += part
        rest -= part * stride
    return quotient, rest


def _exact_quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    quotient, rest = divided(dividend, divisor)
    return quotient if not rest.terms else None
