"""Functions of C's library that have a definition here, in ``standard.c``, since device code has none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from . import ast

PATH = str(Path(__file__).parent / "standard.c")
_CLASSES = (
    "digit",
    "upper",
    "lower",
    "alpha",
    "alnum",
    "space",
    "blank",
    "xdigit",
    "graph",
    "print",
    "cntrl",
    "punct",
)
CHARACTERS = frozenset([*(f"is{name}" for name in _CLASSES), "toupper", "tolower"])
"""The functions of ctype.h, which are called ``c_isdigit`` and so on here."""


def with_standard(unit: ast.Unit, parse: Callable[[str, str], ast.Unit]) -> ast.Unit:
    """The unit with the definitions that its functions, and those themselves, call."""
    wanted = [f.body for f in unit.functions.values()]
    found: dict[str, ast.Function] = {}
    for body in wanted:
        for name in _called(body):
            if name.startswith(("complex_", "c_")) and name not in unit.functions and name not in found:
                function = _definitions(parse).get(name)
                if function is not None:
                    found[name] = function
                    wanted.append(function.body)
    return dataclasses.replace(unit, functions=unit.functions | found) if found else unit


def is_standard(function: ast.Function) -> bool:
    return function.place.file == PATH


def _called(body: ast.Stmt) -> Iterable[str]:
    return [n.function for n in ast.walk(body) if isinstance(n, ast.Call)]


@cache
def _definitions(parse: Callable[[str, str], ast.Unit]) -> dict[str, ast.Function]:
    return parse(PATH, Path(PATH).read_text()).functions
