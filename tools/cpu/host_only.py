"""Takes declarations out of the device part that only the host compiles and that carry no device code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

import tree_sitter

from ..cuda_source import Source, apply_edits, items, parse, walk

_OF_THE_DEVICE = re.compile(r"\b__(?:device|global|constant|shared|managed)__\b")
_MEMBERS = {
    "function_definition",
    "field_declaration",
    "friend_declaration",
    "template_declaration",
    "declaration",
}
_DIRECTIVE = re.compile(r"#line (\d+)")


def without_host_only(file: str, device: str, lines: Set[int]) -> str | None:
    """The device part without the host's declarations that reach over `lines`; None where there are none.

    On a GPU's compiler such a declaration may stand beside kernels, for it compiles both sides at once.
    """
    source = parse(file, device)
    numbers = _numbers(device)
    chosen: list[tree_sitter.Node] = []
    for node in _host_only(source):
        covered = set(numbers[node.start_point[0] : node.end_point[0] + 1])
        if covered & lines and not any(c.start_byte <= node.start_byte < c.end_byte for c in chosen):
            chosen.append(node)
    if not chosen:
        return None
    return apply_edits(source.data, [(n.start_byte, n.end_byte, b"") for n in chosen]).decode()


def _host_only(source: Source) -> Iterator[tree_sitter.Node]:
    """Declarations without device code, at namespace scope and in types that have some."""
    for item in items(source):
        if not _OF_THE_DEVICE.search(source.text(item.outer)):
            yield item.outer
        elif item.inner.type in ("struct_specifier", "class_specifier"):
            for node in walk(item.inner):
                in_type = node.parent is not None and node.parent.type == "field_declaration_list"
                if in_type and node.type in _MEMBERS and _is_function_of_the_host(source, node):
                    yield node


def _is_function_of_the_host(source: Source, node: tree_sitter.Node) -> bool:
    is_function = any(n.type == "function_declarator" for n in walk(node))
    return is_function and not _OF_THE_DEVICE.search(source.text(node))


def _numbers(text: str) -> list[int]:
    """The line number of each row, ``#line`` directives followed."""
    numbers, number = [], 0
    for row in text.split("\n"):
        directive = _DIRECTIVE.match(row)
        number = int(directive[1]) - 1 if directive else number + 1
        numbers.append(number)
    return numbers
