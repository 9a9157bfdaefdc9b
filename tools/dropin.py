"""Makes of a verified candidate the files that replace the original in its program.

`NAME.cu` holds the candidate and, around it, the function with the original signature, which copies to the GPU and
back, and a device-resident entry point that takes device pointers and a stream. `NAME.host.c` is the original file
without the function's body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import tree_sitter

from .c import ast
from .c.load import original_text, without_body
from .c.parse import parse
from .call import COMPLEX
from .cuda_source import apply_edits, walk
from .cuda_source import parse as parse_cuda
from .records import Candidate, FunctionSpec, Parameter, Task

STREAM = "cudaperf_stream"
INDENT = "    "
_HEADERS = """
#include <algorithm>
#include <vector>
"""
_RANGES = """\
// Memory of the caller's that rows and arrays lie in.
struct cudaperf_range {
    const char *begin, *end;
    bool written;
};

static void cudaperf_add(std::vector<cudaperf_range> &ranges, const void *begin, size_t bytes, bool written) {
    if (bytes > 0) ranges.push_back({(const char *)begin, (const char *)begin + bytes, written});
}

// What is written must lie apart from all else.
static void cudaperf_distinct(std::vector<cudaperf_range> &ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto &a, const auto &b) { return a.begin < b.begin; });
    const char *end = NULL, *written_end = NULL;
    for (const cudaperf_range &range : ranges) {
        if (range.begin < written_end || (range.written && range.begin < end))
            CUDAPERF_FAIL("rows overlap", "this port needs rows and buffers of their own");
        if (range.end > end) end = range.end;
        if (range.written && range.end > written_end) written_end = range.end;
    }
}

"""


def files(task: Task, candidate: Candidate, arch: str) -> dict[str, str]:
    """The delivered files by name. The host file is there even if only the drop-in's own check needs it."""
    name = task.name
    return {
        f"{name}.cu": _cuda(task, candidate, arch),
        f"{name}.h": _header(task.function),
        f"{name}.host.c": _host(task),
    }


def needs_host_file(task: Task) -> bool:
    """Whether a host file must replace the original's: it has other code, or hides the function or its globals."""
    unit = parse(task.path, task.source, task.flags)
    return len(unit.calls) + len(unit.globals) > 1 or _forwards(task.function)


def build_line(task: Task, arch: str) -> str:
    """One line that builds what was delivered, run in the output folder: a program where there is a `main`."""
    name = task.name
    flags = " ".join(_quoted(f) for f in task.flags)
    if not task.has_main:
        return f"nvcc -O3 -arch={arch} -c {name}.cu -o {name}.o"
    folder = _quoted(task.path.rsplit("/", 1)[0]) if "/" in task.path else "."
    host = " ".join([f"{name}.host.c", *map(_quoted, task.sources)])
    return f"nvcc -O3 -arch={arch} -I{folder} {flags} {name}.cu {host} -o {name} -lm".replace("  ", " ")


def entry_name(function: FunctionSpec) -> str:
    """The name of the host function in `NAME.cu`: the original's own, unless the host file must forward to it."""
    return f"{function.name}_cuda" if _forwards(function) else function.name


def on_stream(source: str, stream: str = STREAM) -> str:
    """The source with every launch and copy put on a stream, and scratch memory allocated in its order."""
    edits: list[tuple[int, int, str]] = []
    for node in walk(parse_cuda("", source).root):
        if node.type == "kernel_call_syntax":
            given = len([c for c in node.named_children if c.type != "comment"])
            if given < 4:
                edits.append((node.end_byte - 3, node.end_byte - 3, ", 0" * (3 - given) + f", {stream}"))
        elif node.type == "call_expression":
            edits += _on_stream(node, stream)
    return _edited(source, edits)


def without_name(source: str, name: str) -> str:
    """The source with what it calls `name` called otherwise, since the drop-in defines that name itself."""
    found = [
        n for n in walk(parse_cuda("", source).root) if n.type == "identifier" and n.text == name.encode()
    ]
    other = f"{name}_kernel"
    while re.search(rf"\b{other}\b", source):
        other += "_"
    return _edited(source, [(n.start_byte, n.end_byte, other) for n in found])


def _edited(source: str, edits: Iterable[tuple[int, int, str]]) -> str:
    return apply_edits(source.encode(), [(begin, end, text.encode()) for begin, end, text in edits]).decode()


def _on_stream(call: tree_sitter.Node, stream: str) -> list[tuple[int, int, str]]:
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    name = (function.text or b"").decode() if function else ""
    if function is None or arguments is None:
        return []
    close = arguments.end_byte - 1
    rename = (function.start_byte, function.end_byte)
    wait = f", cudaStreamSynchronize({stream}))"
    match name:
        case "cudaMalloc" | "cudaFree" | "cudaMemset":
            return [(*rename, f"{name}Async"), (close, close, f", {stream}")]
        case "cudaDeviceSynchronize":
            return [(*rename, "cudaStreamSynchronize"), (close, close, stream)]
        case "cudaMemcpy":
            if b"DeviceToDevice" in (arguments.text or b""):
                return [(*rename, "cudaMemcpyAsync"), (close, close, f", {stream}")]
            return [(*rename, "(cudaMemcpyAsync"), (close, close + 1, f", {stream})" + wait)]
        case "cudaMemcpyToSymbol" | "cudaMemcpyFromSymbol" if len(arguments.named_children) == 3:
            kind = "cudaMemcpyHostToDevice" if name.endswith("ToSymbol") else "cudaMemcpyDeviceToHost"
            return [(*rename, f"({name}Async"), (close, close + 1, f", 0, {kind}, {stream})" + wait)]
    return []


def _cuda(task: Task, candidate: Candidate, arch: str) -> str:
    function = task.function
    source = task.path.rsplit("/", 1)[-1]
    device_parameters = ", ".join(
        [*(p.declaration for p in function.parameters), "struct CUstream_st *stream"]
    )
    names = ", ".join(p.name for p in function.parameters)
    ported = without_name(_without_own_types(candidate.source, function), entry_name(function))
    return f"""\
// {function.name}() of {source}:{function.line} on the GPU, made and tested by cudaperf-agent.
// Build: {build_line(task, arch)}
#include <cuda_runtime.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
{_HEADERS if any(p.row_levels for p in function.parameters) else ""}
#include "{function.name}.h"

// What a failing CUDA call ends in; define it before this line to handle failures in another way.
#ifndef CUDAPERF_FAIL
#define CUDAPERF_FAIL(what, why) (fprintf(stderr, "{function.name}: %s: %s\\n", what, why), abort())
#endif

// The stream that the launches below run on; set by the entry points.
static thread_local cudaStream_t {STREAM};

{on_stream(ported).strip()}

// Elements of an array with these extents; an extent below zero holds none.
static size_t cudaperf_count(long long a, long long b = 1, long long c = 1, long long d = 1) {{
    return a > 0 && b > 0 && c > 0 && d > 0 ? (size_t)a * (size_t)b * (size_t)c * (size_t)d : 0;
}}

{_RANGES if any(p.row_levels for p in function.parameters) else ""}\
static void cudaperf_check(cudaError_t error, const char *what) {{
    if (error != cudaSuccess) CUDAPERF_FAIL(what, cudaGetErrorString(error));
}}

// Device-resident entry point: pointers are device pointers, work is queued on `stream`.
extern "C" void {function.name}_device({device_parameters}) {{
    {STREAM} = stream;
    {function.launcher}({names});
}}

{_wrapper(function)}"""


def _wrapper(function: FunctionSpec) -> str:
    """The host function: allocate, copy in, launch, copy out."""
    arrays = function.arrays
    lines = [f"const auto {p.name} = {p.access};" for p in function.parameters if p.access]
    for p in arrays:
        counts = ", ".join(_wide(e, function) for e in p.shape)
        lines.append(f"const size_t {p.name}_bytes = cudaperf_count({counts}) * sizeof({_element(p)});")
    lines += _overlap_checks(function)
    for p in arrays:
        lines.append(f"{_element(p)} *{p.name}_device = NULL;")
        lines.append(
            f'cudaperf_check(cudaMallocAsync(&{p.name}_device, {p.name}_bytes, {STREAM}), "allocating {p.name}");'
        )
    for p in arrays:
        if p.origin != "result":
            # Outputs are copied in as well: what the original leaves alone must survive.
            lines += _copies(p, function, "HostToDevice")
    names = ", ".join(f"{p.name}_device" if p.shape else p.name for p in function.parameters)
    lines.append(f"{function.launcher}({names});")
    inputs = [p for p in arrays if p.origin != "result"]
    guard = " && ".join(f"{p.name}_bytes" for p in inputs) or "true"
    lines.append("const cudaError_t launched = cudaGetLastError();")
    lines.append(f'if ({guard}) cudaperf_check(launched, "launching");')
    result = next((p for p in arrays if p.origin == "result"), None)
    if result is not None:
        lines.append(f"{_element(result)} {result.name};")
    for p in arrays:
        if p.role != "in":
            lines += _copies(p, function, "DeviceToHost")
    lines.append(f'cudaperf_check(cudaStreamSynchronize({STREAM}), "running");')
    lines += [f"cudaFreeAsync({p.name}_device, {STREAM});" for p in arrays]
    if result is not None:
        lines.append(f"return {result.name};")
    elif function.returns != "void":
        lines.append("return 0;")
    body = "\n    ".join([f"{STREAM} = 0;", *lines])
    return f'extern "C" {_prototype(function)} {{\n    {body}\n}}\n'


def _wide(extent: str, function: FunctionSpec) -> str:
    """An extent computed in 64 bits, whatever the types of the sizes in it."""
    sizes = {p.name for p in function.scalars}
    wide = re.sub(r"[A-Za-z_]\w*", lambda m: f"(long long){m[0]}" if m[0] in sizes else m[0], extent)
    return wide if re.fullmatch(r"\w+|\(long long\)\w+", wide) else f"({wide})"


def _copies(p: Parameter, function: FunctionSpec, kind: str) -> list[str]:
    """The copy of an array between host and device; rows, which may lie anywhere on the host, one by one."""
    what = f'"copying {p.name} {"to" if kind.startswith("Host") else "from"} the GPU"'
    host, device, size = p.name, f"{p.name}_device", f"{p.name}_bytes"
    if p.origin == "result":
        host = f"&{p.name}"
    lines, position = [], ""
    for level, extent in enumerate(p.shape[: p.row_levels]):
        lines.append(INDENT * level + _each_row(level, extent, function))
        position = f"({position} * {_wide(extent, function)} + row_{level})" if position else f"row_{level}"
        host += f"[row_{level}]"
    if p.row_levels:
        count = _row_length(p, function)
        device, size = f"{device} + {position} * {count}", f"{count} * sizeof({_element(p)})"
    pair = f"{device}, {host}" if kind.startswith("Host") else f"{host}, {device}"
    copy = f"cudaMemcpyAsync({pair}, {size}, cudaMemcpy{kind}, {STREAM})"
    return [*lines, f"{INDENT * len(lines)}cudaperf_check({copy}, {what});"]


@dataclass(frozen=True)
class _Range:
    """Memory of the caller's: what it is called, its bytes in C, and whether the function writes there."""

    name: str
    size: str
    written: bool


def _overlap_checks(function: FunctionSpec) -> list[str]:
    """The port was tested on buffers that do not overlap; where they do, it says so instead of computing nonsense."""
    arrays = [p for p in function.arrays if p.origin == "parameter" and not p.inside]
    if any(p.row_levels for p in arrays):
        return _row_checks(function, arrays)
    ranges = [_Range(p.name, f"{p.name}_bytes", p.role != "in") for p in arrays] + _structs(function)
    lines = []
    for i, a in enumerate(ranges):
        for b in ranges[i + 1 :]:
            if not a.written and not b.written:
                continue
            first, second = f"(const char *){a.name}", f"(const char *){b.name}"
            lines.append(
                f"if ({first} < {second} + {b.size} && {second} < {first} + {a.size})\n"
                f'        CUDAPERF_FAIL("{a.name} and {b.name} overlap", "this port needs buffers of their own");'
            )
    return lines


def _structs(function: FunctionSpec) -> list[_Range]:
    """The structs that arguments point to, whose members are read before the launch and written after it."""
    return [
        _Range(
            a.name,
            f"sizeof(*{a.name})",
            any(p.inside and p.role != "in" and _owner(p) == a.name for p in function.arrays),
        )
        for a in function.arguments
        if a.by_pointer
    ]


def _owner(p: Parameter) -> str:
    """The argument that a part belongs to."""
    return re.findall(r"\w+", p.access)[0]


def _row_checks(function: FunctionSpec, arrays: list[Parameter]) -> list[str]:
    lines = ["std::vector<cudaperf_range> ranges;"]
    for p in arrays:
        host, size, pad = p.name, f"{p.name}_bytes", ""
        for level, extent in enumerate(p.shape[: p.row_levels]):
            lines.append(f"{pad}{_each_row(level, extent, function)}")
            host, pad = f"{host}[row_{level}]", pad + INDENT
            size = f"{_row_length(p, function)} * sizeof({_element(p)})"
        written = "false" if p.role == "in" else "true"
        lines.append(f"{pad}cudaperf_add(ranges, {host}, {size}, {written});")
    for struct in _structs(function):
        written = "true" if struct.written else "false"
        lines += [f"cudaperf_add(ranges, {struct.name}, {struct.size}, {written});"]
    return [*lines, "cudaperf_distinct(ranges);"]


def _each_row(level: int, extent: str, function: FunctionSpec) -> str:
    index = f"row_{level}"
    return f"for (long long {index} = 0; {index} < {_wide(extent, function)}; {index}++)"


def _row_length(p: Parameter, function: FunctionSpec) -> str:
    return f"cudaperf_count({', '.join(_wide(e, function) for e in p.shape[p.row_levels :])})"


def _prototype(function: FunctionSpec) -> str:
    """The host function's declaration in the common part of C and C++."""
    extra = [p.declaration for p in function.parameters if p.origin == "global"]
    parameters = ", ".join([*(a.declaration for a in function.arguments), *extra]) or "void"
    return f"{function.returns} {entry_name(function)}({parameters})"


def _header(function: FunctionSpec) -> str:
    guard = f"CUDAPERF_{function.name.upper()}_H"
    device_parameters = ", ".join(
        [*(p.declaration for p in function.parameters), "struct CUstream_st *stream"]
    )
    types = f"{function.prelude.strip()}\n\n" if function.prelude.strip() else ""
    return f"""\
#ifndef {guard}
#define {guard}

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#else
#include <stdbool.h>
#endif

{types}{_prototype(function)};

/* Pointers are device pointers; the stream is a cudaStream_t. Work is queued, not awaited. */
struct CUstream_st;
void {function.name}_device({device_parameters});

#ifdef __cplusplus
}}
#endif

#endif
"""


def _host(task: Task) -> str:
    """The original's file with a prototype, or where needed a forwarding body, in place of the function.

    It keeps the number of lines, so that messages about the rest still fit.
    """
    function = task.function
    definition = parse(task.path, task.source, task.flags).functions[function.name]
    text = original_text(task)
    head = text.encode()[: definition.body_start - definition.start].decode().strip()
    if re.match(rf"{function.name}\b", head):
        # Old C, which leaves out an int.
        head = f"{function.returns} {head}"
    replacement = _forwarder(function, definition, head) if _forwards(function) else f"{head};"
    return without_body(task, replacement + "\n" * max(text.count("\n") - replacement.count("\n"), 0))


def _forwarder(function: FunctionSpec, definition: ast.Function, head: str) -> str:
    known = {p.name: p for p in function.parameters}
    arguments, declared = [], []
    for argument, own in zip(function.arguments, definition.parameters, strict=True):
        declared.append(argument.declaration)
        p = known.get(argument.name)
        plain = p is not None and p.is_pointer and not p.row_levels
        arguments.append(f"({_element(p)} *){own.name}" if p is not None and plain else own.name)
    for p in function.parameters:
        if p.origin == "global":
            declared.append(p.declaration)
            cast = f"({_element(p)} *)" if p.is_pointer else ""
            address = "&" if p.shape == ("1",) and p.role != "in" else ""
            arguments.append(f"{cast}{address}{p.name}")
    back = "" if function.returns == "void" else "return "
    entry = entry_name(function)
    forwarding = (
        f"extern {function.returns} {entry}({', '.join(declared) or 'void'});\n"
        f"{head} {{ {back}{entry}({', '.join(arguments)}); }}"
    )
    return re.sub(r"\bcomplex_(?:float|double)\b", lambda found: COMPLEX[found[0]], forwarding)


def _forwards(function: FunctionSpec) -> bool:
    return function.static or any(p.origin == "global" for p in function.parameters)


def _element(p: Parameter) -> str:
    """The C++ type of an array's elements."""
    kept = re.sub(r"\b(const|volatile)\b", "", p.declaration)
    return " ".join(kept.rsplit("*", 1)[0].split())


def _without_own_types(source: str, function: FunctionSpec) -> str:
    """The header brings the structs; a candidate that repeats them, and is allowed to, loses its copies here."""
    for struct in function.structs:
        source = re.sub(rf"typedef\s+struct\b[^;{{]*\{{[^}}]*\}}\s*{struct.name}\s*;", "", source)
        source = re.sub(rf"struct\s+{struct.name}\s*\{{[^}}]*\}}\s*;", "", source)
    return source


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[\w@%+=:,./-]+", text) else "'" + text.replace("'", "'\\''") + "'"
