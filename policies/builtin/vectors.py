"""Contiguous loops with vector loads and stores: each thread works on the elements of one 16-byte word.

("Increase Performance with Vectorized Memory Access", NVIDIA developer blog, 2013.) The launcher falls back on the
plain kernel where an array does not start at a multiple of the word.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

from ...tools.c import ast
from ...tools.c.polynomial import atom, from_expr
from .body import BodyPrinter, iteration
from .build import At
from .emit import INDENT, RELATIONAL
from .indexing import blocks, guarded
from .kernel import Code, Site, launch
from .loops import Loop
from .nest import Nest
from .reduce import MOST_BLOCKS, finished, reducing_kernel, reduction_kernels
from .threads import NAIVE, map_kernel
from .tree import Names

BLOCK = 256
WORD = 16
_TYPES = {
    "float": "float",
    "double": "double",
    "int": "int",
    "unsigned int": "uint",
    "unsigned char": "uchar",
    "signed char": "char",
    "short": "short",
    "unsigned short": "ushort",
    "long long": "longlong",
    "unsigned long long": "ulonglong",
}


@dataclass(frozen=True)
class Vectored:
    """An array that a loop walks through element by element."""

    array: str
    element: ast.CType
    reads: bool
    writes: bool


def is_vectorizable(nest: Nest) -> bool:
    return bool(vectored(nest))


def vectored(nest: Nest) -> tuple[Vectored, ...]:
    """The arrays that a nest walks through, element i in iteration i; none where it has another form."""
    if len(nest.loops) != 1 or nest.inner or nest.atomic or nest.scans or nest.overlapping:
        return ()
    loop = nest.loops[0]
    if loop.step != 1 or loop.inclusive or _start(loop) is None:
        return ()
    found: dict[str, Vectored] = {}
    surely: set[str] = set()
    for access in nest.accesses:
        root, steps, type = access.location.root, access.location.steps, access.expression.type
        if steps != (atom(loop.variable),):
            if root in nest.written or any(
                not isinstance(s, str) and loop.variable in s.names for s in steps
            ):
                return ()
            continue
        writes = access.kind == "write"
        if access.helper or type.spelling not in _TYPES or (writes and (access.conditional or access.inner)):
            return ()
        if not access.conditional and not access.inner:
            surely.add(root)
        known = found.get(root, Vectored(root, type, False, False))
        reads = known.reads or (not writes and not known.writes)
        found[root] = Vectored(root, known.element, reads, known.writes or writes)
    others = {a.location.root for a in nest.accesses} - found.keys()
    # A whole word may be loaded only where each iteration touches its element.
    if found.keys() != surely or found.keys() & others or _lanes(tuple(found.values())) < 2:
        return ()
    return tuple(found.values())


def _start(loop: Loop) -> int | None:
    """Where a loop begins, if that is an index known now."""
    first = from_expr(loop.first)
    return first.value if first is not None and first.value is not None and first.value >= 0 else None


def _lanes(arrays: tuple[Vectored, ...]) -> int:
    """Elements a thread: as many as the widest element's word holds, and as vector types have."""
    return min((4, *(WORD // (a.element.size or WORD) for a in arrays)))


def vector_kernels(site: Site) -> Code:
    arrays = vectored(site.nest)
    loop, lanes = site.nest.loops[0], _lanes(arrays)
    # Words begin at the arrays' start, wherever the loop does.
    words_ = dataclasses.replace(loop, first=At(loop.place).number(0))
    names = site.names()
    kernel = names.fresh(site.kernel.removesuffix("_kernel") + "_vector", "_kernel")
    vector = Site(**{**site.__dict__, "kernel": kernel})
    plain = (reduction_kernels if site.nest.reductions else map_kernel)(site, NAIVE)
    first = names.fresh("first")
    position = f"{lanes} * ((long long)blockIdx.x * blockDim.x + threadIdx.x)"
    bound = BodyPrinter(site).expression(loop.bound, RELATIONAL)

    def words(depth: int) -> list[str]:
        return _words(vector, arrays, lanes, first, bound, names, depth)

    if site.nest.reductions:
        partials = {r.name: names.fresh(f"{r.name}_partial") for r in site.nest.reductions}

        def strided(depth: int) -> list[str]:
            pad = INDENT * depth
            return [
                f"{pad}for (long long {first} = {position}; {first} < {bound};",
                f"{pad}     {first} += {lanes} * (long long)gridDim.x * blockDim.x) {{",
                *words(depth + 1),
                f"{pad}}}",
            ]

        text = reducing_kernel(vector, partials, strided, dimensions=1)
        grid = [blocks(words_, BLOCK, lanes, MOST_BLOCKS[0][0])]
        run = launch(names, kernel, (BLOCK,), grid, vector.arguments(partials.values()))
        code = finished(vector, names, text, run, partials)
        lines = code.launch
        texts = code.kernels
    else:
        lines_ = [vector.head(kernel, vector.parameters()), "{", *site.table_lines(1)]
        lines_ += [f"{INDENT}const long long {first} = {position};", *words(1), "}"]
        run = launch(names, kernel, (BLOCK,), [blocks(words_, BLOCK, lanes)], vector.arguments())
        lines = guarded(site.nest.loops, run.lines)
        texts = ("\n".join(lines_),)
    addresses = " | ".join(f"(size_t){a.array}" for a in arrays)
    condition = f"(({addresses}) % {WORD} == 0)" if len(arrays) > 1 else f"({addresses} % {WORD} == 0)"
    return Code(
        tuple(dict.fromkeys((*plain.kernels, *texts))),
        (
            f"if {condition} {{",
            *_inside(lines),
            "} else {",
            *_inside(plain.launch),
            "}",
        ),
    )


def _inside(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Lines for a block of their own, without the braces of one that they may have already."""
    return lines[1:-1] if lines[0] == "{" else tuple(f"{INDENT}{line}" for line in lines)


def _words(
    site: Site, arrays: tuple[Vectored, ...], lanes: int, first: str, bound: str, names: Names, depth: int
) -> list[str]:
    """One thread's word of each array, and element by element what is left at the end."""
    loop = site.nest.loops[0]
    start = _start(loop)
    pad, inner = INDENT * depth, INDENT * (depth + 1)
    lane = names.fresh("lane")
    held = {a.array: names.fresh(f"{a.array}_lane") for a in arrays}
    spelled = {
        a.expression: f"{held[a.location.root]}[{lane}]"
        for a in site.nest.accesses
        if a.location.root in held
    }
    printer = BodyPrinter(site, spelled.get)
    lines = [f"{pad}if ({f'{first} >= {start} && ' if start else ''}{first} + {lanes} <= {bound}) {{"]
    for a in arrays:
        type, name = a.element.spelling, held[a.array]
        if a.reads:
            word = names.fresh(f"{a.array}_word")
            vector = _vector(a, lanes)
            parts = ", ".join(f"{word}.{c}" for c in "xyzw"[:lanes])
            lines.append(f"{inner}const {vector} {word} = ((const {vector} *){a.array})[{first} / {lanes}];")
            lines.append(f"{inner}{type} {name}[{lanes}] = {{{parts}}};")
        else:
            lines.append(f"{inner}{type} {name}[{lanes}];")
    body = iteration(site, printer, depth + 2)
    if any(re.search(rf"\b{loop.variable}\b", line) for line in body):
        body.insert(0, f"{inner}{INDENT}{_variable(loop, f'({first} + {lane})')}")
    lines += [f"{inner}for (int {lane} = 0; {lane} < {lanes}; {lane}++) {{", *body, f"{inner}}}"]
    for a in arrays:
        if a.writes:
            parts = ", ".join(f"{held[a.array]}[{n}]" for n in range(lanes))
            vector = _vector(a, lanes)
            lines.append(f"{inner}(({vector} *){a.array})[{first} / {lanes}] = make_{vector}({parts});")
    rest = names.fresh("rest")
    begin = f"{first} < {start} ? {start} : {first}" if start else first
    lines += [
        f"{pad}}} else {{",
        f"{inner}for (long long {rest} = {begin}; {rest} < {first} + {lanes} && {rest} < {bound}; {rest}++) {{",
        f"{inner}{INDENT}{_variable(loop, rest)}",
        *iteration(site, BodyPrinter(site), depth + 2),
        f"{inner}}}",
        f"{pad}}}",
    ]
    return lines


def _vector(array: Vectored, lanes: int) -> str:
    return f"{_TYPES[array.element.spelling]}{lanes}"


def _variable(loop: Loop, value: str) -> str:
    return f"const {loop.type.spelling} {loop.variable} = ({loop.type.spelling}){value};"
