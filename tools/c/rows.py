"""Pointers to rows as arrays: ``float **a`` becomes ``float (*a)[]``, rows of one length that is told later.

In a port the rows lie one after the other; in the original each may lie anywhere. So a function may read and write
through ``a[i]`` but not set it; `a` itself may be subscripted, and exchanged with other pointers of its kind.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import ast
from .ast import CType
from .declarations import array_of, pointer_to
from .parts import Obstacle, null_test
from .spell import spell

Length = int | ast.Expr | None


@dataclass(frozen=True)
class Rows:
    """A unit in which a function's pointers to rows are arrays.

    `levels` tells of each parameter that was changed how many levels of rows it has, `exchanged` which of them take
    each other's place, and `obstacles` what is in the way of the others.
    """

    unit: ast.Unit
    levels: dict[str, int]
    exchanged: tuple[frozenset[str], ...]
    obstacles: dict[str, Obstacle]


def pointers_to_rows(type: CType) -> int:
    """How many levels of rows lie below a variable: 1 for ``float **``, 2 for ``float ***``, 0 for a plain array."""
    levels, element = 0, type.element
    while element is not None and element.kind == "pointer":
        levels, element = levels + 1, element.element
    plain = element is not None and (element.scalar or (element.kind == "struct" and bool(element.fields)))
    return levels if plain else 0


def with_rows(unit: ast.Unit, name: str) -> Rows:
    """The unit with the function's pointers to rows as arrays, as far as that can be had."""
    function = unit.functions[name]
    levels = {p.name: depth for p in function.parameters if (depth := pointers_to_rows(p.type))}
    obstacles: dict[str, Obstacle] = {}
    exchanged: tuple[frozenset[str], ...] = ()
    try:
        function, groups = _retyped(function, {p: [None] * depth for p, depth in levels.items()})
        parameters = levels.keys()
        exchanged = tuple(group & parameters for group in groups if len(group & parameters) > 1)
    except Obstacle:
        for parameter, depth in list(levels.items()):
            try:
                function, _ = _retyped(function, {parameter: [None] * depth})
            except Obstacle as obstacle:
                obstacles[parameter] = obstacle
                del levels[parameter]
    changed = dataclasses.replace(unit, functions=unit.functions | {name: function})
    return Rows(changed, levels, exchanged, obstacles)


def with_lengths(function: ast.Function, lengths: Mapping[str, Sequence[Length]]) -> ast.Function:
    """The function with rows of these lengths, by parameter, the outermost first."""
    return _retyped(function, lengths)[0]


def _retyped(
    function: ast.Function, lengths: Mapping[str, Sequence[Length]]
) -> tuple[ast.Function, list[frozenset[str]]]:
    """The function with rows in these parameters and in the locals that take their place; which variables do so.

    Raises Obstacle where it does more with one than subscript and exchange it.
    """
    parameters = {p.name: p for p in function.parameters if p.name in lengths}
    finding = _Finding(set(parameters))
    finding.visit(function.body)
    groups = finding.groups()
    variables = dict(parameters)
    known = dict(lengths)
    for group in groups:
        own = min(group & parameters.keys())
        for name in group - parameters.keys():
            if name not in finding.locals:
                raise Obstacle(f"{own} and {name} are exchanged", function.place)
            variables[name] = finding.locals[name]
            known[name] = lengths[own]
    retyping = _Retyping(variables, {name: _with(v.type, known[name]) for name, v in variables.items()})
    changed = tuple(
        dataclasses.replace(p, type=retyping.types.get(p.name, p.type)) for p in function.parameters
    )
    return dataclasses.replace(function, parameters=changed, body=retyping.rewritten(function.body)), groups


def _with(type: CType, lengths: Sequence[Length]) -> CType:
    """The pointer with rows of these lengths in the place of pointers."""
    element = type
    for _ in range(len(lengths) + 1):
        assert element.element is not None
        element = element.element
    for length in reversed(lengths):
        element = array_of(element, length)
    return pointer_to(element)


def _leads_to_rows(type: CType) -> bool:
    """Whether this is a pointer to rows, be they pointers still or arrays already."""
    return type.kind == "pointer" and type.element is not None and type.element.kind in ("pointer", "array")


@dataclass
class _Finding:
    """Finds locals that are set to a pointer to rows, and which variables are set to which."""

    names: set[str]
    locals: dict[str, ast.Variable] = field(default_factory=dict)
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def visit(self, node: ast.Stmt | ast.Expr) -> None:
        match node:
            case ast.Declare(variables=variables):
                for variable in variables:
                    if _leads_to_rows(variable.type) and isinstance(variable.init, ast.Name):
                        if variable.name in self.locals or variable.name in self.names:
                            raise Obstacle(
                                f"{variable.name} has the name of another variable", variable.place
                            )
                        self.locals[variable.name] = variable
                        self.pairs.append((variable.name, variable.init.name))
            case ast.Assign(op="=", target=ast.Name(name=target), value=ast.Name(name=value, type=type)):
                if _leads_to_rows(type):
                    self.pairs.append((target, value))
        for child in ast.children(node):
            self.visit(child)

    def groups(self) -> list[frozenset[str]]:
        """Variables that take each other's place, those that hold a parameter's rows at some time."""
        groups = [frozenset([name]) for name in sorted(self.names)]
        for pair in [*self.pairs, *reversed(self.pairs)]:
            joined = [g for g in groups if g & set(pair)]
            if joined:
                groups = [g for g in groups if g not in joined] + [frozenset(pair).union(*joined)]
        return groups


@dataclass
class _Retyping:
    variables: Mapping[str, ast.Variable]
    types: Mapping[str, CType]

    def rewritten(self, node: Any) -> Any:
        for variable in self.variables.values():
            known = null_test(node, variable)
            if known is not None:
                return ast.Literal(known, str(known), CType("int", "int", 4), node.place)
        match node:
            case ast.Variable(name=name, init=ast.Name() as init) if name in self.types:
                return dataclasses.replace(node, type=self.types[name], init=self.whole(init))
            case ast.Assign(op="=", target=ast.Name(name=name) as target, value=ast.Name() as value) if (
                name in self.types
            ):
                target, value = self.whole(target), self.whole(value)
                return dataclasses.replace(node, target=target, value=value, type=target.type)
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

    def whole(self, name: ast.Name) -> ast.Name:
        """A variable that another one is set to, or that is set itself."""
        type = self.types.get(name.name)
        if type is None:
            raise Obstacle(f"{name.name}, which is no parameter, takes its place", name.place)
        return dataclasses.replace(name, type=type)

    def lvalue(self, node: Any) -> ast.Expr | None:
        """The expression with its new type, where it is a variable, a row or an element."""
        match node:
            case ast.Name(scope="param" | "local", name=name) if name in self.types:
                return dataclasses.replace(node, type=self.types[name])
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
