"""Integer polynomials over named values: how subscripts, loop bounds and extents are written and compared.

What C computes with other operators than ``+ - *`` stays inside as an opaque atom (``n / 2``).
Overflow is left out of account, as it is undefined in C for signed integers.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal as OneOf

from . import ast


@dataclass(frozen=True)
class Opaque:
    """An operator applied to polynomials, itself no polynomial. Division truncates towards zero as in C."""

    op: OneOf["/", "%", "min", "max"]
    left: Polynomial
    right: Polynomial

    @property
    def names(self) -> frozenset[str]:
        return self.left.names | self.right.names

    @property
    def size(self) -> int:
        return self.left.size + self.right.size

    def __str__(self) -> str:
        left, right = self.left.to_c(), self.right.to_c()
        if self.op in ("min", "max"):
            return f"({left} {'<' if self.op == 'min' else '>'} {right} ? {left} : {right})"
        dividend = left if self.left.is_simple else f"({left})"
        divisor = right if self.right.is_simple and self.right.degree() <= 1 else f"({right})"
        return f"{dividend} {self.op} {divisor}"


Atom = str | Opaque
Monomial = tuple[Atom, ...]


@dataclass(frozen=True)
class Polynomial:
    """A sum of integer multiples of products of atoms. Made with `constant`, `atom` and operators."""

    terms: tuple[tuple[Monomial, int], ...]

    @classmethod
    def of(cls, terms: Mapping[Monomial, int] | Iterable[tuple[Monomial, int]]) -> Polynomial:
        total: dict[Monomial, int] = {}
        for monomial, coefficient in terms.items() if isinstance(terms, Mapping) else terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        kept = [(m, c) for m, c in total.items() if c]
        if len(kept) > 1:
            kept.sort(key=lambda term: (-len(term[0]), [str(a) for a in term[0]]))
        return cls(tuple(kept))

    def __add__(self, other: Polynomial | int) -> Polynomial:
        return Polynomial.of((*self.terms, *_polynomial(other).terms))

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -_polynomial(other)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        return Polynomial.of(
            (tuple(sorted((*m, *n), key=str)), c * d)
            for m, c in self.terms
            for n, d in _polynomial(other).terms
        )

    __rmul__ = __mul__

    @cached_property
    def atoms(self) -> frozenset[Atom]:
        return frozenset(a for m, _ in self.terms for a in m)

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in it, also those inside opaque atoms."""
        return frozenset().union(*((a,) if isinstance(a, str) else a.names for a in self.atoms))

    @cached_property
    def size(self) -> int:
        """How many terms it has, those inside opaque atoms included."""
        inner = sum(a.size for m, _ in self.terms for a in m if isinstance(a, Opaque))
        return len(self.terms) + inner

    @property
    def value(self) -> int | None:
        """The value of a constant; None for anything else."""
        if not self.terms:
            return 0
        return self.terms[0][1] if self.terms[0][0] == () else None

    @property
    def is_simple(self) -> bool:
        """Whether it is written without an operator of lower precedence than a division's."""
        return len(self.terms) <= 1 and all(isinstance(a, str) for a in self.atoms)

    def degree(self, of: Atom | None = None) -> int:
        """The degree, or the degree in one atom."""
        return max((len(m) if of is None else m.count(of) for m, _ in self.terms), default=0)

    def coefficient(self, of: Atom, power: int = 1) -> Polynomial:
        """What multiplies the given power of an atom; power 0: the terms without it."""
        found = ((m, c) for m, c in self.terms if m.count(of) == power)
        return Polynomial.of((tuple(a for a in m if a != of), c) for m, c in found)

    def substitute(self, values: Mapping[str, Polynomial]) -> Polynomial:
        """Replaces names, also those inside opaque atoms."""
        if self.names.isdisjoint(values):
            return self
        return sum(
            (reduce(operator.mul, (_substituted(a, values) for a in m), constant(c)) for m, c in self.terms),
            constant(0),
        )

    def replace(self, old: Atom, new: Polynomial) -> Polynomial:
        """Replaces an atom as a whole; names inside other opaque atoms stay."""
        result = constant(0)
        for monomial, coefficient in self.terms:
            rest = Polynomial.of({tuple(a for a in monomial if a != old): coefficient})
            result += reduce(operator.mul, [new] * monomial.count(old), rest)
        return result

    def at_least(self, other: Polynomial | int, least: Mapping[str, int] | None = None) -> bool | None:
        """Whether it is never less than `other`; False: it is always less; None: cannot tell.

        Every name is taken to be at least 1, or what `least` says.
        """
        difference = self - other
        if _nonnegative(difference, least or {}):
            return True
        return False if _nonnegative(-difference - 1, least or {}) else None

    def to_c(self) -> str:
        """A C expression: ``h * w``, ``n - 1``, ``(n + 1) / 2``."""
        text = ""
        for monomial, coefficient in self._written_order():
            alone = len(monomial) == 1 and abs(coefficient) == 1
            factors = [str(a) if alone or isinstance(a, str) else f"({a})" for a in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            product = " * ".join(factors)
            if product.startswith("-"):
                product = f"({product})"
            if text:
                text += f" - {product}" if coefficient < 0 else f" + {product}"
            else:
                text = f"-{product}" if coefficient < 0 else product
        return text or "0"

    def _written_order(self) -> Iterable[tuple[Monomial, int]]:
        """A positive term first, the constant last: ``h - r + 1``, but ``1 - n``."""
        ordered = sorted(self.terms, key=lambda term: (not term[0], term[1] < 0))
        if ordered and ordered[0][1] < 0 < ordered[-1][1]:
            return [ordered[-1], *ordered[:-1]]
        return ordered

    def __str__(self) -> str:
        return self.to_c()


def constant(value: int) -> Polynomial:
    return Polynomial((((), value),) if value else ())


def atom(of: Atom) -> Polynomial:
    return Polynomial((((of,), 1),))


def _polynomial(of: Polynomial | int) -> Polynomial:
    return constant(of) if isinstance(of, int) else of


def quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """C's ``/``, simplified where the result is sure for all values from 1."""
    number = divisor.value
    for opaque in dividend.atoms if number is not None else ():
        if isinstance(opaque, Opaque) and opaque.op == "%" and opaque.right == divisor:
            whole = quotient(opaque.left, divisor) * divisor
            return quotient(dividend.replace(opaque, opaque.left - whole), divisor)
    if number and dividend.value is not None:
        magnitude = abs(dividend.value) // abs(number)
        return constant(magnitude if (dividend.value < 0) == (number < 0) else -magnitude)
    if number is not None and number > 0:
        whole = Polynomial.of((m, c // number) for m, c in dividend.terms if c % number == 0)
        rest = Polynomial.of((m, c) for m, c in dividend.terms if c % number)
        if not rest.terms:
            return whole
        # Truncation splits over a sum only where both parts have one sign.
        if whole.terms and whole.at_least(0) and rest.at_least(0):
            return whole + quotient(rest, divisor)
    elif len(divisor.terms) == 1 and (shared := _exact(dividend, divisor.terms[0])) is not None:
        return shared
    return atom(Opaque("/", dividend, divisor))


def floor_quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """The quotient rounded down, as how often a step fits into a distance; written with C's ``/``.

    Where what is left in the division may be negative it is an upper bound.
    """
    number = divisor.value
    if number is None:
        return quotient(dividend, divisor)
    whole = Polynomial.of((m, c // number) for m, c in dividend.terms if c % number == 0 or m == ())
    rest = Polynomial.of((m, c if m else c % number) for m, c in dividend.terms if c % number)
    return whole if not rest.names else whole + quotient(rest, divisor)


def _exact(dividend: Polynomial, divisor: tuple[Monomial, int]) -> Polynomial | None:
    """The quotient by a single term that divides every term of the dividend; None if it does not."""
    factors, number = Counter(divisor[0]), divisor[1]
    if any(c % number or Counter(m) & factors != factors for m, c in dividend.terms):
        return None
    return Polynomial.of(
        (tuple(sorted((Counter(m) - factors).elements(), key=str)), c // number) for m, c in dividend.terms
    )


def remainder(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """C's ``%``."""
    if dividend.value is not None and divisor.value:
        rest = abs(dividend.value) % abs(divisor.value)
        return constant(rest if dividend.value >= 0 else -rest)
    if len(divisor.terms) == 1 and _exact(dividend, divisor.terms[0]) is not None:
        return constant(0)
    return atom(Opaque("%", dividend, divisor))


def minimum(left: Polynomial, right: Polynomial) -> Polynomial:
    if left.at_least(right):
        return right
    return left if right.at_least(left) else atom(Opaque("min", *sorted((left, right), key=str)))


def maximum(left: Polynomial, right: Polynomial) -> Polynomial:
    if left.at_least(right):
        return left
    return right if right.at_least(left) else atom(Opaque("max", *sorted((left, right), key=str)))


_OPERATIONS = {"/": quotient, "%": remainder, "min": minimum, "max": maximum}


def factored(of: Polynomial, factors: Iterable[Polynomial]) -> str:
    """A C expression, as a product of some of the given sums where they divide it exactly."""
    found: list[str] = []
    for factor in factors:
        linear = (a for a in sorted(factor.atoms, key=str) if factor.coefficient(a).value in (1, -1))
        name = next((a for a in linear if factor.degree(a) == 1), None)
        while len(factor.terms) > 1 < len(of.terms) and name is not None:
            divided = _divided(of, factor, name)
            if divided is None:
                break
            of = divided
            found.append(f"({factor.to_c()})")
    if not found:
        return of.to_c()
    if of.value == 1:
        return " * ".join(found) if len(found) > 1 else found[0][1:-1]
    rest = of.to_c()
    return " * ".join([rest if len(of.terms) == 1 else f"({rest})", *found])


def _divided(of: Polynomial, by: Polynomial, name: Atom) -> Polynomial | None:
    """The exact quotient by a polynomial that is linear in an atom, with factor 1 or -1; None where there is none."""
    sign = by.coefficient(name).value or 1
    root = by.coefficient(name, 0) * -sign
    result = carry = constant(0)
    for power in range(of.degree(name), 0, -1):
        carry = of.coefficient(name, power) + carry * root
        result += reduce(operator.mul, [atom(name)] * (power - 1), carry)
    return None if (of.coefficient(name, 0) + carry * root).terms else result * sign


def _substituted(of: Atom, values: Mapping[str, Polynomial]) -> Polynomial:
    if isinstance(of, str):
        return values.get(of, atom(of))
    return _OPERATIONS[of.op](of.left.substitute(values), of.right.substitute(values))


def _nonnegative(of: Polynomial, least: Mapping[str, int]) -> bool:
    """Whether it is surely at least 0 when every name is at least 1 (or its value in `least`)."""
    opaque = next((a for a in sorted(of.atoms, key=str) if isinstance(a, Opaque)), None)
    if opaque is not None:
        return any(_nonnegative(p, least) for p in _without(of, opaque, least))
    shifted = of.substitute({name: atom(name) + least.get(name, 1) for name in of.names})
    return all(c >= 0 for _, c in shifted.terms)


def _without(of: Polynomial, opaque: Opaque, least: Mapping[str, int]) -> Iterable[Polynomial]:
    """Polynomials without an opaque atom; where one of them is at least 0, so is `of`."""
    factor = of.coefficient(opaque)
    if of.degree(opaque) != 1:
        return
    rest = of.coefficient(opaque, 0)
    left, right = opaque.left, opaque.right
    upward, downward = _nonnegative(factor, least), _nonnegative(-factor, least)
    if (opaque.op == "min" and downward) or (opaque.op == "max" and upward):
        yield rest + factor * left
        yield rest + factor * right
    elif opaque.op == "%" and downward and _nonnegative(right - 1, least):
        yield rest + factor * (right - 1)
        if _nonnegative(left, least):
            yield rest + factor * left
    elif opaque.op == "%" and upward and _nonnegative(left, least):
        yield rest
    elif (
        opaque.op == "/"
        and (upward or downward)
        and _nonnegative(left, least)
        and _nonnegative(right - 1, least)
    ):
        # left - right + 1 <= right * (left / right) <= left, and the quotient is at least 0.
        if upward:
            yield rest
        yield rest * right + factor * (left - (right - 1 if upward else constant(0)))


def from_expr(
    expression: ast.Expr, definitions: Mapping[str, ast.Expr | Polynomial] | None = None
) -> Polynomial | None:
    """An integer expression as a polynomial; None where it reads memory, calls, or leaves integers.

    Names in `definitions` are replaced by what they stand for.
    """
    definitions = definitions or {}
    match expression:
        case ast.Literal(value=int() as value):
            return constant(value)
        case ast.Name(value=int() as value):
            return constant(value)
        case ast.Name(name=name) if name in definitions:
            definition = definitions[name]
            return definition if isinstance(definition, Polynomial) else from_expr(definition, definitions)
        case ast.Name(name=name, type=type) if type.kind in ("int", "bool", "enum"):
            return atom(name)
        case ast.Unary(op="+", operand=operand):
            return from_expr(operand, definitions)
        case ast.Unary(op="-" | "~" as op, operand=operand):
            negated = from_expr(operand, definitions)
            return None if negated is None else -negated - (op == "~")
        case ast.Cast(operand=operand, type=type) if type.kind == "int" and (type.size or 0) >= 4:
            return from_expr(operand, definitions)
        case ast.Binary(op=op, left=left, right=right):
            first, second = from_expr(left, definitions), from_expr(right, definitions)
            return None if first is None or second is None else apply(op, first, second)
        case ast.Conditional(condition=ast.Binary(op=op, left=a, right=b), then=then, otherwise=otherwise):
            values = [from_expr(x, definitions) for x in (a, b, then, otherwise)]
            if None in values or op not in ("<", "<=", ">", ">="):
                return None
            first, second, chosen, rejected = (v for v in values if v is not None)
            if (chosen, rejected) == (first, second):
                return minimum(first, second) if op[0] == "<" else maximum(first, second)
            if (chosen, rejected) == (second, first):
                return maximum(first, second) if op[0] == "<" else minimum(first, second)
            return None
        case _:
            return None


def apply(op: str, left: Polynomial, right: Polynomial) -> Polynomial | None:
    """C's binary operator on integers; None for those that are neither arithmetic nor like it.

    Shifts to the right and masks are divisions of what is taken to be not negative.
    """
    number = right.value
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/" if number != 0:
            return quotient(left, right)
        case "%" if number != 0:
            return remainder(left, right)
        case "<<" if number is not None and 0 <= number < 63:
            return left * (1 << number)
        case ">>" if number is not None and 0 <= number < 63:
            return quotient(left, constant(1 << number))
        case "&" if number is not None and number > 0 and number & (number + 1) == 0:
            return remainder(left, constant(number + 1))
        case "&" if number is not None and number < 0 and -number & (-number - 1) == 0:
            return quotient(left, constant(-number)) * -number
        case _:
            return None
