"""The strategies, from the plainest up. Each tells where it applies and writes complete kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .kernel import Code, Site
from .nest import Nest
from .reduce import reduction_kernels
from .threads import COARSENED, NAIVE, RESHAPED, Mapping, map_kernel


@dataclass(frozen=True)
class Strategy:
    """`summary` says to a person what it does; nests that it does not apply to are written by `naive`."""

    name: str
    summary: str
    applies: Callable[[Nest], bool]
    emit: Callable[[Site], Code]


def _mapped(mapping: Mapping) -> Callable[[Site], Code]:
    def emit(site: Site) -> Code:
        return reduction_kernels(site, mapping) if site.nest.reductions else map_kernel(site, mapping)

    return emit


STRATEGIES = (
    Strategy("naive", "one thread an element", lambda nest: True, _mapped(NAIVE)),
    Strategy("coarsened", "four elements a thread", lambda nest: True, _mapped(COARSENED)),
    Strategy("reshaped", "smaller blocks", lambda nest: True, _mapped(RESHAPED)),
)


def written_with(strategy: Strategy) -> Callable[[Site], Code]:
    """Writes each nest with the strategy where it applies, else naively."""
    naive = STRATEGIES[0]

    def make(site: Site) -> Code:
        return (strategy if strategy.applies(site.nest) else naive).emit(site)

    return make
