"""Rewrites the device part of a candidate into C++ for the CPU runtime, line by line at the same places."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import tree_sitter

from ..cuda_source import Source, apply_edits, code, declarator_of, head, items, name_of, parse, walk
from ..launcher import Symbol
from .fission import PREFIX, WAITING, NotSimple, WholeBlock, waiting_functions, whole_block
from .names import without_parameters

_THREAD = re.compile(r"\b(?:threadIdx|blockIdx|blockDim|gridDim)\b")


@dataclass(frozen=True)
class DeviceCode:
    """C++ for the device part. `waiting` names the kernels whose threads may wait for each other: they run as fibers,
    those of `fissioned` as loops over the block's threads where the order of threads is the plain one."""

    text: str
    waiting: frozenset[str]
    fissioned: frozenset[str]


def rewrite(
    file: str, device: str, kernels: Sequence[str], symbols: Sequence[Symbol], *, fission: bool = True
) -> DeviceCode:
    """C++ that exports the table of `kernels` (by name, with template arguments) and of `symbols`, in their order."""
    source = parse(file, device)
    bodies = {name: body for name, body in _kernels(source) if body is not None}
    edits = [edit for node in walk(source.root) for edit in _edits(source, node)]
    helpers = waiting_functions(source)
    # Where it is not known which functions wait, all kernels do.
    all_wait = helpers is None
    outside = list(code(source).encode())
    for node in [*bodies.values(), *(item.outer for item in (helpers or {}).values())]:
        outside[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    functions = bytes(outside).decode(errors="replace")
    words = re.compile("|".join([WAITING.pattern, *(rf"\b{name}\b" for name in helpers or ())]))
    waiting = frozenset(name for name, body in bodies.items() if all_wait or words.search(code(source, body)))
    fissioned: dict[str, WholeBlock] = {}
    for item in items(source) if fission and helpers is not None else ():
        name = name_of(item.inner) if item.inner.type == "function_definition" else None
        if name is not None and source.text(name) in waiting and "__global__" in head(source, item.inner):
            with contextlib.suppress(NotSimple):
                whole = whole_block(source, item, helpers or {}, lambda s, n: _shared(s, n, head(s, n)), file)
                edits.append((item.outer.end_byte, item.outer.end_byte, whole.text.encode()))
                fissioned[source.text(name)] = whole
    table = "".join(_row(k, _base(k) in waiting, fissioned.get(_base(k))) for k in kernels)
    variables = "".join(
        f'{{"{s.name}", (void *)&{s.name}, sizeof({s.name}), {_bool(s.constant)}}}, ' for s in symbols
    )
    define = "#define CUDAPERF_FUNCTIONS_USE_THREAD\n" if _THREAD.search(functions) else ""
    text = (
        f'{define}#include "device.h"\n{apply_edits(source.data, edits).decode()}\n#line 1 "kernels"\n'
        f'extern "C" const ::cudaperf::KernelEntry cudaperf_kernels[] = {{\n{table}{{}}}};\n'
        f'extern "C" const unsigned int cudaperf_kernel_count = {len(kernels)};\n'
        f'extern "C" const ::cudaperf::Symbol cudaperf_symbols[] = {{{variables}{{}}}};\n'
        f'extern "C" const unsigned int cudaperf_symbol_count = {len(symbols)};\n'
    )
    return DeviceCode(text, waiting, frozenset(fissioned))


def _row(kernel: str, waits: bool, whole_block: WholeBlock | None) -> str:
    """The kernel's row of the table."""
    if whole_block is None or kernel.endswith(")"):
        return f'CUDAPERF_KERNEL("{kernel}", {_bool(waits)}, {_function(kernel)})\n'
    name, bracket, arguments = kernel.partition("<")
    scope, colons, base = name.rpartition("::")
    whole = f"{scope}{colons}{PREFIX}{base}{bracket}{arguments}"
    return f'CUDAPERF_WHOLE_KERNEL("{kernel}", {_bool(whole_block.checkable)}, ({whole}), {kernel})\n'


def _base(name: str) -> str:
    """The kernel's own name, without namespaces and template arguments."""
    return without_parameters(name).partition("<")[0].rpartition("::")[2]


def _function(kernel: str) -> str:
    """The kernel as an expression; one with parameters is an overload, picked by them and the hidden ones."""
    name = without_parameters(kernel)
    if name == kernel:
        return kernel
    parameters = kernel[len(name) + 1 : -1]
    return f"static_cast<void (*)(uint3, uint3, dim3, dim3{', ' if parameters else ''}{parameters})>({name})"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _kernels(source: Source) -> list[tuple[str, tree_sitter.Node | None]]:
    found = []
    for node in walk(source.root):
        declarator = (
            declarator_of(node, "function_declarator") if node.type == "function_definition" else None
        )
        name = name_of(declarator) if declarator else None
        if name is not None and "__global__" in head(source, node):
            found.append((source.text(name), node.child_by_field_name("body")))
    return found


def _edits(source: Source, node: tree_sitter.Node) -> list[tuple[int, int, bytes]]:
    if node.type in ("function_definition", "declaration"):
        words = head(source, node)
        function = declarator_of(node, "function_declarator")
        if "__global__" in words and function is not None:
            return [_thread_parameters(source, function)]
        if "__shared__" in words and node.type == "declaration":
            return [(node.start_byte, node.end_byte, _shared(source, node, words).encode())]
    return []


def _thread_parameters(source: Source, function: tree_sitter.Node) -> tuple[int, int, bytes]:
    parameters = function.child_by_field_name("parameters")
    assert parameters is not None
    if source.text(parameters)[1:-1].strip() in ("", "void"):
        return parameters.start_byte, parameters.end_byte, b"(CUDAPERF_THREAD)"
    return parameters.start_byte + 1, parameters.start_byte + 1, b"CUDAPERF_THREAD, "


def _shared(source: Source, node: tree_sitter.Node, words: set[str]) -> str:
    """A __shared__ declaration: memory from the block's arena, under the same name and type."""
    declarators = node.children_by_field_name("declarator")
    prefix = source.data[node.start_byte : declarators[0].start_byte].decode()
    alignment = "".join(re.findall(r"(?:__align__|alignas)\s*\([^()]*\)", prefix))
    base = re.sub(r"(?:__align__|alignas)\s*\([^()]*\)|\b(?:extern|static|__shared__)\b", " ", prefix)
    parts = []
    kind_of = node.child_by_field_name("type")
    body = kind_of.child_by_field_name("body") if kind_of else None
    if kind_of is not None and body is not None:
        # A type that is defined in passing gets a name and a declaration of its own.
        name = kind_of.child_by_field_name("name")
        known = source.text(name) if name else f"cudaperf_{node.start_byte}"
        parts.append(f"{source.text(kind_of.children[0])} {known} {source.text(body)};")
        base = f"{known} "
    for declarator in declarators:
        name = name_of(declarator)
        assert name is not None
        before = source.data[declarator.start_byte : name.start_byte].decode()
        after = source.data[name.end_byte : declarator.end_byte].decode()
        kind = " ".join(f"{base}{before}".split())
        if "extern" in words:
            file_scope = node.parent is not None and node.parent.type != "compound_statement"
            macro = "CUDAPERF_FILE_SHARED" if file_scope else "CUDAPERF_DYNAMIC_SHARED"
            parts.append(f"{macro}({source.text(name)}, {kind})")
        else:
            parts.append(f"CUDAPERF_SHARED({source.text(name)}, {alignment}, {kind}{after})")
    return " ".join(parts)
