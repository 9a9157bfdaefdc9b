"""What a kernel that is taken apart consists of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .spread import UNKNOWN, Spread


class NotSimple(Exception):
    """The kernel is not of the shape that can be taken apart."""


@dataclass(eq=False)
class Variable:
    """A variable of the kernel's.

    A `scalar` is declared once for the block or the warp. One that is `computed` has its value from built-ins,
    parameters and the like, and is declared again wherever it is `needed`; one that is `rising` rises by one from
    thread to thread of a row. Any other is each thread's own, and has storage where more than one region mentions it.
    """

    name: str
    type: str = ""
    declarator: str = ""
    value: str = ""
    line: int = 0
    spread: Spread = UNKNOWN
    scalar: bool = False
    computed: bool = False
    rising: bool = False
    needs: tuple[Variable, ...] = ()
    regions: set[Region] = field(default_factory=set)
    storage: str = ""

    def needed(self) -> Iterator[Variable]:
        """What must be declared where it is mentioned, in order."""
        for other in self.needs:
            yield from other.needed()
        if self.computed:
            yield self


@dataclass(frozen=True)
class Narrowed:
    """A branch that threads of a row, or lanes, take from `begin` to before `end`; `text` is what they do."""

    begin: str
    end: str
    text: str


@dataclass(frozen=True)
class Statement:
    text: str
    line: int
    narrowed: Narrowed | None = None


@dataclass(eq=False)
class Region:
    """Statements that each thread of the block, or each lane of a stretch's warp, runs with no wait in between."""

    stretch: Stretch | None
    statements: list[Statement | Variable] = field(default_factory=list)
    mentioned: dict[Variable, None] = field(default_factory=dict)


@dataclass(eq=False)
class Stretch:
    """What each warp runs from barrier to barrier; `storage` are the variables that live in it alone."""

    parts: list[Part] = field(default_factory=list)
    storage: list[Variable] = field(default_factory=list)
    exchanges: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Control:
    """A loop or branch that the block, or the warp, takes as one."""

    heading: str
    line: int
    needs: tuple[Variable, ...]
    body: list[Part]
    otherwise: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Text:
    """What the block, or the warp, does once."""

    text: str
    line: int


Part = Region | Stretch | Control | Text


def regions(parts: list[Part]) -> Iterator[Region]:
    for part in parts:
        match part:
            case Region():
                yield part
            case Stretch(parts=inner):
                yield from regions(inner)
            case Control(body=body, otherwise=otherwise):
                yield from regions(body)
                yield from regions(otherwise)
