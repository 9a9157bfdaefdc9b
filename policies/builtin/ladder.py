"""Chooses the next strategy from the evidence of the turns before."""

from __future__ import annotations

from dataclasses import dataclass

from ...tools.evidence import Turn, best
from .nest import Nest
from .strategies import STRATEGIES, Strategy


@dataclass(frozen=True)
class Step:
    strategy: Strategy
    reason: str


def next_step(nests: tuple[Nest, ...], turns: tuple[Turn, ...]) -> Step | None:
    """The next strategy and why, or None where none is left."""
    tried = {turn.proposal.strategy for turn in turns}
    left = [s for s in STRATEGIES if s.name not in tried and any(map(s.applies, nests))]
    if not left:
        return None
    return Step(left[0], f"{left[0].summary}")
