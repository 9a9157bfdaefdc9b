"""Symbolic bounds of integer expressions, by eliminating one bounded value after the other.

A *free* value (a loop's iteration, a loaded index, what two branches disagree on) is an atom that carries its
own bounds; those speak of parameters and of older free values only. An expression's bound follows by replacing
the youngest free value with its bound, until only parameters are left: Fourier and Motzkin's elimination, kept
symbolic in the coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce

from .polynomial import Atom, Opaque, Polynomial, atom, constant, floor_quotient, maximum, minimum, quotient

Facts = tuple[Polynomial, ...]
"""Polynomials known to be at least 0 where the program stands."""

# Bounds kept where none implies another, and terms in one: what is longer is no use to a reader.
_KEPT = 4
_LONGEST = 40

_MOST_WORK = 60_000
"""Eliminations in one analysis, a few seconds' worth: nested divisions and branches multiply them."""

ITERATION = "t"
"""The stem of the names of loops' iterations."""


@lru_cache(maxsize=65536)
def age(of: Polynomial | Atom) -> int:
    """The number of the youngest free value in it; 0 where there is none."""
    names = (of,) if isinstance(of, str) else of.names
    return max((int(name.partition("@")[2] or 0) for name in names), default=0)


class TooIntricateError(Exception):
    """Bounding took more work than any plain loop does."""


class Bounds:
    """The free values of one analysis, with their bounds."""

    def __init__(self) -> None:
        self._count = 0
        self._work = 0
        self._lowers: dict[Atom, tuple[Polynomial, ...]] = {}
        self._uppers: dict[Atom, tuple[Polynomial, ...]] = {}
        self._known: dict[tuple[Polynomial, Facts], tuple[Polynomial, ...]] = {}

    def free(
        self, stem: str, lowers: Iterable[Polynomial | int] = (), uppers: Iterable[Polynomial | int] = ()
    ) -> Polynomial:
        """A new free value within bounds."""
        self._count += 1
        name = f"{stem}@{self._count}"
        self._lowers[name] = _polynomials(lowers)
        self._uppers[name] = _polynomials(uppers)
        return atom(name)

    def limit(self, value: Polynomial, uppers: Iterable[Polynomial]) -> None:
        """Adds upper bounds of a free value, learnt after it was made."""
        (name,) = value.atoms
        self._uppers[name] += tuple(uppers)
        self._known.clear()

    def uppers(self, of: Polynomial, facts: Facts = ()) -> tuple[Polynomial, ...]:
        """Upper bounds over parameters alone, none implied by another; empty where none is found."""
        youngest = max(of.atoms, key=_elimination_order, default="")
        if not age(youngest):
            return (of,)
        key = (of, facts)
        if key not in self._known:
            self._work += 1
            if self._work > _MOST_WORK:
                raise TooIntricateError
            found: list[Polynomial] = []
            for replaced in self._replaced(of, youngest, facts):
                found += self.uppers(replaced, facts)
            self._known[key] = _least(found, self.implied(facts))
        return self._known[key]

    def lowers(self, of: Polynomial, facts: Facts = ()) -> tuple[Polynomial, ...]:
        """Lower bounds over parameters alone, none implied by another."""
        return tuple(-bound for bound in self.uppers(-of, facts))

    def proves(self, of: Polynomial, facts: Facts = ()) -> bool:
        """Whether it is surely at least 0, for parameters of at least 1."""
        if any((of - fact).value is not None and (of - fact).at_least(0) for fact in facts):
            return True
        return any(at_least(bound, constant(0), self.implied(facts)) for bound in self.lowers(of, facts))

    def implied(self, facts: Facts) -> Facts:
        """What facts say of the parameters alone: a loop whose body runs has at least one iteration."""
        return tuple(dict.fromkeys(bound for fact in facts for bound in self.uppers(fact)))

    def weakened(self, fact: Polynomial) -> Facts:
        """The fact, and what it says of older values where its youngest is not a loop's iteration."""
        youngest = max(fact.atoms, key=_elimination_order, default="")
        if not age(youngest) or str(youngest).startswith(f"{ITERATION}@"):
            return tuple(dict.fromkeys((fact, _without_squares(fact))))
        weaker = self._replaced(fact, youngest, ())
        return tuple(dict.fromkeys((fact, *(w for weak in weaker for w in self.weakened(weak)))))

    def _replaced(self, of: Polynomial, youngest: Atom, facts: Facts) -> Iterable[Polynomial]:
        """Upper bounds of a polynomial without its youngest free value."""
        powers = range(1, of.degree(youngest) + 1)
        factors = [of.coefficient(youngest, power) for power in powers]
        # Beyond the first power only what grows or falls over all values from 0 up is bounded by its ends.
        if len(powers) > 1 and not self.proves(atom(youngest), facts):
            return
        if len(powers) == 1:
            yield from self._cancelled(of, youngest, factors[0], facts)
            multiplied = tuple(self._multiplied(of, youngest, factors[0], facts))
            yield from multiplied
            if multiplied and factors[0].value in (1, -1):
                return
        rising = all(self.proves(factor, facts) for factor in factors)
        if not rising and not all(self.proves(-factor, facts) for factor in factors):
            return
        for bound in dict.fromkeys(self._bounds_of(youngest, facts, upper=rising)):
            yield of.replace(youngest, bound)

    def _cancelled(
        self, of: Polynomial, youngest: Atom, factor: Polynomial, facts: Facts
    ) -> Iterable[Polynomial]:
        """Sums with a multiple of a fact in which the youngest cancels: a division would round, or not be known."""
        for fact in facts:
            pull = fact.coefficient(youngest)
            if fact.degree(youngest) != 1 or age(fact) != age(youngest):
                continue
            if pull.value is not None and abs(pull.value) > 1:
                times = quotient(factor, -pull)
                cancelled = of + fact * times
                if times.at_least(0) and age(cancelled) < age(youngest):
                    yield cancelled
            # With a step that itself varies, more than the sum alone would claim what no iteration reaches.
            elif pull.value is None and pull == -factor and not age(of + fact):
                yield of + fact

    def _multiplied(
        self, of: Polynomial, youngest: Atom, factor: Polynomial, facts: Facts
    ) -> Iterable[Polynomial]:
        """Bounds through a multiple in which no division is left: (a + b) / 2 - b is at most (a - b) / 2."""
        if not isinstance(youngest, Opaque) or youngest.op != "/":
            return
        times, number = factor.value, youngest.right.value
        if times is None or number is None or number < 1 or not self.proves(youngest.left, facts):
            return
        dividend = youngest.left if times > 0 else youngest.left - (number - 1)
        for bound in self.uppers(dividend * times + of.coefficient(youngest, 0) * number, facts):
            yield floor_quotient(bound, constant(number))

    def _bounds_of(self, free: Atom, facts: Facts, upper: bool) -> Iterable[Polynomial]:
        if isinstance(free, Opaque):
            yield from self._opaque(free, facts, upper)
            return
        yield from (self._uppers if upper else self._lowers)[free]
        for fact in facts:
            if age(fact) != age(free) or fact.degree(free) != 1:
                continue
            factor, rest = fact.coefficient(free), fact.coefficient(free, 0)
            step = -factor if upper else factor
            if age(rest) < age(free) and not age(step) and step.at_least(1):
                limit = floor_quotient(rest, step)
                yield limit if upper else -limit

    def _opaque(self, of: Opaque, facts: Facts, upper: bool) -> Iterable[Polynomial]:
        bounds = self.uppers if upper else self.lowers
        match of.op:
            case "/" if not age(of.right) and of.right.at_least(1):
                yield from (quotient(bound, of.right) for bound in bounds(of.left, facts))
            case "%" if not self.proves(of.right - 1, facts):
                return
            case "%" if upper:
                yield from (bound - 1 for bound in self.uppers(of.right, facts))
                if self.proves(of.left, facts):
                    yield of.left
            case "%" if self.proves(of.left, facts):
                yield constant(0)
            case "%":
                yield from (-bound + 1 for bound in self.uppers(of.right, facts))
            case "min" | "max" if (of.op == "min") == upper:
                yield from bounds(of.left, facts)
                yield from bounds(of.right, facts)
            case "min" | "max":
                combine = minimum if of.op == "min" else maximum
                for left in bounds(of.left, facts):
                    yield from (combine(left, right) for right in bounds(of.right, facts))


def at_least(of: Polynomial, other: Polynomial, facts: Facts) -> bool:
    """Whether it is never less than `other`, for parameters of at least 1 about which facts are known."""
    difference = of - other
    if difference.at_least(0):
        return True
    least: dict[str, int] = {}
    slacks: list[dict[str, Polynomial]] = []
    for known in facts:
        fact = reduce(Polynomial.substitute, slacks, known)
        linear = (n for n in sorted(fact.names) if fact.coefficient(n).value == 1)
        name = next((n for n in linear if fact.degree(n) == 1), None)
        if name is None:
            continue
        rest = fact.coefficient(name, 0)
        if rest.value is not None:
            least[name] = max(least.get(name, 1), -rest.value)
        elif name not in least:
            # The name is what the fact demands, plus a slack of at least 0 that takes the name's place.
            least[name] = 0
            slacks.append({name: atom(name) - rest})
    return bool(reduce(Polynomial.substitute, slacks, difference).at_least(0, least))


def _without_squares(fact: Polynomial) -> Polynomial:
    """What a fact that takes squares off says without them: an integer's square is at least itself."""
    return Polynomial.of(
        (m[:1] if len(m) == 2 and m[0] == m[1] and factor < 0 else m, factor) for m, factor in fact.terms
    )


def _elimination_order(of: Atom) -> tuple[int, bool, str]:
    """Youngest first; of one age, an opaque atom before the values inside it."""
    return age(of), isinstance(of, Opaque), str(of)


def _polynomials(values: Iterable[Polynomial | int]) -> tuple[Polynomial, ...]:
    return tuple(constant(v) if isinstance(v, int) else v for v in values)


def _least(bounds: Iterable[Polynomial], facts: Facts) -> tuple[Polynomial, ...]:
    kept: list[Polynomial] = []
    for bound in dict.fromkeys(b for b in bounds if b.size <= _LONGEST):
        if any(at_least(bound, other, facts) for other in kept):
            continue
        kept = [other for other in kept if not at_least(other, bound, facts)]
        kept.append(bound)
    return tuple(kept[:_KEPT])
