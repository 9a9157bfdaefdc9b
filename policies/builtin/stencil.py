"""Stencils through shared memory: a block loads the tile that it needs, halo included, once.

(Micikevicius, "3D Finite Difference Computation on GPUs using CUDA", GPGPU-2, 2009, in one and two dimensions.)
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from ...tools.c import ast
from ...tools.c.polynomial import Polynomial, atom, constant, from_expr
from .body import BodyPrinter, iteration
from .dependence import divided
from .emit import INDENT, RELATIONAL
from .indexing import MOST_BLOCKS_Y, Axis, Index, axes, blocks, guarded, linear
from .kernel import Code, Site, launch
from .loops import Loop, jumps
from .nest import Nest
from .symbolic import Access
from .tree import Names

Shape = tuple[int, ...]
Offset = tuple[int, ...]

# Threads of a block and the iterations that it covers, along x and y, for one and two parallel loops.
BLOCKS: tuple[Shape, ...] = ((256,), (32, 8))
COVERED: tuple[Shape, ...] = ((1024,), (32, 32))
LARGEST_HALO = 8
MOST_SHARED_BYTES = 48 * 1024
FEWEST_READS = 3
MOST_OFFSETS = 1024


@dataclass(frozen=True)
class Tile:
    """An array that is read around each iteration's own place. Offsets are in elements, (row, column) or (column,).

    `stride` is the distance of rows of a flat array, None for one of as many dimensions as the tile. `offsets` gives
    each access's distance from the iteration's place, in the loop variables around the access.
    """

    array: str
    element: ast.CType
    stride: Polynomial | None
    low: Offset
    high: Offset
    cross: bool
    offsets: dict[ast.Expr, tuple[Polynomial, ...]] = field(hash=False)

    @property
    def extents(self) -> Shape:
        """The tile's size, rows first."""
        covered = reversed(COVERED[len(self.low) - 1])
        return tuple(n + high - low for n, low, high in zip(covered, self.low, self.high, strict=True))


def is_stencil(nest: Nest) -> bool:
    return bool(tiles(nest))


def tiles(nest: Nest) -> tuple[Tile, ...]:
    """The arrays of a nest that can be read through shared memory; none where the nest has another form."""
    if (
        nest.reductions
        or nest.scans
        or nest.atomic
        or nest.inner
        or len(nest.loops) > len(BLOCKS)
        or any(map(jumps, nest.body))
    ):
        return ()
    if any(loop.step != 1 for loop in nest.loops):
        return ()
    loops = tuple(reversed(axes(nest).values()))
    found = []
    for root in dict.fromkeys(a.location.root for a in nest.accesses if a.kind == "read"):
        own = [a for a in nest.accesses if a.location.root == root]
        if root not in nest.written and root not in nest.overlapping:
            tile = _tile(root, own, loops)
            if tile is not None:
                found.append(tile)
    while sum(map(_bytes, found)) > MOST_SHARED_BYTES:
        found.pop()
    return tuple(found)


def _tile(root: str, accesses: list[Access], loops: tuple[Loop, ...]) -> Tile | None:
    offsets: dict[ast.Expr, tuple[Polynomial, ...]] = {}
    strides = set()
    touched: set[Offset] = set()
    for access in accesses:
        placed = _placed(access, loops)
        if placed is None or access.conditional or access.helper or not access.expression.type.scalar:
            return None
        stride, offset = placed
        points = constant_values(access, offset)
        if points is None or offsets.setdefault(access.expression, offset) != offset:
            return None
        strides.add(stride)
        touched |= points
    if len(strides) != 1 or len(touched) < FEWEST_READS:
        return None
    reached = {*touched, (0,) * len(loops)}
    low, high = (tuple(pick(column) for column in zip(*reached, strict=True)) for pick in (min, max))
    whole = set(itertools.product(*zip(low, high, strict=True))) <= touched
    cross = len(loops) > 1 and all(sum(d != 0 for d in offset) <= 1 for offset in touched)
    # Corners of the tile that no iteration reads may lie outside of the array.
    if not (whole or cross) or max(map(abs, (*low, *high))) > LARGEST_HALO:
        return None
    element = accesses[0].expression.type
    return Tile(root, element, strides.pop(), low, high, not whole, _named(accesses, offsets))


def _placed(
    access: Access, loops: tuple[Loop, ...]
) -> tuple[Polynomial | None, tuple[Polynomial, ...]] | None:
    """The stride of rows and the distance from the iteration's own place, where the access has such a form."""
    steps = access.location.steps
    if any(isinstance(s, str) for s in steps):
        return None
    places = [atom(loop.variable) for loop in loops]
    if len(steps) == len(loops):
        offset = tuple(s - p for s, p in zip(steps, places, strict=True))  # type: ignore[operator]
        return (None, offset) if _free(offset, loops) else None
    if len(steps) != 1 or len(loops) != 2:
        return None
    (flat,) = steps
    stride = flat.coefficient(loops[0].variable)  # type: ignore[union-attr]
    rest = flat - stride * places[0] - places[1]  # type: ignore[operator]
    if not stride.terms:
        return None
    if stride.value is not None and rest.value is not None:
        row = constant(round(rest.value / stride.value))
        column = rest - row * stride
    else:
        row, column = divided(rest, stride)
    return (stride, (row, column)) if _free((row, column, stride), loops) else None


def _free(offset: tuple[Polynomial, ...], loops: tuple[Loop, ...]) -> bool:
    return all(p.names.isdisjoint(loop.variable for loop in loops) for p in offset)


def constant_values(access: Access, offset: tuple[Polynomial, ...]) -> set[Offset] | None:
    """All values of an offset over the loops around the access; None where they are not constant."""
    ranges = {}
    for name, loop in access.inner:
        first, bound = from_expr(loop.first), from_expr(loop.bound)
        if first is not None and bound is not None and first.value is not None and bound.value is not None:
            last = bound.value + (loop.step > 0 if loop.inclusive else 0)
            ranges[name] = range(
                first.value, last if loop.step > 0 else bound.value - loop.inclusive, loop.step
            )
    names = sorted(frozenset().union(*(p.names for p in offset)))
    inner = {name for name, _ in access.inner}
    if not inner.issuperset(names) or not all(ranges.get(name) for name in inner):
        return None
    values = list(itertools.islice(itertools.product(*(ranges[n] for n in names)), MOST_OFFSETS + 1))
    if len(values) > MOST_OFFSETS:
        return None
    points = set()
    for value in values:
        known = {n: constant(v) for n, v in zip(names, value, strict=True)}
        point = tuple(p.substitute(known).value for p in offset)
        if any(d is None for d in point):
            return None
        points.add(point)
    return points  # type: ignore[return-value]


def _named(
    accesses: list[Access], offsets: dict[ast.Expr, tuple[Polynomial, ...]]
) -> dict[ast.Expr, tuple[Polynomial, ...]]:
    """The offsets in the names that the loops around the accesses have in the source."""
    named = {}
    for access in accesses:
        names = {name: atom(loop.variable) for name, loop in access.inner}
        named[access.expression] = tuple(p.substitute(names) for p in offsets[access.expression])
    return named


def _bytes(tile: Tile) -> int:
    return math.prod((tile.element.size or 8, *tile.extents))


# The kernel.


def stencil_kernel(site: Site) -> Code:
    names = site.names()
    by_axis = axes(site.nest)
    block, covered = BLOCKS[len(by_axis) - 1], COVERED[len(by_axis) - 1]
    shared = {tile: names.fresh(f"{tile.array}_tile") for tile in tiles(site.nest)}
    place = {a: names.fresh(c) for a, c in (("x", "c"), ("y", "r")) if a in by_axis}
    spelled = {
        expression: _element(shared[tile], tile, offset, place)
        for tile in shared
        for expression, offset in tile.offsets.items()
    }
    printer = BodyPrinter(site, spelled.get)
    first = {a: names.fresh(f"{a}0") for a in by_axis}
    indices = {a: Index(loop, a, names.fresh(f"t{a}"), printer) for a, loop in by_axis.items()}

    lines = [site.head(site.kernel, site.parameters()), "{"]
    lines += [
        f"{INDENT}__shared__ {tile.element.spelling} {name}{''.join(f'[{e}]' for e in tile.extents)};"
        for tile, name in shared.items()
    ]
    lines += site.table_lines(1)
    x = indices["x"]
    lines.append(
        f"{INDENT}const long long {first['x']} = {x.value(f'(long long)blockIdx.x * {covered[0]}')};"
    )
    depth = 1
    if "y" in indices:
        y = indices["y"]
        start = y.value(f"(long long)blockIdx.y * {covered[1]}")
        inside = y.inside.replace(y.counter, first["y"], 1)
        lines += [
            f"{INDENT}for (long long {first['y']} = {start}; {inside};",
            f"{INDENT}     {first['y']} += (long long)gridDim.y * {covered[1]}) {{",
        ]
        depth = 2
    pad = INDENT * depth
    for tile, name in shared.items():
        lines += [pad + line for line in _loading(tile, name, indices, first, place, block, site)]
    lines.append(f"{pad}__syncthreads();")
    *fixed, strided = indices
    lines += [f"{pad}const int {place[a]} = threadIdx.{a};" for a in fixed]
    n = "xy".index(strided)
    head = f"int {place[strided]} = threadIdx.{strided}; {place[strided]} < {covered[n]}"
    lines.append(f"{pad}for ({head}; {place[strided]} += {block[n]}) {{")
    inner = pad + INDENT
    for a, i in reversed(indices.items()):
        lines.append(f"{inner}const long long {i.counter} = {first[a]} + {place[a]};")
    lines.append(f"{inner}if ({' && '.join(i.inside for i in reversed(indices.values()))}) {{")
    for i in reversed(indices.values()):
        lines += [f"{inner}{INDENT}{line}" for line in i.variable()]
    lines += [*iteration(site, printer, depth + 2), f"{inner}}}", f"{pad}}}"]
    if "y" in indices:
        lines += [f"{pad}__syncthreads();", f"{INDENT}}}"]
    lines.append("}")

    grid = [
        blocks(loop, size, most=None if a == "x" else MOST_BLOCKS_Y)
        for (a, loop), size in zip(by_axis.items(), covered, strict=True)
    ]
    run = launch(names, site.kernel, block, grid, site.arguments())
    return Code(("\n".join(lines),), guarded(site.nest.loops, run.lines))


def _element(name: str, tile: Tile, offset: tuple[Polynomial, ...], place: dict[Axis, str]) -> str:
    """The element of the tile at an offset from the thread's own."""
    threads = reversed(place.values())
    return name + "".join(
        f"[{(atom(thread) + d - low).to_c()}]"
        for thread, d, low in zip(threads, offset, tile.low, strict=True)
    )


def _loading(
    tile: Tile,
    name: str,
    indices: dict[Axis, Index],
    first: dict[Axis, str],
    counters: dict[Axis, str],
    block: Shape,
    site: Site,
) -> list[str]:
    """Lines by which a block's threads load a tile: all of it that lies within reach of the loops."""
    axes_: tuple[Axis, ...] = tuple(reversed(indices))
    names = Names((*site.used, *first.values(), *counters.values()))
    places = {a: names.fresh({"y": "row", "x": "column"}[a]) for a in axes_}
    extents = dict(zip(axes_, tile.extents, strict=True))
    low, high = (dict(zip(axes_, side, strict=True)) for side in (tile.low, tile.high))
    lines, depth = [], 0
    for a in axes_:
        size = block["xyz".index(a)]
        head = (
            f"for (int {counters[a]} = threadIdx.{a}; {counters[a]} < {extents[a]}; {counters[a]} += {size})"
        )
        lines.append(f"{INDENT * depth}{head} {{")
        depth += 1
    pad = INDENT * depth
    for a in axes_:
        place = (atom(first[a]) + atom(counters[a]) + low[a]).to_c()
        lines.append(f"{pad}const long long {places[a]} = {place};")
    within = [f"{places[a]} {indices[a].loop.comparison} {_beyond(indices[a], high[a])}" for a in axes_]
    if tile.cross:
        sides = [
            f"({places[a]} >= {indices[a].printer.expression(indices[a].loop.first, RELATIONAL)}"
            f" && {indices[a].inside.replace(indices[a].counter, places[a], 1)})"
            for a in axes_
        ]
        within.append(f"({' || '.join(sides)})")
    lines.append(f"{pad}if ({' && '.join(within)})")
    target = name + "".join(f"[{counters[a]}]" for a in axes_)
    if tile.stride is None:
        source = "".join(f"[{places[a]}]" for a in axes_)
    else:
        stride = tile.stride.to_c() if tile.stride.is_simple else f"({tile.stride.to_c()})"
        source = f"[{places['y']} * {stride} + {places['x']}]"
    lines.append(f"{pad}{INDENT}{target} = {tile.array}{source};")
    return [*lines, *(f"{INDENT * d}}}" for d in range(depth - 1, -1, -1))]


def _beyond(index: Index, by: int) -> str:
    """The bound of a loop, moved by the halo."""
    if by == 0:
        return index.bound
    bound = linear(index.loop.bound)
    return f"{index.bound} + {by}" if bound is None else (bound + by).to_c()
