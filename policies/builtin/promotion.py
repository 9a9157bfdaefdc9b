"""Sums that a loop keeps in one element of memory, kept in a variable instead."""

from __future__ import annotations

from typing import Any

from ...tools.c import ast
from . import flow
from .build import At
from .dependence import Overlap
from .loops import counted
from .tree import Names, rebuild, root_of, same

_JOINS = frozenset(("+=", "-=", "*=", "&=", "|=", "^="))


def promoted(statement: ast.For, overlap: Overlap, names: Names) -> ast.Block | None:
    """The loop with an element that every iteration updates in a variable of its own; None where there is none."""
    loop = counted(statement)
    if isinstance(loop, str):
        return None
    changing = flow.written([statement]) | flow.declared_in([statement]).keys() | {loop.variable}
    roots = {root for n in ast.walk(statement) if (root := _memory(n)) is not None}
    for node in ast.walk(statement.body):
        if not isinstance(node, ast.Assign | ast.Step) or not _joins(node, statement.body):
            continue
        target = node.target
        root = _memory(target)
        if root is None or not target.type.scalar or changing & flow.names_in([target]).keys():
            continue
        if any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(target)):
            continue
        alone = all(other == root or overlap(root, other) == "distinct" for other in roots)
        if not alone or not _always(statement, target, root):
            continue
        at = At(statement.place)
        value = at.name(names.fresh(f"{root}_value"), target.type)
        runs = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        return at.block(
            at.when(
                runs, at.declare(value, target), replaced(statement, target, value), at.set(target, value)
            )
        )
    return None


def _joins(node: ast.Assign | ast.Step, body: ast.Stmt) -> bool:
    """Whether the element's new value depends on its old one, be it by a test as of a minimum."""
    if isinstance(node, ast.Step) or node.op in _JOINS:
        return True
    tests = [n.condition for n in ast.walk(body) if isinstance(n, ast.If) and node in ast.walk(n)]
    return node.op == "=" and any(same(n, node.target) for e in (node.value, *tests) for n in ast.walk(e))


def _memory(node: ast.Expr | ast.Stmt) -> str | None:
    """The array or pointer that an element belongs to; None for what is no element."""
    match node:
        case ast.Unary(op="*", operand=ast.Name(name=name)):
            return name
        case ast.Subscript() | ast.Member() if node.type.scalar:
            return root_of(node)
        case _:
            return None


def _always(node: Any, target: ast.Expr, root: str) -> bool:
    """Whether the array appears as this one element only."""
    if same(node, target):
        return True
    if isinstance(node, ast.Name):
        return node.name != root
    return all(_always(child, target, root) for child in ast.children(node))


def replaced(node: Any, target: ast.Expr, value: ast.Name) -> Any:
    if isinstance(node, ast.Expr) and same(node, target):
        return value
    return rebuild(node, lambda child: replaced(child, target, value))
