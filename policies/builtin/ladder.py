"""Chooses the next strategy from the evidence of the turns before: what is slow decides what is tried.

Each rule names a strategy and the measurement that speaks for it. The measurements are those of the best
candidate so far; a failed turn only rules its own strategy out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...tools.device import AccessCount
from ...tools.evidence import Turn, best
from ...tools.profiling import Profile
from .nest import Nest
from .strategies import STRATEGIES, Strategy

WASTEFUL = 1.5
REUSED = 2.0
LOW_OCCUPANCY = 0.5
HOT_SHARE = 0.2
WORD = 16

_BOUNDS = {
    "dram": "memory bandwidth",
    "l2": "L2 traffic",
    "l1": "L1 requests",
    "shared": "shared memory",
    "blocks": "the start of blocks",
    "latency": "memory latency",
    "launch": "launches",
}


@dataclass(frozen=True)
class Step:
    """The strategy of the next turn, and a sentence that says why."""

    strategy: Strategy
    reason: str


def next_step(nests: Mapping[str, Nest], turns: tuple[Turn, ...]) -> Step | None:
    """The next strategy, or None where none is left that could help. `nests` are named as their kernels begin."""
    tried = {turn.proposal.strategy for turn in turns}
    if not turns:
        return Step(STRATEGIES[0], f"starts plain: {STRATEGIES[0].summary}")
    leader = best(turns)
    profile = leader.evidence.profile if leader is not None else None
    hot = _hot(nests, profile)
    left = {s.name: s for s in STRATEGIES if s.name not in tried and any(map(s.applies, hot))}
    before = _story(turns[-1], leader)
    if profile is None:
        strategy = next(iter(left.values()), None)
        return None if strategy is None else Step(strategy, f"{before}next is {strategy.summary}")
    for name, speaks in RULES:
        if name in left and (why := speaks(profile)):
            return Step(left[name], f"{before}{why}: {left[name].summary}")
    return None


def _hot(nests: Mapping[str, Nest], profile: Profile | None) -> list[Nest]:
    """The nests whose kernels move a good part of the data."""
    moved = dict.fromkeys(nests, 0)
    for counts in profile.counts if profile is not None else ():
        owner = max((n for n in nests if counts.kernel.startswith(n)), key=len, default=None)
        if owner is not None:
            moved[owner] += sum(a.sectors for a in counts.accesses)
    total = sum(moved.values())
    return [nest for name, nest in nests.items() if moved[name] >= HOT_SHARE * total]


def _story(last: Turn, leader: Turn | None) -> str:
    """What the last turn taught, where that was no progress."""
    name = last.proposal.strategy
    compiled, test = last.evidence.compile, last.evidence.test
    if compiled is not None and not compiled.ok:
        line = compiled.diagnostics[0].line if compiled.diagnostics else 0
        return f"turn {last.index + 1} ({name}) did not compile{f' (line {line})' if line else ''}; "
    if test is not None and not last.evidence.right:
        return f"turn {last.index + 1} ({name}) was not right ({test.verdict}); "
    if leader is None or leader.index == last.index or last.evidence.profile is None:
        return ""
    took, least = _microseconds(last), _microseconds(leader)
    if f"{took:.1f}" == f"{least:.1f}":
        return f"{name} is no faster than {leader.proposal.strategy} ({least:.1f} us); "
    return f"{name} takes {took:.1f} us where {leader.proposal.strategy} takes {least:.1f}; "


def _microseconds(turn: Turn) -> float:
    profile = turn.evidence.profile
    assert profile is not None, "only profiled turns are compared"
    return profile.ranking_us


# The rules: what a profile says for a strategy, in words with the number seen, or None.


def _wasteful(profile: Profile) -> str | None:
    worst = profile.worst_access
    if worst is None or worst.sectors < WASTEFUL * worst.ideal_sectors:
        return None
    moved, needed = (s / max(worst.requests, 1) for s in (worst.sectors, worst.ideal_sectors))
    return f"line {worst.line} moves {moved:.1f} sectors a request where {needed:.1f} would do"


def _reused(profile: Profile) -> str | None:
    for kernel in profile.counts:
        asked = sum(a.lanes * a.bytes_per_thread for a in kernel.accesses if a.space == "global")
        if kernel.unique_bytes and asked >= REUSED * kernel.unique_bytes:
            return f"{kernel.kernel} asks for each byte {asked / kernel.unique_bytes:.1f} times"
    return None


def _narrow(profile: Profile) -> str | None:
    access = _busiest(profile)
    if access is None or access.bytes_per_thread >= WORD or access.sectors >= WASTEFUL * access.ideal_sectors:
        return None
    return f"bound by {_BOUNDS[profile.bound]} with {access.bytes_per_thread} bytes a thread at line {access.line}"


def _busiest(profile: Profile) -> AccessCount | None:
    """The global access that moves the most."""
    accesses = [a for k in profile.counts for a in k.accesses if a.space == "global"]
    return max(accesses, key=lambda a: a.sectors, default=None)


def _waiting(profile: Profile) -> str | None:
    return f"bound by {_BOUNDS[profile.bound]} (estimated {profile.estimate_us:.1f} us)"


def _few_warps(profile: Profile) -> str | None:
    low = min(profile.occupancy, key=lambda o: o.occupancy, default=None)
    if low is None or low.occupancy >= LOW_OCCUPANCY or low.limiter == "grid":
        return None
    return f"{low.kernel} keeps {low.occupancy:.0%} of the warps resident, limited by {low.limiter}"


RULES: tuple[tuple[str, Callable[[Profile], str | None]], ...] = (
    ("teams", _wasteful),
    ("turned", _wasteful),
    ("tiled", _wasteful),
    ("swapped", _wasteful),
    ("tiled", _reused),
    ("squares", _reused),
    ("teams", _waiting),
    ("reshaped", _few_warps),
    ("vectorized", _narrow),
    ("coarsened", _waiting),
)
