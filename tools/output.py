"""Compares what two programs print, word by word."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

RELATIVE_TOLERANCE = 1e-4
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def difference(originals: Sequence[str], ported: str) -> str | None:
    """The first word that differs from the first original.

    Words in which the original differs from itself, run again or compiled otherwise, such as timings, are left out.
    """
    words, got = originals[0].split(), ported.split()
    if len(words) != len(got):
        return f"{len(got)} words instead of {len(words)}"
    others = [o.split() for o in originals[1:]]
    for i, (word, other) in enumerate(zip(words, got, strict=True)):
        stable = all(len(o) == len(words) and _close(word, o[i]) for o in others)
        if stable and not _close(word, other):
            return f"word {i + 1} is {other!r} instead of {word!r}"
    return None


def _close(a: str, b: str) -> bool:
    """Whether two words differ only in numbers, and those by no more than rounding in print."""
    if a == b:
        return True
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    numbers = zip(NUMBER.findall(a), NUMBER.findall(b), strict=True)
    return all(x == y or _close_numbers(x, y) for x, y in numbers)


def _close_numbers(x: str, y: str) -> bool:
    if "." not in x + y:
        return False
    digits = max(len(t.split("e")[0].split("E")[0].partition(".")[2]) for t in (x, y))
    return math.isclose(float(x), float(y), rel_tol=RELATIVE_TOLERANCE, abs_tol=2.0 * 10.0**-digits)
