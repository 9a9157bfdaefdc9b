"""Conditions on integers, as far as they are linear: what a loop or an ``if`` tells about its variables.

A part that is not known is taken to hold. So a formula describes at least the cases that can happen, and a proof that
no case exists is a proof. Negation would turn that around: it is left to those who know both outcomes exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal as OneOf

from ...tools.c.polynomial import Polynomial


@dataclass(frozen=True)
class Formula:
    """``ge``: the polynomial is at least 0; ``any``: nothing is known."""

    kind: OneOf["ge", "and", "or", "any"]
    polynomial: Polynomial | None = None
    parts: tuple[Formula, ...] = ()

    def __and__(self, other: Formula) -> Formula:
        parts = [p for f in (self, other) for p in (f.parts if f.kind == "and" else (f,)) if p.kind != "any"]
        return parts[0] if len(parts) == 1 else Formula("and", parts=tuple(parts)) if parts else ANY

    def __or__(self, other: Formula) -> Formula:
        return ANY if "any" in (self.kind, other.kind) else Formula("or", parts=(self, other))

    @property
    def names(self) -> frozenset[str]:
        own = self.polynomial.names if self.polynomial is not None else frozenset()
        return own.union(*(p.names for p in self.parts))

    def without(self, names: frozenset[str] | set[str]) -> Formula:
        """What is left where nothing is known of some names."""
        if self.polynomial is not None:
            return ANY if self.polynomial.names & names else self
        parts = [part.without(names) for part in self.parts]
        if self.kind == "or":
            return ANY if any(p.kind == "any" for p in parts) else Formula("or", parts=tuple(parts))
        result = ANY
        for part in parts:
            result &= part
        return result

    def text(self, spelled: Callable[[Polynomial], str | None]) -> str:
        """The formula in isl's notation; `spelled` gives a polynomial's text, None where it is not linear."""
        if self.kind == "any":
            return "true"
        if self.polynomial is not None:
            linear = spelled(self.polynomial)
            return "true" if linear is None else f"{linear} >= 0"
        return f" {self.kind} ".join(f"({p.text(spelled)})" for p in self.parts)


ANY = Formula("any")


def at_least(left: Polynomial, right: Polynomial | int) -> Formula:
    return Formula("ge", left - right)


def equal(left: Polynomial, right: Polynomial | int) -> Formula:
    return at_least(left, right) & at_least(-(left - right), 0)


def comparison(op: str, left: Polynomial, right: Polynomial) -> Formula:
    """The formula of one of C's comparisons."""
    match op:
        case "<":
            return at_least(right, left + 1)
        case "<=":
            return at_least(right, left)
        case ">":
            return at_least(left, right + 1)
        case ">=":
            return at_least(left, right)
        case "==":
            return equal(left, right)
        case _:
            return at_least(left, right + 1) | at_least(right, left + 1)


NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
