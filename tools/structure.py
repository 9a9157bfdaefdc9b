"""Reads a candidate's structure with tree-sitter-cuda: features and findings with file:line:col. Parse only."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter

from .cuda_source import parse, walk
from .records import Candidate, Finding, Record

BARRIERS = {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"}
LOOPS = {"for_statement", "while_statement", "do_statement"}
VECTOR_TYPES = {
    f"{t}{n}" for t in ("float", "int", "uint", "double", "char", "uchar", "short") for n in (2, 4)
}


class KernelFeatures(Record):
    """Counts over the text of one kernel; `launched` tells whether a launch of it is written anywhere."""

    kernel: str
    line: int
    launched: bool
    loops: int = 0
    loop_depth: int = 0
    barriers: int = 0
    barriers_in_loops: int = 0
    warp_operations: int = 0
    atomics: int = 0
    shared_arrays: int = 0
    vector_types: int = 0
    restrict_parameters: int = 0
    pointer_parameters: int = 0


class Structure(Record):
    kernels: tuple[KernelFeatures, ...]
    findings: tuple[Finding, ...] = ()


def structure(candidate: Candidate) -> Structure:
    """Features of each kernel in source order, and findings about them."""
    kernels: list[KernelFeatures] = []
    findings: list[Finding] = []
    for file in (f for f in candidate.files if f.language == "cuda"):
        root = parse(file.name, file.text).root
        launched = {
            _text(call.child_by_field_name("function")).split("<")[0]
            for call in walk(root)
            if call.type == "call_expression" and any(c.type == "kernel_call_syntax" for c in call.children)
        }
        for node in walk(root):
            if node.type == "function_definition" and "__global__" in _head(node):
                features = _features(node, launched)
                kernels.append(features)
                findings += _findings(node, features, file.name)
    return Structure(kernels=tuple(kernels), findings=tuple(findings))


def _text(node: tree_sitter.Node | None) -> str:
    return node.text.decode(errors="replace") if node is not None and node.text is not None else ""


def _head(definition: tree_sitter.Node) -> str:
    body = definition.child_by_field_name("body")
    whole = _text(definition)
    return whole if body is None else whole[: body.start_byte - definition.start_byte]


def _declarator(definition: tree_sitter.Node) -> tree_sitter.Node | None:
    return next((n for n in walk(definition) if n.type == "function_declarator"), None)


def _calls(node: tree_sitter.Node) -> Iterator[tuple[str, tree_sitter.Node]]:
    for call in walk(node):
        if call.type == "call_expression":
            yield _text(call.child_by_field_name("function")), call


def _loop_depth(node: tree_sitter.Node, stop: tree_sitter.Node) -> int:
    depth, parent = 0, node.parent
    while parent is not None and parent.id != stop.id:
        depth += parent.type in LOOPS
        parent = parent.parent
    return depth


def _features(definition: tree_sitter.Node, launched: set[str]) -> KernelFeatures:
    declarator = _declarator(definition)
    name = _text(declarator.child_by_field_name("declarator")) if declarator else "?"
    parameters = [n for n in walk(declarator) if n.type == "parameter_declaration"] if declarator else []
    pointers = [p for p in parameters if "*" in _text(p)]
    calls = list(_calls(definition))
    loops = [n for n in walk(definition) if n.type in LOOPS]
    barriers = [call for function, call in calls if function in BARRIERS]
    declarations = [n for n in walk(definition) if n.type == "declaration"]
    types = {_text(n) for n in walk(definition) if n.type == "type_identifier"}
    return KernelFeatures(
        kernel=name,
        line=definition.start_point[0] + 1,
        launched=name in launched,
        loops=len(loops),
        loop_depth=max((_loop_depth(n, definition) + 1 for n in loops), default=0),
        barriers=len(barriers),
        barriers_in_loops=sum(_loop_depth(b, definition) > 0 for b in barriers),
        warp_operations=sum(f.startswith("__") and f.split("<")[0].endswith("_sync") for f, _ in calls),
        atomics=sum(f.startswith("atomic") for f, _ in calls),
        shared_arrays=sum("__shared__" in _text(d) for d in declarations),
        vector_types=len(types & VECTOR_TYPES),
        restrict_parameters=sum("restrict" in _text(p) for p in pointers),
        pointer_parameters=len(pointers),
    )


def _findings(definition: tree_sitter.Node, features: KernelFeatures, file: str) -> list[Finding]:
    def at(node: tree_sitter.Node, rule: str, message: str, remedy: str) -> Finding:
        line, column = node.start_point
        return Finding(
            rule=rule,
            message=message,
            severity="warning",
            file=file,
            line=line + 1,
            column=column + 1,
            remedy=remedy,
        )

    found = []
    if not features.launched:
        found.append(
            at(
                definition,
                "kernel-never-launched",
                f"{features.kernel} is never launched",
                "launch it, or leave it out",
            )
        )
    for name, call in _calls(definition):
        if name in BARRIERS and _in_divergent_branch(call, definition):
            found.append(
                at(
                    call,
                    "barrier-in-divergent-branch",
                    f"{name} stands in a branch that depends on threadIdx",
                    "move it out of the branch: every thread of the block must reach it",
                )
            )
        if name.startswith("atomic") and _loop_depth(call, definition) > 0:
            found.append(
                at(
                    call,
                    "atomic-in-loop",
                    f"{name} runs in a loop",
                    "accumulate in a register or in shared memory and add once",
                )
            )
    plain = features.pointer_parameters - features.restrict_parameters
    if plain:
        found.append(
            at(
                definition,
                "missing-restrict",
                f"{plain} pointer parameters of {features.kernel} are not __restrict__",
                "add __restrict__ where they do not overlap, so that loads can be cached and reordered",
            )
        )
    return found


def _in_divergent_branch(node: tree_sitter.Node, stop: tree_sitter.Node) -> bool:
    parent = node.parent
    while parent is not None and parent.id != stop.id:
        if parent.type == "if_statement" and "threadIdx" in _text(parent.child_by_field_name("condition")):
            return True
        parent = parent.parent
    return False
