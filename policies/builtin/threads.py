"""One kernel for a nest without reductions: a thread for each element, or for several."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .body import BodyPrinter, iteration
from .emit import INDENT
from .indexing import MOST_BLOCKS_Y, Axis, Index, axes, blocks, guarded, index
from .kernel import Code, Site, launch, wrapped
from .loops import Loop
from .tree import Names

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Mapping:
    """Threads a block for one, two and three parallel loops; `each`: iterations a thread along its last axis.

    They follow one another along y and z, where they share what they read, and stride over the grid along x.
    """

    shapes: tuple[Shape, Shape, Shape]
    each: int = 1

    def block(self, dimensions: int) -> Shape:
        return self.shapes[dimensions - 1]


NAIVE = Mapping(((256,), (32, 8), (32, 4, 2)))
COARSENED = Mapping(((256,), (128, 2), (64, 2, 2)), each=4)
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
    several = mapping.each if last != "x" else 1
    if "x" not in strided:
        x = indices["x"]
        lines += [f"{INDENT}{x.declaration()}", f"{INDENT}if ({x.outside})", f"{INDENT * 2}return;"]
        lines += [f"{INDENT}{line}" for line in x.variable()]
    for axis in reversed(strided):
        if axis == last and several > 1:
            lines += [f"{INDENT * depth}{line}" for line in _in_a_row(indices[axis], several, names)]
            depth += 2
        else:
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


def _in_a_row(index: Index, each: int, names: Names) -> list[str]:
    """Lines that head a loop over the iterations of a thread, which takes `each` of them in a row."""
    first, n = names.fresh(f"{index.counter}0"), names.fresh("n")
    start, step = replace(index, counter=first), abs(index.loop.step)
    sign = "+" if index.loop.step > 0 else "-"
    beyond = f"{step} * {n}" if step > 1 else n
    size = f"{each * step} * ({index.counter_type})gridDim.{index.axis} * blockDim.{index.axis}"
    return [
        f"for ({index.counter_type} {first} = {index.value(f'{each} * ({index.position})')}; {start.inside};",
        f"     {first} {sign}= {size}) {{",
        f"{INDENT}#pragma unroll",
        f"{INDENT}for (int {n} = 0; {n} < {each}; {n}++) {{",
        f"{INDENT * 2}const {index.counter_type} {index.counter} = {first} {sign} {beyond};",
        f"{INDENT * 2}if ({index.outside})",
        f"{INDENT * 3}continue;",
    ]


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
