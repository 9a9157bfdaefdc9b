"""Nests that read along one loop and write along another: a tile in shared memory turns the values around.

A block reads a square in the order of the memory that it reads, and goes on in that of the memory that it writes.
(Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", NVIDIA 2009.)
"""

from __future__ import annotations

from ...tools.c import ast
from . import flow
from .body import BodyPrinter, iteration
from .emit import INDENT
from .indexing import MOST_BLOCKS_Y, Axis, Index, blocks, guarded, stride
from .kernel import Code, Site, launch
from .loops import Loop
from .nest import Nest
from .product import value_at
from .symbolic import Access

THREADS = 256
# A tile of 64 rows where the tiles fit into shared memory, whose 48 KB every GPU has.
SHARED_BYTES = 48 << 10


def has_turned(nest: Nest) -> bool:
    return turned(nest) is not None


def turned(nest: Nest) -> tuple[Loop, Loop, tuple[Access, ...]] | None:
    """The loop along which a nest writes, the other one, and what it reads along that; None where there is no such."""
    if len(nest.loops) != 2 or nest.inner or nest.reductions or nest.scans or nest.atomic:
        return None
    if any(loop.step != 1 for loop in nest.loops):
        return None
    writes = [a for a in nest.accesses if a.kind == "write"]
    for along, other in (nest.loops, nest.loops[::-1]):
        if not all(stride(a, along) == 1 for a in writes):
            continue
        reads = tuple(a for a in nest.accesses if _is_turned(a, nest, along, other))
        if reads:
            return along, other, reads
    return None


def _is_turned(access: Access, nest: Nest, along: Loop, other: Loop) -> bool:
    """Whether neighbours along the other loop read neighbouring elements, which every thread could read."""
    own = {loop.variable for loop in nest.loops}
    return (
        access.kind == "read"
        and stride(access, other) == 1
        and stride(access, along) not in (0, 1)
        and not access.conditional
        and not access.inner
        and access.helper is None
        and access.location.root not in (*nest.written, *nest.overlapping)
        and access.expression.type.scalar
        and flow.names_in([access.expression]).keys() - own <= nest.names.keys()
    )


def turned_kernel(site: Site) -> Code:
    """The kernel and its launch: rows of threads read, and write, a square tile."""
    found = turned(site.nest)
    assert found is not None, "the strategy applies"
    along, other, reads = found
    names = site.names()
    widths = [a.expression.type.size or 8 for a in reads]
    tile = 64 if sum(widths) * 64 * 65 <= SHARED_BYTES else 32
    rows = THREADS // tile
    tiles: dict[ast.Expr, str] = {}
    for access in reads:
        tiles[access.expression] = names.fresh(f"{access.location.root}_tile")
    x0, y0, n = names.fresh("x0"), names.fresh("y0"), names.fresh("n")
    spelled = {e: f"{name}[threadIdx.x][{n}]" for e, name in tiles.items()}
    printer = BodyPrinter(site, spelled.get)
    by_axis: dict[Axis, Loop] = {"x": along, "y": other}
    indices = {a: Index(loop, a, names.fresh(f"t{a}"), printer) for a, loop in by_axis.items()}
    x, y = indices["x"], indices["y"]
    inside = " && ".join(i.inside for i in (y, x))
    steps = f"for (unsigned int {n} = threadIdx.y; {n} < {tile}; {n} += {rows})"
    body = [
        steps + (" {" if len(tiles) > 1 else ""),
        *(
            f"{INDENT}{name}[{n}][threadIdx.x] = "
            f"{value_at(e, {other: f'{y0} + threadIdx.x', along: f'{x0} + {n}'})};"
            for e, name in tiles.items()
        ),
        *(["}"] if len(tiles) > 1 else []),
        "__syncthreads();",
        f"{steps} {{",
        f"{INDENT}const long long {x.counter} = {x0} + threadIdx.x, {y.counter} = {y0} + {n};",
        f"{INDENT}if (!({inside}))",
        f"{INDENT * 2}continue;",
        *(f"{INDENT}{line}" for i in (y, x) for line in i.variable()),
        *iteration(site, printer, 1),
        "}",
        "__syncthreads();",
    ]
    lines = [
        site.head(site.kernel, site.parameters()),
        "{",
        *(f"{INDENT}__shared__ {e.type.spelling} {name}[{tile}][{tile + 1}];" for e, name in tiles.items()),
        *site.table_lines(1),
        f"{INDENT}const long long {x0} = {x.value(f'(long long)blockIdx.x * {tile}')};",
        f"{INDENT}for (long long {y0} = {y.value(f'(long long)blockIdx.y * {tile}')};",
        f"{INDENT}     {y.inside.replace(y.counter, y0, 1)}; {y0} += (long long)gridDim.y * {tile}) {{",
        *(f"{INDENT * 2}{line}" for line in body),
        f"{INDENT}}}",
        "}",
    ]
    grid = [blocks(along, tile), blocks(other, tile, most=MOST_BLOCKS_Y)]
    run = launch(names, site.kernel, (tile, rows), grid, site.arguments())
    return Code(("\n".join(lines),), guarded(site.nest.loops, run.lines))
