"""A function's parameters as its launcher has them: numbers and arrays."""

from __future__ import annotations

import dataclasses

from ...tools.c import ast
from ...tools.c.expression import tree
from ...tools.c.plain import plain
from ...tools.c.rows import with_lengths
from ...tools.records import FunctionSpec


def with_launched_parameters(unit: ast.Unit, spec: FunctionSpec) -> ast.Unit:
    """The file with the function's structs taken apart, and rows as long as the launcher's."""
    unit = plain(unit, spec.name).unit
    function = unit.functions[spec.name]
    own = [p for p in spec.parameters if p.origin == "parameter"]
    pairs = list(zip(function.parameters, own, strict=True))
    known: dict[str, ast.Expr] = {
        name: ast.Name(name, "global", v.type, v.place) for name, v in unit.globals.items()
    }
    known |= {launched.name: ast.Name(p.name, "param", p.type, p.place) for p, launched in pairs}
    lengths = {
        p.name: [tree(extent, known) for extent in launched.shape[1:]]
        for p, launched in pairs
        if launched.row_levels
    }
    function = with_lengths(function, lengths)
    return dataclasses.replace(unit, functions=unit.functions | {spec.name: function})
