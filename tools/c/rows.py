"""Pointers to rows as arrays: ``float **a`` becomes ``float (*a)[]``, rows of one length that is told later.

In a port the rows lie one after the other; in the original each may lie anywhere. So a function may read and write
through ``a[i]`` but not set it, and `a` itself may only be subscripted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from . import ast
from .ast import CType
from .declarations import array_of, pointer_to
from .parts import Obstacle, null_test
from .spell import spell

Length = int | ast.Expr | None


def pointers_to_rows(type: CType) -> int:
    """How many levels of rows lie below a parameter: 1 for ``float **``, 2 for ``float ***``, 0 for a plain array."""
    levels, element = 0, type.element
    while element is not None and element.kind == "pointer":
        levels, element = levels + 1, element.element
    plain = element is not None and (element.scalar or (element.kind == "struct" and bool(element.fields)))
    return levels if plain else 0


def with_rows(unit: ast.Unit, name: str) -> tuple[ast.Unit, dict[str, int], dict[str, Obstacle]]:
    """The unit with the function's pointers to rows as arrays; how many levels of rows each parameter has that could
    be changed, and what is in the way of the others."""
    function = unit.functions[name]
    levels: dict[str, int] = {}
    obstacles: dict[str, Obstacle] = {}
    for parameter in function.parameters:
        if depth := pointers_to_rows(parameter.type):
            try:
                function = _retyped(function, parameter, [None] * depth)
                levels[parameter.name] = depth
            except Obstacle as obstacle:
                obstacles[parameter.name] = obstacle
    return dataclasses.replace(unit, functions=unit.functions | {name: function}), levels, obstacles


def with_lengths(function: ast.Function, lengths: Mapping[str, Sequence[Length]]) -> ast.Function:
    """The function with rows of these lengths, by parameter, the outermost first."""
    for parameter in function.parameters:
        if parameter.name in lengths:
            function = _retyped(function, parameter, lengths[parameter.name])
    return function


def _retyped(function: ast.Function, parameter: ast.Variable, lengths: Sequence[Length]) -> ast.Function:
    """The function with rows in the parameter. Raises Obstacle where it does more than subscript it."""
    element = parameter.type
    for _ in range(len(lengths) + 1):
        assert element.element is not None
        element = element.element
    for length in reversed(lengths):
        element = array_of(element, length)
    changed = dataclasses.replace(parameter, type=pointer_to(element))
    parameters = tuple(changed if p is parameter else p for p in function.parameters)
    body = _Retyping(parameter, changed.type).rewritten(function.body)
    return dataclasses.replace(function, parameters=parameters, body=body)


@dataclasses.dataclass
class _Retyping:
    parameter: ast.Variable
    type: CType

    def rewritten(self, node: Any) -> Any:
        known = null_test(node, self.parameter)
        if known is not None:
            return ast.Literal(known, str(known), CType("int", "int", 4), node.place)
        match node:
            case ast.Assign(target=target) | ast.Step(target=target) | ast.Unary(op="&", operand=target):
                lvalue = self.lvalue(target)
                if lvalue is not None and not (lvalue.type.scalar or lvalue.type.kind == "struct"):
                    raise Obstacle(f"the pointer {spell(target)} is set", target.place)
        lvalue = self.lvalue(node)
        if lvalue is None:
            return ast.rebuild(node, self.rewritten)
        rows = lvalue.type.element
        if rows is not None and rows.kind == "array":
            raise Obstacle(f"{spell(node)} is used as a whole", node.place)
        return lvalue

    def lvalue(self, node: Any) -> ast.Expr | None:
        """The expression with its new type, where it is the parameter, a row or an element."""
        match node:
            case ast.Name(scope="param", name=name) if name == self.parameter.name:
                return dataclasses.replace(node, type=self.type)
            case ast.Subscript(base=base, index=index):
                return self.element(base, index, node)
            case ast.Unary(op="*", operand=ast.Binary(op="+", left=base, right=index)):
                return self.element(base, index, node)
            case ast.Unary(op="*", operand=base):
                return self.element(base, ast.Literal(0, "0", CType("int", "int", 4), node.place), node)
            case _:
                return None

    def element(self, base: ast.Expr, index: ast.Expr, node: ast.Expr) -> ast.Expr | None:
        rows = self.lvalue(base)
        if rows is None:
            return None
        assert rows.type.element is not None
        return ast.Subscript(rows, self.rewritten(index), rows.type.element, node.place)
