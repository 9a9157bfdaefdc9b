"""Reading CUDA C++ with tree-sitter: the few questions that several tools ask of a source."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
import tree_sitter_cuda

from .records import Finding

# What the grammar cannot parse; blanked for parsing only, at the same length, so that places stay true.
_NESTED = rb"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_UNPARSED = re.compile(
    rb"\b(?:__align__|__cluster_dims__|__launch_bounds__|__maxnreg__|__block_size__)\s*" + _NESTED + rb"|"
    rb"(?<![\w(])__noinline__\b(?!\s*\))|\b__grid_constant__\b|^#line [^\n]*",
    re.MULTILINE,
)
_LINE = re.compile(r"^#line (\d+)[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A parsed source; offsets of nodes are byte offsets into `data`."""

    name: str
    data: bytes
    root: tree_sitter.Node

    def text(self, node: tree_sitter.Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def finding(self, node: tree_sitter.Node, rule: str, message: str, remedy: str = "") -> Finding:
        """An error at the node's place."""
        line = line_at(self.data[: node.start_byte].decode(errors="replace"))
        column = node.start_point[1] + 1
        return Finding(rule=rule, message=message, file=self.name, line=line, column=column, remedy=remedy)


def line_at(before: str) -> int:
    """The line number behind a piece of source, ``#line`` directives followed."""
    number, begin = 1, 0
    for directive in _LINE.finditer(before):
        number, begin = int(directive[1]), directive.end()
    return number + before.count("\n", begin)


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cuda.language()))


def parse(name: str, text: str) -> Source:
    data = text.encode()
    return Source(name, data, _parser().parse(_UNPARSED.sub(blank, data)).root_node)


def blank(match: re.Match[bytes]) -> bytes:
    """Spaces of the same length; line ends stay."""
    return re.sub(rb"[^\n]", b" ", match.group(0))


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The node and all below it, in source order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def syntax_errors(source: Source) -> tuple[Finding, ...]:
    """The first places where the source is not CUDA C++ as far as the grammar goes."""
    if not source.root.has_error:
        return ()
    found = []
    for node in walk(source.root):
        if node.is_missing:
            found.append(source.finding(node, "syntax-error", f"{node.type!r} is missing here"))
        elif node.type == "ERROR":
            words = source.text(node).split()
            found.append(source.finding(node, "syntax-error", f"cannot parse {' '.join(words[:6])!r}"))
        if len(found) == 3:
            break
    return tuple(found)


# A declaration and what surrounds it: template head and linkage specification lie inside `outer`.
@dataclass(frozen=True)
class Item:
    """A declaration at namespace scope. `outer` spans its template head and ``extern "C"``."""

    outer: tree_sitter.Node
    inner: tree_sitter.Node
    scope: tuple[str, ...]
    is_template: bool
    is_extern_c: bool


_CONTAINERS = {
    "translation_unit",
    "declaration_list",
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
}


def items(source: Source) -> Iterator[Item]:
    """Everything declared at namespace scope, through namespaces, linkage blocks and conditionals."""
    yield from _items(source, source.root, (), False)


def _items(source: Source, node: tree_sitter.Node, scope: tuple[str, ...], extern_c: bool) -> Iterator[Item]:
    for child in node.named_children:
        body = child.child_by_field_name("body")
        if child.type in _CONTAINERS:
            yield from _items(source, child, scope, extern_c)
        elif child.type == "namespace_definition" and body is not None:
            name = child.child_by_field_name("name")
            yield from _items(source, body, (*scope, source.text(name)) if name else scope, extern_c)
        elif child.type == "linkage_specification" and body is not None:
            if body.type == "declaration_list":
                yield from _items(source, body, scope, True)
            else:
                yield Item(child, body, scope, False, True)
        elif child.type == "template_declaration":
            yield Item(child, child.named_children[-1], scope, True, extern_c)
        else:
            yield Item(child, child, scope, False, extern_c)


def declarator_of(node: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    """The declarator of the given type inside a declaration or definition, through pointers and references."""
    current = node.child_by_field_name("declarator")
    while current is not None and current.type != kind:
        inner = current.child_by_field_name("declarator")
        if inner is None:
            inner = next((c for c in current.named_children if c.type.endswith("declarator")), None)
        current = inner
    return current


def name_of(declarator: tree_sitter.Node) -> tree_sitter.Node | None:
    """The identifier that a declarator declares; of a qualified name, its last part."""
    current: tree_sitter.Node | None = declarator
    while current is not None and current.type not in ("identifier", "field_identifier"):
        current = (
            current.child_by_field_name("declarator")
            or current.child_by_field_name("name")
            or next(
                (c for c in current.named_children if c.type.endswith(("declarator", "identifier"))), None
            )
        )
    return current


def head(source: Source, node: tree_sitter.Node) -> set[str]:
    """The words before the declarator of a declaration: specifiers, qualifiers and type."""
    declarator = node.child_by_field_name("declarator")
    end = declarator.start_byte if declarator else node.end_byte
    return set(re.findall(r"\w+", source.data[node.start_byte : end].decode()))


def code(source: Source, node: tree_sitter.Node | None = None) -> str:
    """The text of a node, or all of it, without comments and string contents, at the same offsets."""
    # The root begins at the first token, not where the text does.
    first = node.start_byte if node else 0
    data = bytearray(source.data[first : node.end_byte if node else None])
    for inner in walk(node or source.root):
        if inner.type in ("comment", "string_literal", "char_literal", "raw_string_literal"):
            begin, end = inner.start_byte - first, inner.end_byte - first
            data[begin:end] = re.sub(rb"[^\n]", b" ", bytes(data[begin:end]))
    return data.decode(errors="replace")


def apply_edits(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replaces byte ranges that do not overlap; what follows each range keeps its line number."""
    pieces, position = [], 0
    for begin, end, text in sorted(edits):
        removed = data[begin:end]
        *_, directive = [None, *re.finditer(rb'^#line (\d+)( "[^\n]*")\n', removed, re.MULTILINE)]
        if directive is None:
            follow = b"\n" * (removed.count(b"\n") - text.count(b"\n"))
        else:
            number = int(directive[1]) + removed.count(b"\n", directive.end())
            follow = b"\n#line %d%s\n" % (number, directive[2])
        pieces += [data[position:begin], text, follow]
        position = end
    return b"".join([*pieces, data[position:]])
