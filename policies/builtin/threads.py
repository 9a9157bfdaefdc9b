"""One kernel for a nest without reductions: a thread for each element, or for several."""

from __future__ import annotations

from dataclasses import dataclass

from .body import BodyPrinter, iteration
from .emit import INDENT
from .indexing import MOST_BLOCKS_Y, Axis, axes, blocks, guarded, index
from .kernel import Code, Site, launch, wrapped
from .loops import Loop

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Mapping:
    """Threads a block for one, two and three parallel loops; `each`: iterations a thread along its last axis."""

    shapes: tuple[Shape, Shape, Shape]
    each: int = 1

    def block(self, dimensions: int) -> Shape:
        return self.shapes[dimensions - 1]


NAIVE = Mapping(((256,), (32, 8), (32, 4, 2)))
COARSENED = Mapping(((256,), (32, 8), (32, 4, 2)), each=4)
RESHAPED = Mapping(((128,), (64, 2), (64, 2, 1)))


def map_kernel(site: Site, mapping: Mapping, along_x: Loop | None = None) -> Code:
    """The kernel and its launch. A thread leaves where it lies beyond the end along x; along the other axes, where
    the number of blocks is limited, it strides over all its iterations."""
    names = site.names()
    by_axis = axes(site.nest, along_x)
    block = mapping.block(len(by_axis))
    last = list(by_axis)[-1]
    strided: list[Axis] = [a for a in by_axis if a != "x" or (a == last and mapping.each > 1)]
    printer = BodyPrinter(site, skip="continue" if strided else "return")
    indices = {a: index(site, loop, a, names, printer) for a, loop in by_axis.items()}

    lines = [site.head(site.kernel, site.parameters()), "{", *site.table_lines(1)]
    depth = 1
    if "x" not in strided:
        x = indices["x"]
        lines += [f"{INDENT}{x.declaration()}", f"{INDENT}if ({x.outside})", f"{INDENT * 2}return;"]
        lines += [f"{INDENT}{line}" for line in x.variable()]
    for axis in reversed(strided):
        lines += [f"{INDENT * depth}{line}" for line in indices[axis].strided()]
        depth += 1
        lines += [f"{INDENT * depth}{line}" for line in indices[axis].variable()]
    lines += iteration(site, printer, depth)
    lines += [f"{INDENT * d}}}" for d in range(depth - 1, -1, -1)]

    grid = [
        blocks(loop, size, mapping.each if a == last else 1, None if a == "x" else MOST_BLOCKS_Y)
        for (a, loop), size in zip(by_axis.items(), block, strict=True)
    ]
    body = launch(names, site.kernel, block, grid, site.arguments())
    return Code(("\n".join(lines),), guarded(site.nest.loops, body.lines))


def single_kernel(site: Site) -> Code:
    """The kernel of a nest of one iteration, which nothing in it asks for."""
    printer = BodyPrinter(site, skip="return")
    lines = [
        site.head(site.kernel, site.parameters()),
        "{",
        *site.table_lines(1),
        *iteration(site, printer, 1),
        "}",
    ]
    return Code(("\n".join(lines),), (wrapped(f"{site.kernel}<<<1, 1>>>(", site.arguments(), ");"),))
