"""The structs and enums that a candidate mentions and that the task's prelude does not define."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...tools.c import ast
from ...tools.c.ast import CType, declare


def definitions(unit: ast.Unit, functions: Iterable[ast.Function], prelude: str) -> list[str]:
    """C++ definitions, each after those that it needs."""
    found: dict[str, None] = {}
    defined = set(re.findall(r"\w+", prelude))
    for function in functions:
        for type in _types(function):
            if type.kind == "struct":
                found.update((text, None) for tag, text in _structs(type) if tag not in defined)
        for node in ast.walk(function.body):
            if isinstance(node, ast.Name) and node.scope == "enum" and node.name not in defined:
                found[_enum(unit, node.name)] = None
            elif isinstance(node, ast.Expr) and node.type.kind == "enum" and _tag(node.type) not in defined:
                found[_enum(unit, unit.enums[_tag(node.type)][0][0])] = None
    return list(found)


def _types(function: ast.Function) -> Iterator[CType]:
    """The types of a function's variables and expressions, and of what they point to."""
    for node in (function.body, *ast.walk(function.body)):
        variables = node.variables if isinstance(node, ast.Declare) else ()
        for type in (*(v.type for v in variables), *((node.type,) if isinstance(node, ast.Expr) else ())):
            yield from _levels(type)
    for type in (function.result, *(p.type for p in function.parameters)):
        yield from _levels(type)


def _levels(type: CType | None) -> Iterator[CType]:
    while type is not None:
        yield type
        type = type.element


def _structs(type: CType) -> Iterator[tuple[str, str]]:
    """Names and definitions of a struct and of those inside it, innermost first."""
    for field in type.fields:
        for level in _levels(field.type):
            if level.kind == "struct" and level.spelling != type.spelling:
                yield from _structs(level)
    if type.unnamed:
        return
    fields = "".join(f"    {declare(f.type, f.name)};\n" for f in type.fields)
    yield _tag(type), f"struct {_tag(type)} {{\n{fields}}};"


def _enum(unit: ast.Unit, enumerator: str) -> str:
    """The definition of the enum that an enumerator belongs to; enumerators of nameless enums come together."""
    tag, values = next((t, v) for t, v in unit.enums.items() if enumerator in dict(v))
    body = ", ".join(f"{name} = {value}" for name, value in values)
    return f"enum {tag} {{ {body} }};" if tag else f"enum {{ {body} }};"


def _tag(type: CType) -> str:
    return type.spelling.removeprefix("struct ").removeprefix("enum ")
