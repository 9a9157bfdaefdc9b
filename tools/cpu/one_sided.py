"""Takes out of one side's part what does not compile there and only the other side needs.

A GPU's compiler sees both sides at once; what it checks of a function for both depends on who calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

import tree_sitter

from ..cuda_source import Source, apply_edits, head, items, parse, walk

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
    """The device part without the host's declarations that reach over `lines`; None where there are none."""
    source = parse(file, device)
    chosen = _over(lines, _host_only(source), device)
    edits = [(n.start_byte, n.end_byte, b"") for n in chosen]
    return apply_edits(source.data, edits).decode() if edits else None


def without_device_bodies(file: str, host: str, lines: Set[int]) -> str | None:
    """The host part with no more than a declaration of each function for both sides that reaches over `lines`; None
    where there are none. A host that does call one does not link."""
    source = parse(file, host)
    edits = []
    for node in _over(lines, _of_both(source), host):
        body = node.child_by_field_name("body")
        assert body is not None
        first = next((c for c in node.children if c.type == "field_initializer_list"), body)
        edits.append((first.start_byte, body.end_byte, b";"))
    return apply_edits(source.data, edits).decode() if edits else None


def _over(lines: Set[int], nodes: Iterator[tree_sitter.Node], text: str) -> list[tree_sitter.Node]:
    """Those of the nodes that reach over the lines, the outermost of each."""
    numbers = _numbers(text)
    chosen: list[tree_sitter.Node] = []
    for node in nodes:
        covered = set(numbers[node.start_point[0] : node.end_point[0] + 1])
        if covered & lines and not any(c.start_byte <= node.start_byte < c.end_byte for c in chosen):
            chosen.append(node)
    return chosen


def _of_both(source: Source) -> Iterator[tree_sitter.Node]:
    """Function definitions for both sides, members too."""
    for node in walk(source.root):
        defines = node.type == "function_definition" and node.child_by_field_name("body") is not None
        if defines and "__device__" in head(source, node):
            yield node


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
