"""What a function reaches: the functions of its unit that it calls, and the globals that they use."""

from __future__ import annotations

from collections.abc import Iterator

from . import ast


def reached(unit: ast.Unit, name: str) -> list[str]:
    """The function and the functions of the unit that it calls, directly or not, each once."""
    names = [name]
    for caller in names:
        names += [c for c in unit.calls.get(caller, ()) if c in unit.functions and c not in names]
    return names


def global_uses(unit: ast.Unit, name: str) -> Iterator[ast.Name]:
    """Uses of globals in a function and in what it calls."""
    for function in reached(unit, name):
        for node in ast.walk(unit.functions[function].body):
            if isinstance(node, ast.Name) and node.scope == "global":
                yield node
