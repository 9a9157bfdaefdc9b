"""The kernel for a loop that carries a scan: every block scans a tile, then looks back at what the tiles before have.

A tile publishes its own total at once, and that of all tiles up to it as soon as it knows; a later one adds up totals
backward until it meets one of the latter. Each 32 bits of a total share a word with its state, so that no reader sees
one without the other. Tiles are numbered as blocks start, so that a block waits for running ones alone. In which order
floats are added depends on how far the blocks are.
(Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA NVR-2016-002.)
"""

from __future__ import annotations

from . import flow
from .body import BodyPrinter, iteration, private
from .emit import INDENT
from .indexing import Index, count_of, guarded
from .kernel import BLOCKS, LOAD, Code, Site, wrapped
from .reduce import word
from .reduction import Reduction
from .scan import Scan, sliced
from .threads import Mapping
from .tree import Names

WARP = 32
# What a thread keeps in registers, in values of 32 bits, and how many threads a multiprocessor shall hold: on an H200
# a sixth faster for sums of floats than with as many as the compiler chooses by itself.
KEPT, RESIDENT = 18, 1536


def scan_kernels(site: Site, mapping: Mapping) -> Code:
    """The kernel and the lines that run it."""
    nest = site.nest
    words = sum(_words(s.reduction) for s in nest.scans)
    threads, items = mapping.block(1)[0], max(KEPT // words, 1)
    names = site.names()
    loop, printer = nest.loops[0], BodyPrinter(site)
    t, k, count, tile, tiles, lane, warp, first = map(
        names.fresh, ("t", "k", "count", "tile", "tiles", "lane", "warp", "first")
    )
    scans = [_Names.of(s, names) for s in nest.scans]
    slice_ = sliced(nest.body, {s.name for s in nest.scans})
    assert slice_ is not None, "the analysis made sure of it"
    needed = [n for n in nest.private if n.name in flow.names_in(slice_)]
    value = Index(loop, "x", t, printer).value(t)
    variable = f"const {loop.type.spelling} {loop.variable} = ({loop.type.spelling})({value});"
    each = [
        "#pragma unroll",
        f"for (int {k} = 0; {k} < {items}; {k}++) {{",
        f"{INDENT}const long long {t} = {first} + {k} * {WARP};",
    ]
    own = [
        *each,
        *(f"{INDENT}{s.type} {s.name} = {s.neutral};" for s in scans),
        f"{INDENT}if ({t} < {count}) {{",
        *indented([variable, *private(needed, printer, 0), *printer.statements(slice_, 0)], 2),
        f"{INDENT}}}",
        *(f"{INDENT}{s.before}[{k}] = {s.name};" for s in scans),
        "}",
        # Apart from the loads, which are then all on their way at once.
        "#pragma unroll",
        f"for (int {k} = 0; {k} < {items}; {k}++) {{",
        *indented([line for s in scans for line in s.over_lanes(k, lane)], 1),
        "}",
    ]
    looked: list[str] = []
    taken = 0
    for s in scans:
        looked += s.over_tiles(f"{tiles} + 1" + (f" + {taken} * gridDim.x" if taken else ""), tile, lane)
        taken += s.words
    tile_wide = [
        f"if ({lane} == 0)" + (" {" if len(scans) > 1 else ""),
        *(f"{INDENT}{s.warps}[{warp}] = {s.total};" for s in scans),
        *(["}"] if len(scans) > 1 else []),
        "__syncthreads();",
        *(f"{s.type} {s.own} = {s.neutral}, {s.all} = {s.neutral};" for s in scans),
        f"for (unsigned int w = 0; w < {threads // WARP}; w++) {{",
        *indented([line for s in scans for line in s.over_warps(warp)], 1),
        "}",
        f"if ({warp} == 0) {{",
        *indented(looked, 1),
        "}",
        "__syncthreads();",
    ]
    body = [
        *each,
        f"{INDENT}if ({t} >= {count})",
        f"{INDENT * 2}continue;",
        f"{INDENT}{variable}",
        *(f"{INDENT}{line}" for s in scans for line in s.here(k)),
        *iteration(site, printer, 1),
        "}",
    ]
    extra = [
        f"long long {count}",
        *(f"{s.type} {s.start}" for s in scans),
        f"unsigned long long *{tiles}",
        *(f"{s.type} *{s.last}" for s in scans if s.scan.live),
    ]
    kernel = [
        site.head(
            f"__launch_bounds__({threads}, {RESIDENT // threads}) {site.kernel}", site.parameters(extra)
        ),
        "{",
        *site.table_lines(1),
        *indented(
            [
                f"__shared__ unsigned int {tile};",
                *(f"__shared__ {s.type} {s.warps}[{threads // WARP}], {s.base};" for s in scans),
                "if (threadIdx.x == 0)",
                f"{INDENT}{tile} = (unsigned int)atomicAdd({tiles}, 1ull);",
                "__syncthreads();",
                f"const unsigned int {lane} = threadIdx.x % {WARP}, {warp} = threadIdx.x / {WARP};",
                f"const long long {first} = (long long){tile} * {threads * items} + {warp} * {WARP * items} + {lane};",
                *(f"{s.type} {s.before}[{items}], {s.total} = {s.neutral};" for s in scans),
                *own,
                *tile_wide,
                *body,
            ],
            1,
        ),
        "}",
    ]
    kernels = dict.fromkeys(
        text for s in nest.scans for text in (_lanes_text(s.reduction), _tiles_text(s.reduction))
    )
    blocks, iterations = names.fresh("blocks"), names.fresh("iterations")
    size = f"(1 + {words} * (size_t){blocks}) * sizeof(unsigned long long)"
    left = [s for s in scans if s.scan.live]
    arguments = site.arguments([iterations, *(s.name for s in scans), tiles, *(s.last for s in left)])
    lines = [
        f"const long long {iterations} = {count_of(loop)};",
        f"const unsigned int {blocks} = {BLOCKS}({iterations}, {threads} * {items});",
        f"unsigned long long *{tiles};",
        f"cudaMalloc(&{tiles}, {size});",
        f"cudaMemset({tiles}, 0, {size});",
        *(
            line
            for s in left
            for line in (f"{s.type} *{s.last};", f"cudaMalloc(&{s.last}, sizeof({s.type}));")
        ),
        wrapped(f"{site.kernel}<<<{blocks}, {threads}>>>(", arguments, ");"),
        *(f"{s.name} = {LOAD}({s.last});" for s in left),
        *(f"cudaFree({name});" for name in (tiles, *(s.last for s in left))),
    ]
    return Code((*kernels, "\n".join(kernel)), guarded([loop], lines))


def indented(lines: list[str], depth: int) -> list[str]:
    return [f"{INDENT * depth}{line}" for line in lines]


def _lanes_function(reduction: Reduction) -> str:
    return f"warp_{word(reduction)}_up_to"


def _tiles_function(reduction: Reduction) -> str:
    return f"{word(reduction)}_before_tile"


def _shuffled(reduction: Reduction) -> str:
    return "(int)value" if (reduction.type.size or 4) < 4 else "value"


def _lanes_text(r: Reduction) -> str:
    type = r.type.spelling
    return f"""\
// The value of a lane, joined with those of all lanes before it.
static __device__ {type} {_lanes_function(r)}({type} value)
{{
    for (unsigned int offset = 1; offset < {WARP}; offset *= 2) {{
        const {type} other = __shfl_up_sync(0xffffffff, {_shuffled(r)}, offset);
        if (threadIdx.x % {WARP} >= offset)
            value = {r.joined("other", "value")};
    }}
    return value;
}}"""


def _tiles_text(r: Reduction) -> str:
    type, neutral, words = r.type.spelling, r.neutral or "start", _words(r)
    tag = f"{word(r)}_of_tile"
    return f"""\
// A tile's total and what it is of: state 1, of the tile; 2, of all tiles up to it.
static __device__ void publish_{tag}(volatile unsigned long long *words, unsigned int tile, unsigned int state,
        {type} total)
{{
    unsigned int bits[{words}] = {{}};
    memcpy(bits, &total, sizeof(total));
    for (int w = 0; w < {words}; w++)
        words[{words} * (size_t)tile + w] = (unsigned long long)state << 32 | bits[w];
}}

// The state of a tile's total, which is set to it; 0: nothing is known yet.
static __device__ unsigned int read_{tag}(const volatile unsigned long long *words, long long tile, {type} *total)
{{
    unsigned int bits[{words}], state = 0;
    for (int w = 0; w < {words}; w++) {{
        const unsigned long long both = words[{words} * tile + w];
        if (w > 0 && state != both >> 32)
            return 0;
        state = (unsigned int)(both >> 32);
        bits[w] = (unsigned int)both;
    }}
    memcpy(total, bits, sizeof(*total));
    return state;
}}

// What all tiles before this one have, from the start on, in the first lane of a warp that calls it as one.
static __device__ {type} {_tiles_function(r)}(unsigned int tile, {type} total, {type} start,
        volatile unsigned long long *words)
{{
    const unsigned int lane = threadIdx.x % {WARP};
    if (lane == 0)
        publish_{tag}(words, tile, 1, total);
    {type} before = {neutral};
    for (long long last = (long long)tile - 1;; last -= {WARP}) {{
        unsigned int state = 2;
        {type} value = start;
        if (last >= lane) {{
            do {{
                state = read_{tag}(words, last - lane, &value);
            }} while (state == 0);
        }}
        const unsigned int ends = __ballot_sync(0xffffffff, state == 2);
        if (ends != 0 && lane >= __ffs(ends))
            value = {neutral};
        for (unsigned int offset = {WARP // 2}; offset > 0; offset /= 2) {{
            const {type} other = __shfl_down_sync(0xffffffff, {_shuffled(r)}, offset);
            value = {r.joined("other", "value")};
        }}
        before = {r.joined("value", "before")};
        if (ends != 0)
            break;
    }}
    if (lane == 0)
        publish_{tag}(words, tile, 2, {r.joined("before", "total")});
    return before;
}}"""


def _words(reduction: Reduction) -> int:
    return -(-(reduction.type.size or 8) // 4)


class _Names:
    """What a scan's values are called in the kernel, and the lines that are about them.

    `before` are what a thread's iterations have before them in their warp, `total` what the warp has; `own` what the
    warps before it in the tile have, `all` what the tile has; `base` what the tiles before it have.
    """

    def __init__(self, scan: Scan, fresh: dict[str, str]) -> None:
        self.scan = scan
        self.name = scan.name
        self.reduction = scan.reduction
        self.type = scan.reduction.type.spelling
        self.words = _words(scan.reduction)
        self.start, self.last, self.warps = fresh["start"], fresh["last"], fresh["warps"]
        self.before, self.total = fresh["before"], fresh["total"]
        self.own, self.all, self.base = fresh["own"], fresh["all"], fresh["base"]
        self.kept = fresh["kept"]
        self.neutral = scan.reduction.neutral or self.start

    @classmethod
    def of(cls, scan: Scan, names: Names) -> _Names:
        parts = ("start", "last", "warps", "before", "total", "own", "all", "base", "kept")
        return cls(scan, {part: names.fresh(f"{scan.name}_{part}") for part in parts})

    def joined(self, a: str, b: str) -> str:
        return self.reduction.joined(a, b)

    def over_lanes(self, k: str, lane: str) -> list[str]:
        s, up, sum_ = self.name, f"{self.name}_up", f"{self.name}_sum"
        narrow = "(int)" if (self.reduction.type.size or 4) < 4 else ""
        return [
            f"const {self.type} {s} = {_lanes_function(self.reduction)}({self.before}[{k}]);",
            f"const {self.type} {up} = __shfl_up_sync(0xffffffff, {narrow}{s}, 1);",
            f"const {self.type} {sum_} = __shfl_sync(0xffffffff, {narrow}{s}, {WARP - 1});",
            f"{self.before}[{k}] = {self.total};",
            f"if ({lane} > 0)",
            f"{INDENT}{self.before}[{k}] = {self.joined(self.total, up)};",
            f"{self.total} = {self.joined(self.total, sum_)};",
        ]

    def over_warps(self, warp: str) -> list[str]:
        other = f"{self.name}_other"
        return [
            f"const {self.type} {other} = {self.warps}[w];",
            f"if (w < {warp})",
            f"{INDENT}{self.own} = {self.joined(self.own, other)};",
            f"{self.all} = {self.joined(self.all, other)};",
        ]

    def over_tiles(self, words: str, tile: str, lane: str) -> list[str]:
        found = f"{self.name}_found"
        arguments = [tile, self.all, self.start, words]
        end = [
            f"{INDENT}if ({tile} == gridDim.x - 1)",
            f"{INDENT * 2}*{self.last} = {self.joined(found, self.all)};",
        ]
        return [
            wrapped(f"const {self.type} {found} = {_tiles_function(self.reduction)}(", arguments, ");"),
            f"if ({lane} == 0) {{",
            f"{INDENT}{self.base} = {found};",
            *(end if self.scan.live else []),
            "}",
        ]

    def here(self, k: str) -> list[str]:
        s = self.name
        return [
            f"const {self.type} {self.kept} = {self.before}[{k}];",
            f"{self.type} {s} = {self.joined(self.base, self.own)};",
            f"{s} = {self.joined(s, self.kept)};",
        ]
