"""Sums of complex numbers as two sums of real ones, which a nest can reduce."""

from __future__ import annotations

from typing import Any

from ...tools.c import ast
from ...tools.c.complexes import is_complex
from . import flow
from .build import At
from .tree import Names, rebuild

_ADDS = {"add": "+=", "sub": "-="}


def parted_sum(statement: ast.For, names: Names) -> ast.Block | None:
    """The loop with real and imaginary part of a sum in variables of their own; None where it makes no such sum.

    The variable appears in the loop only as what terms are added to or taken from.
    """
    inside = flow.declared_in([statement])
    for name, variable in flow.names_in([statement]).items():
        if name in inside or variable.scope == "global" or not is_complex(variable.type):
            continue
        uses = sum(isinstance(n, ast.Name) and n.name == name for n in ast.walk(statement))
        sums = [n for n in ast.walk(statement) if _term(n, name) is not None]
        if not sums or uses != 2 * len(sums):
            continue
        at = At(statement.place)
        part = variable.type.fields[0].type
        parts = {m: ast.Member(variable, m, False, part, at.place) for m in ("re", "im")}
        own = {m: at.name(names.fresh(f"{name}_{m}"), part) for m in parts}
        return at.block(
            *(at.declare(own[m], parts[m]) for m in parts),
            _rewritten(statement, name, own, names),
            *(at.set(parts[m], own[m]) for m in parts),
        )
    return None


def _term(node: Any, name: str) -> tuple[str, ast.Expr] | None:
    """What a statement adds to the variable or, by ``-=``, takes from it."""
    match node:
        case ast.Evaluate(
            expression=ast.Assign(
                op="=",
                target=ast.Name(name=target),
                value=ast.Call(function=function, arguments=(left, right)),
            )
        ) if target == name:
            operation = function.removeprefix("complex_float_").removeprefix("complex_double_")
            if operation in _ADDS and isinstance(left, ast.Name) and left.name == name:
                return _ADDS[operation], right
            if operation == "add" and isinstance(right, ast.Name) and right.name == name:
                return "+=", left
    return None


def _rewritten(node: Any, name: str, own: dict[str, ast.Name], names: Names) -> Any:
    found = _term(node, name)
    if found is None:
        return rebuild(node, lambda child: _rewritten(child, name, own, names))
    op, value = found
    at = At(node.place)
    term = at.name(names.fresh("term"), value.type)
    members = {m: ast.Member(term, m, False, variable.type, at.place) for m, variable in own.items()}
    return at.block(at.declare(term, value), *(at.set(own[m], members[m], op) for m in own))
