"""Rebuilding and comparing syntax trees, and giving every variable of a function a name that C++ accepts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from ...tools.c import ast
from ...tools.c.ast import rebuild

Node = TypeVar("Node", bound=Any)
INT = ast.CType("int", "int", 4, True)
LONG = ast.CType("int", "long", 8, True)

# Words that C++ or CUDA takes for itself and C leaves to the programmer.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class compl concept consteval
    constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export
    false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid
    typename using virtual wchar_t xor xor_eq threadIdx blockIdx blockDim gridDim warpSize dim3
    """.split()  # noqa: SIM905
)
# Functions that CUDA's headers declare beside those of the C library.
CUDA_FUNCTIONS = frozenset(
    """
    min max umin umax llmin llmax ullmin ullmax rsqrt rsqrtf sinpi sinpif cospi cospif tanpi sincospi norm norm3d
    norm4d normf norm3df norm4df rnorm rnorm3d rhypot rhypotf rcbrt rcbrtf erfinv erfinvf erfcinv erfcinvf erfcx
    erfcxf normcdf normcdff normcdfinv saturate clock clock64 mul24 umul24 mulhi umulhi float_as_int
    int_as_float fdividef exp10 exp10f cyl_bessel_i0 cyl_bessel_i1 fdivide abs labs
    """.split()  # noqa: SIM905
)


class Names:
    """Hands out names that are not in use."""

    def __init__(self, used: Iterable[str]) -> None:
        self.used = set(used) | RESERVED

    def fresh(self, wanted: str, suffix: str = "") -> str:
        """The two words joined, with the first number between them that is free where they are taken."""
        name, number = wanted + suffix, 2
        while name in self.used:
            name, number = f"{wanted}_{number}{suffix}", number + 1
        self.used.add(name)
        return name


def unshadowed(
    function: ast.Function, parameter_names: Iterable[str], global_names: Iterable[str]
) -> ast.Function:
    """The function with its parameters named as given, and with locals renamed that hide another variable or
    whose name C++ reserves. Names of variables in scopes that do not overlap stay as they are."""
    forbidden = frozenset(global_names) | RESERVED
    renamed = tuple(parameter_names)
    renaming = _Renaming(Names((*renamed, *forbidden)), forbidden)
    scope: Scope = {}
    parameters = []
    for parameter, name in zip(function.parameters, renamed, strict=True):
        scope[parameter.name] = (name, parameter.type)
    for parameter, name in zip(function.parameters, renamed, strict=True):
        type = renaming.type(parameter.type, scope)
        scope[parameter.name] = (name, type)
        parameters.append(dataclasses.replace(parameter, name=name, type=type))
    return dataclasses.replace(
        function, parameters=tuple(parameters), body=renaming.block(function.body, scope)
    )


Scope = dict[str, tuple[str, ast.CType]]
"""The new name and type of each visible variable of the source."""


class _Renaming:
    def __init__(self, names: Names, forbidden: frozenset[str]) -> None:
        self.names = names
        self.forbidden = forbidden

    def block(self, block: ast.Block, scope: Scope) -> ast.Block:
        inner = dict(scope)
        return dataclasses.replace(block, body=tuple(self.statement(s, inner) for s in block.body))

    def statement(self, statement: ast.Stmt, scope: Scope) -> ast.Stmt:
        match statement:
            case ast.Block():
                return self.block(statement, scope)
            case ast.Declare(variables=variables):
                renamed = tuple(self.declared(v, scope) for v in variables)
                return dataclasses.replace(statement, variables=renamed)
            case ast.For():
                inner = dict(scope)
                return rebuild(statement, lambda child: self.any(child, inner))
            case _:
                return rebuild(statement, lambda child: self.any(child, dict(scope)))

    def any(self, node: Any, scope: Scope) -> Any:
        return self.statement(node, scope) if isinstance(node, ast.Stmt) else self.expression(node, scope)

    def declared(self, variable: ast.Variable, scope: Scope) -> ast.Variable:
        visible = {name for name, _ in scope.values()}
        hides = variable.name in visible or variable.name in self.forbidden
        name = self.names.fresh(variable.name) if hides else variable.name
        self.names.used.add(name)
        type = self.type(variable.type, scope)
        scope[variable.name] = (name, type)
        init = None if variable.init is None else self.expression(variable.init, scope)
        return dataclasses.replace(variable, name=name, type=type, init=init)

    def expression(self, expression: ast.Expr, scope: Scope) -> ast.Expr:
        if isinstance(expression, ast.Name) and expression.scope in ("param", "local"):
            name, type = scope[expression.name]
            return dataclasses.replace(expression, name=name, type=type)
        return rebuild(expression, lambda child: self.expression(child, scope))

    def type(self, type: ast.CType, scope: Scope) -> ast.CType:
        if type.element is None:
            return type
        length = type.length
        if isinstance(length, ast.Expr):
            length = self.expression(length, scope)
        return dataclasses.replace(type, element=self.type(type.element, scope), length=length)


def substituted(node: Node, values: Mapping[str, ast.Expr]) -> Node:
    """The tree with expressions in place of the variables of these names."""
    if isinstance(node, ast.Name) and node.name in values:
        return values[node.name]  # type: ignore[return-value]
    return rebuild(node, lambda child: substituted(child, values))


def same(a: Any, b: Any) -> bool:
    """Whether two trees are alike, wherever they stand."""
    if isinstance(a, ast.Expr):
        if a.__class__ is not b.__class__:
            return False
        return all(
            same(getattr(a, f.name), getattr(b, f.name))
            for f in dataclasses.fields(a)
            if f.name not in ("place", "type")
        )
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def root_of(expression: ast.Expr) -> str | None:
    """The variable that an element or field belongs to; None where it is reached in another way."""
    while isinstance(expression, ast.Subscript | ast.Member):
        expression = expression.base
    return expression.name if isinstance(expression, ast.Name) else None


def only_read(name: str, body: ast.Stmt) -> bool:
    """Whether a local array is only ever subscripted and read."""

    def reads(node: ast.Stmt | ast.Expr) -> bool:
        match node:
            case ast.Name(name=mentioned):
                return mentioned != name
            case ast.Subscript():
                base: ast.Expr = node
                indices = []
                while isinstance(base, ast.Subscript):
                    indices.append(base.index)
                    base = base.base
                if isinstance(base, ast.Name) and base.name == name:
                    return node.type.scalar and all(map(reads, indices))
            case ast.Assign(target=target) | ast.Step(target=target) | ast.Unary(op="&", operand=target):
                if root_of(target) == name:
                    return False
        return all(map(reads, ast.children(node)))

    return reads(body)
