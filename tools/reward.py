"""One reward for a turn, as a pure function of its evidence: correctness, speed, structure.

After "CudaPerf" (arXiv 2607.20908): execution and structure joined. Speed counts in milestones over the baseline rather
than raw, and structure is bounded below the worth of one milestone, so that neither can buy back a wrong result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .device import CompileResult
from .profiling import Profile
from .records import Record


@dataclass(frozen=True)
class Weights:
    """Worth of each term. An ablation sets one of them to zero."""

    compiled: float = 0.1
    right: float = 1.0
    milestone: float = 0.25
    structure: float = 0.2
    milestones: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 20.0)
    gamma: float = 0.4


class StructureTerms(Record):
    """Each between 0 (bad) and 1 (as good as it gets), measured on kernels that were seen to launch.

    `coalescing`: sectors that the bytes need over sectors moved. `bank_conflicts`: the same of shared memory.
    `reuse`: bytes of the footprint over bytes asked of L1, which rises with arithmetic intensity.
    `synchronization`: falls with the barriers that each thread passes. `occupancy`: resident over possible warps.
    """

    coalescing: float
    bank_conflicts: float
    reuse: float
    synchronization: float
    occupancy: float

    @property
    def mean(self) -> float:
        terms = (self.coalescing, self.bank_conflicts, self.reuse, self.synchronization, self.occupancy)
        return sum(terms) / len(terms)


class Reward(Record):
    """Every term kept. `speed` and `structure` are None where nothing was measured."""

    compiled: float
    right: float
    speed: float | None
    structure: float | None
    structure_terms: StructureTerms | None
    total: float


def reward(
    compiled: CompileResult | None,
    right: bool,
    profile: Profile | None,
    speedup: float | None,
    weights: Weights | None = None,
) -> Reward:
    """`right` is a verdict on the tier *accept*; `speedup` the geometric mean over the baseline, None on the CPU."""
    w = weights or Weights()
    compiles = w.compiled if compiled is not None and compiled.ok else 0.0
    correct = w.right if compiles and right else 0.0
    speed = None
    if correct and speedup is not None:
        speed = w.milestone * sum(speedup >= m for m in w.milestones)
    terms = structure_terms(profile) if correct and profile is not None else None
    structure = w.structure * terms.mean if terms is not None else None
    return Reward(
        compiled=compiles,
        right=correct,
        speed=speed,
        structure=structure,
        structure_terms=terms,
        total=compiles + correct + (speed or 0.0) + (structure or 0.0),
    )


def structure_terms(profile: Profile) -> StructureTerms | None:
    """None where no kernel was seen to launch."""
    if not profile.counts:
        return None
    accesses = [a for k in profile.counts for a in k.accesses]
    memory = [a for a in accesses if a.space == "global"]
    shared = [a for a in accesses if a.space == "shared"]
    asked = sum(a.lanes * a.bytes_per_thread for a in memory)
    threads = sum(k.threads for k in profile.counts)
    barriers = sum(k.barriers_per_thread * k.threads for k in profile.counts) / max(threads, 1)
    occupancies = [o.occupancy for o in profile.occupancy]
    return StructureTerms(
        coalescing=_ratio(sum(a.ideal_sectors for a in memory), sum(a.sectors for a in memory)),
        bank_conflicts=_ratio(sum(a.ideal_sectors for a in shared), sum(a.sectors for a in shared)),
        reuse=_ratio(sum(k.unique_bytes for k in profile.counts), asked),
        synchronization=1 / (1 + barriers / 16),
        occupancy=sum(occupancies) / len(occupancies) if occupancies else 0.0,
    )


def returns(rewards: Sequence[float], gamma: float = Weights.gamma) -> tuple[float, ...]:
    """The multi-turn return of each turn t: the sum over later turns k of gamma^(k-t) r_k."""
    total, out = 0.0, []
    for r in reversed(rewards):
        total = r + gamma * total
        out.append(total)
    return tuple(reversed(out))


def _ratio(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole else 1.0
