"""Which functions of a file call which, and the globals that they use."""

from __future__ import annotations

from collections.abc import Iterable

from ...tools.c import ast
from . import flow


def globals_of(unit: ast.Unit, function: str) -> dict[str, ast.Name]:
    """The global variables that a function and those that it calls mention."""
    bodies = [unit.functions[f].body for f in (function, *called_by(unit, function))]
    return {k: n for k, n in flow.names_in(bodies).items() if n.scope == "global"}


def called_by(unit: ast.Unit, function: str) -> tuple[str, ...]:
    """The functions of this file that a function calls, directly or not, callees first."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        for node in ast.walk(unit.functions[name].body):
            if isinstance(node, ast.Call) and node.function in unit.functions and node.function not in found:
                found[node.function] = None
                visit(node.function)
                found[node.function] = found.pop(node.function)

    visit(function)
    return tuple(found)


def helpers(unit: ast.Unit, bodies: Iterable[ast.Stmt]) -> tuple[str, ...]:
    """The functions of this file that some statements call, directly or not, callees first."""
    found: dict[str, None] = {}
    for node in (n for b in bodies for n in ast.walk(b)):
        if isinstance(node, ast.Call) and node.function in unit.functions:
            found.update(dict.fromkeys((*called_by(unit, node.function), node.function)))
    return tuple(found)
