"""Parameters that a kernel's threads change, each its own, become variables."""

from __future__ import annotations

import tree_sitter

from ...cuda_source import Item, Source, apply_edits, declarator_of, items, line_at, name_of, parse
from .names import assigned
from .parts import NotSimple


def with_own_parameters(source: Source, item: Item, file: str) -> tuple[Source, Item]:
    """The kernel with a variable for each parameter that it changes; itself where it changes none."""
    declarator, body = (
        declarator_of(item.inner, "function_declarator"),
        item.inner.child_by_field_name("body"),
    )
    parameters = declarator.child_by_field_name("parameters") if declarator else None
    if parameters is None or body is None:
        raise NotSimple
    changed = set(assigned(source, body))
    edits: list[tuple[int, int, bytes]] = []
    variables: list[str] = []
    for parameter in parameters.named_children:
        name = name_of(parameter)
        if name is None or source.text(name) not in changed:
            continue
        if parameter.child_by_field_name("default_value") or "[" in source.text(parameter):
            raise NotSimple
        new = f"{source.text(name)}_given"
        edits.append((name.start_byte, name.end_byte, new.encode()))
        variables.append(f"{source.text(parameter)} = {new};")
    if not edits:
        return source, item
    edits.append((body.start_byte + 1, body.start_byte + 1, " ".join(variables).encode()))
    return _edited(source, item.outer, edits, file)


def _edited(
    source: Source, node: tree_sitter.Node, edits: list[tuple[int, int, bytes]], file: str
) -> tuple[Source, Item]:
    begin = node.start_byte
    line = line_at(source.data[:begin].decode(errors="replace"))
    moved = [(first - begin, last - begin, text) for first, last, text in edits]
    text = apply_edits(source.data[begin : node.end_byte], moved).decode()
    changed = parse(source.name, f'#line {line} "{file}"\n{text}\n')
    return changed, next(items(changed))
