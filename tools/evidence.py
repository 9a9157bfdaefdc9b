"""What one turn of the loop leaves behind: the evidence, and the turn that it belongs to."""

from __future__ import annotations

from typing import Literal as OneOf

from .correctness import TestReport
from .device import CompileResult
from .profiling import Profile
from .records import Finding, Proposal, Record
from .reward import Reward
from .structure import Structure


class Evidence(Record):
    """What the tools found out about a candidate, as far as it came."""

    structure: Structure | None = None
    compile: CompileResult | None = None
    test: TestReport | None = None
    profile: Profile | None = None

    @property
    def right(self) -> bool:
        """Passed every configuration and checker of the tier *accept*."""
        return self.test is not None and self.test.right


class Diagnosis(Record):
    """What the evidence says about the candidate, for whoever writes the next one.

    `verdict` is a word or two (``right``, ``wrong-result``, ``compile-error``, ``repeated`` ...); `summary` a
    sentence with the number that matters; `findings` the places; `advice` what to try next.
    """

    stage: OneOf["generate", "compile", "test", "profile"]
    verdict: str
    summary: str
    findings: tuple[Finding, ...] = ()
    advice: str = ""


class Turn(Record):
    """One walk through the loop. Turns are the loop's only memory."""

    index: int
    proposal: Proposal
    evidence: Evidence
    reward: Reward
    diagnosis: Diagnosis


def best(turns: tuple[Turn, ...]) -> Turn | None:
    """The right candidate with the shortest measured time, or where no GPU measured, the shortest estimate for inputs
    that fill one."""

    def cost(turn: Turn) -> tuple[float, int]:
        p = turn.evidence.profile
        if p is None:
            return (float("inf"), turn.index)
        return (p.ranking_us, turn.index)

    return min((t for t in turns if t.evidence.right), key=cost, default=None)
