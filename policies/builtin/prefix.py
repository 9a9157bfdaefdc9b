"""Kernels for a loop that carries a scan: every block's total, the totals before each block, then the loop itself.

Each iteration's own contribution is computed twice, which costs reading its inputs twice but no memory in between.
(Sengupta et al., "Scan Primitives for GPU Computing", Graphics Hardware 2007: reduce, then scan.)
"""

from __future__ import annotations

from . import flow
from .body import BodyPrinter, iteration, private
from .emit import INDENT
from .indexing import Index, count_of, guarded
from .kernel import BLOCKS, LOAD, Code, Site, wrapped
from .reduce import block_function, block_function_text, word
from .reduction import Reduction
from .scan import Scan, sliced
from .threads import Mapping

ITEMS = 4


def scan_kernels(site: Site, mapping: Mapping) -> Code:
    """The three kernels and the lines that run them; a thread takes `ITEMS` iterations for each that a map takes."""
    nest = site.nest
    threads, items = mapping.block(1)[0], ITEMS * mapping.each
    names = site.names()
    loop, printer = nest.loops[0], BodyPrinter(site)
    t, k, count = names.fresh("t"), names.fresh("k"), names.fresh("count")
    partials = {s.name: names.fresh(f"{s.name}_partial") for s in nest.scans}
    starts = {s.name: names.fresh(f"{s.name}_start") for s in nest.scans}
    own = {s.name: names.fresh(f"{s.name}_own") for s in nest.scans}
    slice_ = sliced(nest.body, {s.name for s in nest.scans})
    assert slice_ is not None, "the analysis made sure of it"
    needed = [n for n in nest.private if n.name in flow.names_in(slice_)]
    value = Index(loop, "x", t, printer).value(t)
    variable = f"const {loop.type.spelling} {loop.variable} = ({loop.type.spelling})({value});"
    chunk = [
        f"for (int {k} = 0; {k} < {items}; {k}++) {{",
        f"{INDENT}const long long {t} = ((long long)blockIdx.x * {items} + {k}) * blockDim.x + threadIdx.x;",
    ]

    def neutral(scan: Scan) -> str:
        return scan.reduction.neutral or starts[scan.name]

    def declared(scans: tuple[Scan, ...], names: dict[str, str] | None = None) -> list[str]:
        return [
            f"{s.reduction.type.spelling} {(names or {}).get(s.name, s.name)} = {neutral(s)};" for s in scans
        ]

    contribution = [
        f"if ({t} < {count}) {{",
        *indented([variable, *private(needed, printer, 0), *printer.statements(slice_, 0)], 1),
        "}",
    ]
    begins = [
        f"{s.reduction.type.spelling} {starts[s.name]}" for s in nest.scans if s.reduction.neutral is None
    ]
    outputs = [f"{s.reduction.type.spelling} *__restrict__ {partials[s.name]}" for s in nest.scans]
    inputs = [f"const {output}" for output in outputs]
    stem = site.kernel.removesuffix("_kernel")
    totals, apply = f"{stem}_totals_kernel", site.kernel
    one = len(nest.scans) == 1
    stores = [f"{partials[s.name]}[blockIdx.x] = {s.name};" for s in nest.scans]
    totals_text = [
        site.head(totals, site.parameters([f"long long {count}", *begins, *outputs])),
        "{",
        *site.table_lines(1),
        *indented(declared(nest.scans), 1),
        *indented([*chunk, *indented(contribution, 1), "}"], 1),
        *indented([f"{s.name} = {block_function(s.reduction)}({s.name});" for s in nest.scans], 1),
        f"{INDENT}if (threadIdx.x == 0){'' if one else ' {'}",
        *indented(stores, 2),
        *([] if one else [f"{INDENT}}}"]),
        "}",
    ]
    bases = {s.name: names.fresh(f"{s.name}_base") for s in nest.scans}
    apply_text = [
        site.head(apply, site.parameters([f"long long {count}", *begins, *inputs])),
        "{",
        *site.table_lines(1),
        *(
            f"{INDENT}{s.reduction.type.spelling} {bases[s.name]} = {partials[s.name]}[blockIdx.x];"
            for s in nest.scans
        ),
        *indented(chunk, 1),
        *indented(declared(nest.scans, own), 2),
        f"{INDENT * 2}{{",
        *indented(declared(nest.scans), 3),
        *indented(contribution, 3),
        *(f"{INDENT * 3}{own[s.name]} = {s.name};" for s in nest.scans),
        f"{INDENT * 2}}}",
        *(
            f"{INDENT * 2}{s.reduction.type.spelling} {s.name} = "
            f"{_scan_function(s.reduction)}({own[s.name]}, {neutral(s)}, &{bases[s.name]});"
            for s in nest.scans
        ),
        f"{INDENT * 2}if ({t} < {count}) {{",
        f"{INDENT * 3}{variable}",
        *iteration(site, printer, 3),
        f"{INDENT * 2}}}",
        f"{INDENT}}}",
        "}",
    ]
    kernels = dict.fromkeys(
        (
            *(block_function_text(s.reduction) for s in nest.scans),
            *(_scan_function_text(s.reduction) for s in nest.scans),
            "\n".join(totals_text),
            *(_offsets_text(f"{stem}_{word(s.reduction)}_offsets_kernel", s.reduction) for s in nest.scans),
            "\n".join(apply_text),
        )
    )
    blocks, iterations = names.fresh("blocks"), names.fresh("iterations")
    start_values = [s.name for s in nest.scans if s.reduction.neutral is None]
    arguments = site.arguments([iterations, *start_values, *partials.values()])
    lines = [
        f"const long long {iterations} = {count_of(loop)};",
        f"const unsigned int {blocks} = {BLOCKS}({iterations}, {threads} * {items});",
    ]
    for s in nest.scans:
        type, partial = s.reduction.type.spelling, partials[s.name]
        lines += [f"{type} *{partial};", f"cudaMalloc(&{partial}, ({blocks} + 1) * sizeof({type}));"]
    lines.append(wrapped(f"{totals}<<<{blocks}, {threads}>>>(", arguments, ");"))
    for s in nest.scans:
        kernel = f"{stem}_{word(s.reduction)}_offsets_kernel"
        lines.append(f"{kernel}<<<1, 1024>>>({blocks}, {s.name}, {partials[s.name]});")
    lines.append(wrapped(f"{apply}<<<{blocks}, {threads}>>>(", arguments, ");"))
    lines += [f"{s.name} = {LOAD}(&{partials[s.name]}[{blocks}]);" for s in nest.scans if s.live]
    lines += [f"cudaFree({partial});" for partial in partials.values()]
    return Code(tuple(kernels), guarded([loop], lines))


def indented(lines: list[str], depth: int) -> list[str]:
    return [f"{INDENT * depth}{line}" for line in lines]


def _scan_function(reduction: Reduction) -> str:
    return f"block_{word(reduction)}_before"


def _scan_function_text(r: Reduction) -> str:
    """A device function that joins what the threads before each one of a block have (a whole number of warps)."""
    type = r.type.spelling
    value = "(int)value" if (r.type.size or 4) < 4 else "value"
    return f"""\
// What the block starts with, joined with the values of all threads before this one; `base` becomes that of all.
static __device__ {type} {_scan_function(r)}({type} value, {type} neutral, {type} *base)
{{
    __shared__ {type} warps[32];
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned int offset = 1; offset < 32; offset *= 2) {{
        const {type} other = __shfl_up_sync(0xffffffff, {value}, offset);
        if (lane >= offset)
            value = {r.joined("other", "value")};
    }}
    if (lane == 31)
        warps[warp] = value;
    {type} before = __shfl_up_sync(0xffffffff, {value}, 1);
    if (lane == 0)
        before = neutral;
    __syncthreads();
    {type} all = *base, mine = *base;
    for (unsigned int w = 0; w < blockDim.x / 32; w++) {{
        const {type} other = warps[w];
        if (w == warp)
            mine = all;
        all = {r.joined("all", "other")};
    }}
    __syncthreads();
    *base = all;
    return {r.joined("mine", "before")};
}}"""


def _offsets_text(kernel: str, r: Reduction) -> str:
    """One block that turns the blocks' totals into what comes before each, and leaves the total of all at the end."""
    type = r.type.spelling
    return f"""\
__global__ void {kernel}(unsigned int count, {type} start, {type} *partial)
{{
    {type} base = start;
    for (unsigned int first = 0; first < count; first += blockDim.x) {{
        const unsigned int k = first + threadIdx.x;
        const {type} value = k < count ? partial[k] : ({type}){r.neutral or "start"};
        const {type} before = {_scan_function(r)}(value, {r.neutral or "start"}, &base);
        if (k < count)
            partial[k] = before;
    }}
    if (threadIdx.x == 0)
        partial[count] = base;
}}"""
