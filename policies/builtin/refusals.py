"""What the built-in policy refuses, by name, and what a person can do about it. One table."""

from __future__ import annotations

from ...tools.c.ast import Place
from ...tools.records import Finding

REMEDIES = {
    "loop-carried-dependence": "write to a second array, or make the iterations independent",
    "carried-scalar": "declare the variable inside the loop, or make it a plain sum, product, minimum or maximum",
    "scalar-live-out": "compute the value after the loop, or make it a plain sum, product, minimum or maximum",
    "unknown-subscript": "use subscripts that are linear in the loop variables",
    "possible-overlap": "let each pointer stand for an array of its own where the loop runs",
    "irregular-loop": "write the loop as for (i = first; i < last; i += step) with bounds that it does not change",
    "loop-exit": "let the loop run to its end, and search with a minimum over the indices instead",
    "unknown-call": "move the call out of the function, or define what it calls in the same file",
    "recursion": "rewrite the recursion as a loop",
    "no-loop": "give a function that works on arrays in loops",
    "sequential-loop": "split the sequential part into a function of its own",
    "static-local": "make the variable a parameter",
    "construct": "rewrite it in plain C",
    "unsupported-parameter": "pass arrays as pointers to their elements",
    "pointer-arithmetic": "index the array instead of moving the pointer",
    "return-in-loop": "return after the loop",
}
"""Remedies by rule."""


class Refused(Exception):
    """Something that the built-in policy does not translate, with its place in the C source."""

    def __init__(self, rule: str, message: str, place: Place) -> None:
        super().__init__(message)
        self.finding = Finding(
            rule=rule,
            message=message,
            file=place.file,
            line=place.line,
            column=place.column,
            remedy=REMEDIES[rule],
        )


def loop_at(place: Place) -> str:
    """How messages name a loop: ``loop at heat.c:12``."""
    return f"loop at {place.file.rsplit('/', 1)[-1]}:{place.line}"
