"""Loop fission: a kernel whose threads wait for each other as loops over its block's threads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import tree_sitter

from ...cuda_source import Item, Source, code, declarator_of, head, items, line_at, name_of
from .emit import body_of
from .helpers import inlined
from .names import WAITING, surroundings
from .parameters import with_own_parameters
from .parts import NotSimple
from .shape import Shape

__all__ = ["PREFIX", "WAITING", "NotSimple", "WholeBlock", "waiting_functions", "whole_block"]

PREFIX = "cudaperf_whole_"


@dataclass(frozen=True)
class WholeBlock:
    """C++ of a function that runs a whole block of a kernel, to stand behind its definition. Where it is not
    `checkable` the checkers watch the kernel on fibers."""

    text: str
    checkable: bool


def waiting_functions(source: Source) -> Mapping[str, Item] | None:
    """The plain functions in which threads wait, by name. None where threads may wait in something else."""
    functions: defaultdict[str, list[Item]] = defaultdict(list)
    others: list[tree_sitter.Node] = []  # kernels and prototypes
    for item in items(source):
        name = _function_name(source, item)
        if name is None:
            continue
        if "__global__" in head(source, item.inner) or item.inner.type == "declaration":
            others.append(item.outer)
        else:
            functions[name].append(item)
    texts = {name: " ".join(code(source, f.outer) for f in same) for name, same in functions.items()}
    waiting = {name for name, text in texts.items() if WAITING.search(text)}
    while more := {n for n, t in texts.items() if n not in waiting and _mentions(t, waiting)}:
        waiting |= more
    rest = bytearray(code(source).encode())
    for node in [*others, *(f.outer for n in waiting for f in functions[n])]:
        rest[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    text = rest.decode(errors="replace")
    if WAITING.search(text) or _mentions(text, waiting):
        return None
    return {name: functions[name][0] for name in waiting}


def whole_block(
    source: Source,
    item: Item,
    helpers: Mapping[str, Item],
    shared: Callable[[Source, tree_sitter.Node], str],
    file: str,
) -> WholeBlock:
    """Takes a kernel apart, with the waiting `helpers` that it calls. Raises NotSimple.

    `shared` gives the C++ of a ``__shared__`` declaration.
    """
    if item.inner.type != "function_definition":
        raise NotSimple
    taken, kernel = inlined(source, item, helpers, file) if helpers else (source, item)
    taken, kernel = with_own_parameters(taken, kernel, file)
    shape = Shape(taken, kernel.inner, surroundings(source), shared)
    declarator = declarator_of(kernel.inner, "function_declarator")
    name = name_of(declarator) if declarator else None
    parameters = declarator.child_by_field_name("parameters") if declarator else None
    assert name is not None and parameters is not None
    given = " ".join(taken.text(parameters)[1:-1].split())
    hidden = "CUDAPERF_BLOCK" + (f", {given}" if given not in ("", "void") else "")
    template = (
        taken.data[kernel.outer.start_byte : kernel.inner.start_byte].decode() if item.is_template else ""
    )
    line = line_at(source.data[: item.inner.end_byte].decode(errors="replace"))
    whole_warps = "if (blockDim.x % 32) return false;" if shape.has_exchanges else ""
    return WholeBlock(
        f"\n{' '.join(template.split())} static bool {PREFIX}{taken.text(name)}({hidden}) "
        f'{{ {whole_warps} {body_of(shape.parts, file)}\nreturn true;\n}}\n#line {line} "{file}"\n',
        not shape.has_exchanges and not shape.has_guards,
    )


def _function_name(source: Source, item: Item) -> str | None:
    """The name of a plain function that is defined or declared."""
    if item.inner.type not in ("function_definition", "declaration"):
        return None
    declarator = declarator_of(item.inner, "function_declarator")
    name = declarator.child_by_field_name("declarator") if declarator else None
    return source.text(name) if name is not None and name.type == "identifier" else None


def _mentions(text: str, names: set[str]) -> bool:
    return bool(names) and re.search(rf"\b(?:{'|'.join(names)})\b", text) is not None
