"""Kernels for a nest with reductions: each block joins its threads' results, a last block joins the blocks'.

The order in which results are joined depends on the launch alone, so that every run gives the same bits.
(Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007, with warp shuffles in place of its last steps.)
"""

from __future__ import annotations

import re

from ...tools.c import ast
from ...tools.c.ast import declare
from . import flow
from .body import BodyPrinter, iteration
from .emit import INDENT, Printer
from .indexing import Index, axes, blocks, index
from .kernel import LOAD, Code, Launch, Site, launch, wrapped
from .reduction import Reduction
from .threads import Mapping
from .tree import Names

MOST_BLOCKS = ((1024,), (32, 32), (16, 8, 8))
_WORDS = {
    "+": ("sum", "sum"),
    "*": ("product", "product"),
    "<": ("minimum", "minimum"),
    ">": ("maximum", "maximum"),
    "fmin": ("fmin", "minimum"),
    "fmax": ("fmax", "maximum"),
    "&": ("and", "bitwise and"),
    "|": ("or", "bitwise or"),
    "^": ("xor", "exclusive or"),
    "&&": ("all", "conjunction"),
    "||": ("any", "disjunction"),
}


def reduction_kernels(site: Site, mapping: Mapping) -> Code:
    """The kernel of the nest, one to finish each reduction, and the lines that run them."""
    names = site.names()
    by_axis = axes(site.nest)
    block = mapping.block(len(by_axis))
    printer = BodyPrinter(site)
    indices = [index(site, loop, a, names, printer) for a, loop in by_axis.items()]
    partials = {r.name: names.fresh(f"{r.name}_partial") for r in site.nest.reductions}

    def loops(depth: int) -> list[str]:
        return strided_loops(site, indices, printer, depth)

    kernel = reducing_kernel(site, partials, loops, dimensions=len(by_axis))
    grid = [
        blocks(i.loop, size, mapping.each, most)
        for i, size, most in zip(indices, block, MOST_BLOCKS[len(by_axis) - 1], strict=True)
    ]
    run = launch(names, site.kernel, block, grid, site.arguments(partials.values()))
    return finished(site, names, kernel, run, partials)


def strided_loops(site: Site, indices: list[Index], printer: Printer, depth: int) -> list[str]:
    """All iterations of one thread, the longest strides outermost."""
    lines = []
    first = depth
    for i in reversed(indices):
        lines += [f"{INDENT * depth}{line}" for line in i.strided()]
        depth += 1
        lines += [f"{INDENT * depth}{line}" for line in i.variable()]
    lines += iteration(site, printer, depth)
    return [*lines, *(f"{INDENT * d}}}" for d in range(depth - 1, first - 1, -1))]


def reducing_kernel(site: Site, partials: dict[str, str], loops, dimensions: int) -> str:
    """The kernel whose blocks each leave a partial result of every reduction."""
    reductions = site.nest.reductions
    outputs = [f"{r.type.spelling} *__restrict__ {partials[r.name]}" for r in reductions]
    place = {1: "blockIdx.x", 2: "blockIdx.y * gridDim.x + blockIdx.x"}.get(
        dimensions, "(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x"
    )
    first = " && ".join(f"threadIdx.{a} == 0" for a in "xyz"[:dimensions])
    stores = [f"{INDENT * 2}{partials[r.name]}[{place}] = {r.name};" for r in reductions]
    start = None if site.start is None else Printer(calls=site.calls).expression(site.start)
    begins = {r: r.neutral or start for r in reductions}
    return "\n".join(
        [
            site.head(site.kernel, site.parameters(outputs)),
            "{",
            *site.table_lines(1),
            *(
                f"{INDENT}{r.type.spelling} {r.name} = {begin};"
                for r, begin in begins.items()
                if begin is not None
            ),
            *loops(1),
            *(f"{INDENT}{r.name} = {block_function(r)}({r.name});" for r in reductions),
            f"{INDENT}if ({first}){' {' if len(stores) > 1 else ''}",
            *stores,
            *([f"{INDENT}}}"] if len(stores) > 1 else []),
            "}",
        ]
    )


def finished(site: Site, names: Names, kernel: str, run: Launch, partials: dict[str, str]) -> Code:
    """The kernels and the launcher's lines, with what finishes each reduction."""
    kernels, lines = [kernel], list(run.lines)
    reductions = site.nest.reductions
    count, grid = names.fresh("partials"), run.grid
    lines.insert(-1, f"const int {count} = (int)({grid}.x * {grid}.y * {grid}.z);")
    for r in reductions:
        partial, type = partials[r.name], r.type.spelling
        lines.insert(-1, f"{type} *{partial};")
        lines.insert(-1, f"cudaMalloc(&{partial}, {count} * sizeof({type}));")
    for r in reductions:
        partial = partials[r.name]
        last = names.fresh(f"{site.kernel.removesuffix('_kernel')}_{word(r)}", "_kernel")
        stores = site.returned is not None
        others = [
            n for k, n in flow.names_in([site.returned] if site.returned else []).items() if k != r.name
        ]
        kernels.append(finishing_kernel(site, last, r, others))
        target = site.result if stores else partial
        start = [] if _reads_start(site, r) else [r.name]
        arguments = [count, partial, *start, target, *(n.name for n in others)]
        lines.append(wrapped(f"{last}<<<1, 256>>>(", arguments, ");"))
        if not stores:
            lines.append(f"{r.name} = {LOAD}({partial});")
    lines += [f"cudaFree({partial});" for partial in partials.values()]
    functions = dict.fromkeys(block_function_text(r) for r in reductions)
    return Code((*functions, *kernels), ("{", *(f"{INDENT}{line}" for line in lines), "}"))


def finishing_kernel(site: Site, kernel: str, reduction: Reduction, others: list[ast.Name]) -> str:
    """One block that joins the partial results and the value before the loop, and stores what comes of them."""
    r, type = reduction, reduction.type.spelling
    names = Names((r.name, *(o.name for o in others)))
    count, partial, k, other, result = map(names.fresh, ("count", "partial", "k", "other", "result"))
    start = names.fresh("start") if r.neutral is not None else r.name
    begin = f"{partial}[0]" if _reads_start(site, r) else r.neutral
    parameters = [
        f"int {count}",
        f"const {type} *{partial}",
        *([] if _reads_start(site, r) else [f"{type} {start}"]),
        f"{type if site.returned is None else site.result_type} *{result}",
        *(declare(o.type, o.name) for o in others),
    ]
    joined = r.joined(start, r.name) if r.neutral is not None else r.name
    if site.returned is None or isinstance(site.returned, ast.Name):
        store = [f"{INDENT * 2}*{result} = {joined};"]
        head = f"{INDENT}if (threadIdx.x == 0)"
        tail = []
    else:
        value = Printer(calls=site.calls).expression(site.returned)
        store = [f"{INDENT * 2}{r.name} = {joined};"] if r.neutral is not None else []
        store.append(f"{INDENT * 2}*{result} = {value};")
        head, tail = f"{INDENT}if (threadIdx.x == 0) {{", [f"{INDENT}}}"]
    return "\n".join(
        [
            wrapped(f"__global__ void {kernel}(", parameters, ")"),
            "{",
            *([f"{INDENT}{type} {r.name} = {begin};"] if begin is not None else []),
            f"{INDENT}for (int {k} = threadIdx.x; {k} < {count}; {k} += blockDim.x) {{",
            f"{INDENT * 2}const {type} {other} = {partial}[{k}];",
            f"{INDENT * 2}{r.name} = {r.joined(r.name, other)};",
            f"{INDENT}}}",
            f"{INDENT}{r.name} = {block_function(r)}({r.name});",
            head,
            *store,
            *tail,
            "}",
        ]
    )


def _reads_start(site: Site, reduction: Reduction) -> bool:
    """Whether the partial results have in them already what the reduction begins with."""
    return site.start is not None and reduction.neutral is None


def word(reduction: Reduction) -> str:
    setting = re.sub(r"\W", "_", reduction.operator[1:])
    return _WORDS[reduction.operator][0] if reduction.operator in _WORDS else f"set_{setting}"


def block_function(reduction: Reduction) -> str:
    return f"block_{word(reduction)}"


def block_function_text(reduction: Reduction) -> str:
    """A device function that joins the values of a block's threads (a whole number of warps) in thread 0."""
    r, type = reduction, reduction.type.spelling
    narrow = (r.type.size or 4) < 4
    shuffled = f"{'(int)' if narrow else ''}value"
    described = (
        _WORDS[r.operator][1] if r.operator in _WORDS else f"value {r.operator[1:]}, if any thread has it,"
    )
    return f"""\
// The {described} over all threads of a block, in its first thread.
static __device__ {type} {block_function(r)}({type} value)
{{
    __shared__ {type} warps[32];
    const unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned int threads = blockDim.x * blockDim.y * blockDim.z;
    for (int offset = 16; offset > 0; offset /= 2) {{
        const {type} other = __shfl_down_sync(0xffffffff, {shuffled}, offset);
        value = {r.joined("value", "other")};
    }}
    if (thread % 32 == 0)
        warps[thread / 32] = value;
    __syncthreads();
    for (unsigned int w = 1; thread == 0 && w < threads / 32; w++) {{
        const {type} other = warps[w];
        value = {r.joined("value", "other")};
    }}
    __syncthreads();
    return value;
}}"""
