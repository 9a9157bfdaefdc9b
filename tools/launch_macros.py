"""Launches inside macros, whose text no grammar covers."""

from __future__ import annotations

import re


def rewritten_launches(text: str) -> str:
    """A text with each ``kernel<<<configuration>>>(arguments)`` as a call of the kernel's stub, on the same lines.

    For macros, whose text no grammar covers. A launch that cannot be followed to its end stays as it is.
    """
    while (begin := text.find("<<<")) >= 0:
        end = text.find(">>>", begin)
        callee = _CALLEE.search(text, 0, begin)
        close = _closing(text, text.find("(", end)) if end >= 0 else -1
        if callee is None or close < 0:
            return text
        configuration, arguments = text[begin + 3 : end], text[end + 3 : close]
        call = f"(::cudaperf::configure({configuration}), {callee[0].strip()}{arguments})"
        text = text[: callee.start()] + call + text[close:]
    return text


# A kernel's name with template arguments, right before its launch.
_CALLEE = re.compile(r"[\w:#]+(?:\s*<[^;{}]*>)?\s*$")


def _closing(text: str, opening: int) -> int:
    """The place behind the parenthesis that closes the one at `opening`; -1 where there is none."""
    depth = 0
    for i in range(opening, len(text)) if opening >= 0 else ():
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return -1
