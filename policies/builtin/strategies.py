"""The strategies, from the plainest up. Each tells where it applies and writes complete kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .indexing import by_contiguity, contiguous_accesses
from .kernel import Code, Site
from .nest import Nest
from .prefix import scan_kernels
from .product import is_product, product_kernel
from .reduce import reduction_kernels
from .registers import has_square, square_kernel
from .stencil import is_stencil, stencil_kernel
from .teams import has_team, team_kernel
from .threads import COARSENED, NAIVE, RESHAPED, Mapping, map_kernel
from .transposition import has_turned, turned_kernel
from .vectors import is_vectorizable, vector_kernels


@dataclass(frozen=True)
class Strategy:
    """`summary` says to a person what it does; nests that it does not apply to are written by `naive`."""

    name: str
    summary: str
    applies: Callable[[Nest], bool]
    emit: Callable[[Site], Code]


def _mapped(mapping: Mapping) -> Callable[[Site], Code]:
    def emit(site: Site) -> Code:
        if site.nest.scans:
            return scan_kernels(site, mapping)
        return reduction_kernels(site, mapping) if site.nest.reductions else map_kernel(site, mapping)

    return emit


def _is_tiled(nest: Nest) -> bool:
    return is_stencil(nest) or is_product(nest)


def _tiled(site: Site) -> Code:
    return product_kernel(site) if is_product(site.nest) else stencil_kernel(site)


def _is_swappable(nest: Nest) -> bool:
    return (
        len(nest.loops) > 1 and not nest.reductions and contiguous_accesses(nest, by_contiguity(nest)[1]) > 0
    )


def _swapped(site: Site) -> Code:
    return map_kernel(site, NAIVE, along_x=by_contiguity(site.nest)[1])


STRATEGIES = (
    Strategy("naive", "one thread an element", lambda nest: True, _mapped(NAIVE)),
    Strategy("teams", "a team of threads an iteration, which shares its inner loops", has_team, team_kernel),
    Strategy("coarsened", "four elements a thread", lambda nest: True, _mapped(COARSENED)),
    Strategy("tiled", "a tile of the input in shared memory", _is_tiled, _tiled),
    Strategy("squares", "a square of sums a thread, in registers", has_square, square_kernel),
    Strategy("turned", "a tile in shared memory that turns rows into columns", has_turned, turned_kernel),
    Strategy("vectorized", "16-byte words in place of single elements", is_vectorizable, vector_kernels),
    Strategy("swapped", "threads next to each other along the other loop", _is_swappable, _swapped),
    Strategy("reshaped", "smaller blocks", lambda nest: True, _mapped(RESHAPED)),
)


def written_with(strategy: Strategy) -> Callable[[Site], Code]:
    """Writes each nest with the strategy where it applies, else naively."""
    naive = STRATEGIES[0]

    def make(site: Site) -> Code:
        return (strategy if strategy.applies(site.nest) else naive).emit(site)

    return make
