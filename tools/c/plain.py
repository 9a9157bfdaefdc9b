"""A function's parameters as a launcher takes them: numbers and arrays, in the place of structs and of rows."""

from __future__ import annotations

from dataclasses import dataclass

from . import ast
from .parts import Obstacle, Part, taken_apart
from .rows import with_rows


@dataclass(frozen=True)
class Plain:
    """A unit in which a function takes numbers and arrays alone, as far as that can be had.

    `parts` are those of an original parameter that was taken apart, by its name. `levels` tells of the parameters that
    were pointers to rows how many levels of rows they have, `exchanged` which of them take each other's place.
    `obstacles` say what keeps a parameter as it is.
    """

    unit: ast.Unit
    parts: dict[str, tuple[Part, ...]]
    levels: dict[str, int]
    exchanged: tuple[frozenset[str], ...]
    obstacles: dict[str, Obstacle]


def plain(unit: ast.Unit, name: str) -> Plain:
    """The unit with the parameters of a function, and of the helpers that it passes them to, made plain."""
    apart, parts, whole = taken_apart(unit, name)
    rows = with_rows(apart, name)
    return Plain(rows.unit, parts, rows.levels, rows.exchanged, whole | rows.obstacles)
