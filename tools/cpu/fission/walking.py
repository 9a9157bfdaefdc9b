"""Variables that all threads of a block change alike, where the whole block passes: one is enough for the block."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

import tree_sitter

from ...cuda_source import Source, code, head, name_of, walk
from .spread import ANY, BLOCK, Spread, spread_of

BLOCK_WAITS = re.compile(r"\b__syncthreads\w*")
_CHANGES = ("assignment_expression", "update_expression")
_PASSED = ("compound_statement", "for_statement", "while_statement", "if_statement", "else_clause")


def walking(
    source: Source,
    body: tree_sitter.Node,
    lent: set[str],
    modified: set[str],
    changing_variables: frozenset[str],
) -> set[str]:
    """Names of a kernel's variables that change only where all of its threads pass, to values that all have alike."""
    declarations: defaultdict[str, list[tuple[set[str], tree_sitter.Node]]] = defaultdict(list)
    changes: defaultdict[str, list[tree_sitter.Node]] = defaultdict(list)
    for node in walk(body):
        if node.type == "declaration":
            for declarator in node.children_by_field_name("declarator"):
                if (name := name_of(declarator)) is not None:
                    declarations[source.text(name)].append((head(source, node), declarator))
        elif node.type in _CHANGES:
            target = node.child_by_field_name("left") or node.child_by_field_name("argument")
            assert target is not None
            changes[source.text(target)].append(node)
    found = {
        name for name, nodes in changes.items()
        if len(declarations[name]) == 1 and name not in lent and all(_is_passed(source, n, body) for n in nodes)
        and not re.search(r"[&\[]", source.text(declarations[name][0][1]).partition("=")[0])
        and declarations[name][0][0].isdisjoint({"__shared__", "static", "volatile"})
    }  # fmt: skip

    def of_name(name: str, within: tuple[str, ...] = ()) -> Spread:
        if name in found:
            return Spread(BLOCK)
        if name not in declarations:
            return Spread(ANY if name in changing_variables | modified else BLOCK)
        words, declarator = declarations[name][0]
        if len(declarations[name]) > 1 or name in modified or name in within:
            return Spread(ANY)
        if words & {"__shared__", "static", "constexpr"}:
            shared = "__shared__" in words and declarator.type != "array_declarator"
            return Spread(ANY if shared else BLOCK)
        value = declarator.child_by_field_name("value")
        if value is None or "[" in source.text(declarator).partition("=")[0]:
            return Spread(ANY)
        return spread_of(source, value, lambda n: of_name(n, (*within, name)))

    while varying := {n for n in found if not _is_alike(source, declarations[n][0][1], changes[n], of_name)}:
        found -= varying
    return found


def _is_passed(source: Source, change: tree_sitter.Node, body: tree_sitter.Node) -> bool:
    """Whether the change is a statement, or part of a loop's head, that all threads of the block meet at barriers."""
    parent = change.parent
    if parent is None or parent.type not in ("expression_statement", "for_statement"):
        return False
    if parent.type == "for_statement" and change == parent.child_by_field_name("body"):
        return False
    node = parent.parent if parent.type == "expression_statement" else parent
    while node is not None and node != body:
        waits = node.type in ("compound_statement", "else_clause") or BLOCK_WAITS.search(code(source, node))
        if node.type not in _PASSED or not waits:
            return False
        node = node.parent
    return True


def _is_alike(
    source: Source,
    declarator: tree_sitter.Node,
    changes: list[tree_sitter.Node],
    of_name: Callable[[str], Spread],
) -> bool:
    values = [declarator.child_by_field_name("value"), *(c.child_by_field_name("right") for c in changes)]
    return all(spread_of(source, v, of_name).over == BLOCK for v in values if v is not None)
