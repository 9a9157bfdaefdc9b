"""Puts functions that loop over memory in place of their calls, so that their loops can become kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...tools.c import ast
from ...tools.c.ast import CType
from . import flow
from .tree import Names, rebuild, unshadowed

DEEPEST = 8


def inlined(function: ast.Function, functions: Mapping[str, ast.Function]) -> ast.Function:
    """The function with calls that stand as statements, as initial values or as what is returned or assigned
    replaced by the bodies of the functions that they call, where those take pointers and contain loops.

    A function that returns anywhere but at its end stays a call.
    """
    names = Names((*flow.names_in([function.body]), *flow.declared_in([function.body]), *functions))
    names.used |= {p.name for p in function.parameters}
    return dataclasses.replace(function, body=_Inlining(functions, names, ()).statement(function.body))


class _Inlining:
    def __init__(self, functions: Mapping[str, ast.Function], names: Names, inside: tuple[str, ...]) -> None:
        self.functions = functions
        self.names = names
        self.inside = inside

    def statement(self, statement: Any) -> Any:
        match statement:
            case ast.Block(body=body):
                return dataclasses.replace(statement, body=tuple(s for b in body for s in self.expanded(b)))
            case ast.For() | ast.While() | ast.If():
                return rebuild(statement, self.single)
            case _:
                return self.single(statement)

    def single(self, node: Any) -> Any:
        """A statement where only one may stand."""
        if not isinstance(node, ast.Stmt):
            return node
        if isinstance(node, ast.Block | ast.For | ast.While | ast.If):
            return self.statement(node)
        parts = self.expanded(node)
        return parts[0] if len(parts) == 1 else ast.Block(tuple(parts), node.place)

    def expanded(self, statement: ast.Stmt) -> list[ast.Stmt]:
        """A statement of a block, with what a call in it stands for in front."""
        match statement:
            case ast.Evaluate(expression=ast.Call() as call) if self.fits(call):
                return [self.body(call, lambda value: [])]
            case ast.Evaluate(expression=ast.Assign(value=ast.Call() as call) as assign) if self.fits(call):
                return [
                    self.body(
                        call,
                        lambda value: [
                            ast.Evaluate(dataclasses.replace(assign, value=value), statement.place)
                        ],
                    )
                ]
            case ast.Return(value=ast.Call() as call) if self.fits(call):
                return [self.body(call, lambda value: [dataclasses.replace(statement, value=value)])]
            case ast.Declare(variables=(ast.Variable(init=ast.Call() as call) as variable,)) if self.fits(
                call
            ):
                bare = dataclasses.replace(
                    variable, init=None, type=dataclasses.replace(variable.type, const=False)
                )
                name = ast.Name(variable.name, "local", bare.type, variable.place)

                def assigned(value: ast.Expr) -> list[ast.Stmt]:
                    return [ast.Evaluate(ast.Assign("=", name, value, bare.type, value.place), value.place)]

                return [dataclasses.replace(statement, variables=(bare,)), self.body(call, assigned)]
            case ast.Evaluate() | ast.Return() | ast.Declare() | ast.If():
                first = next((c for c in _calls(statement) if self.fits(c)), None)
                if first is not None:
                    return self.hoisted(statement, first)
        if isinstance(statement, ast.Block | ast.For | ast.While | ast.If):
            return [self.statement(statement)]
        return [statement]

    def hoisted(self, statement: ast.Stmt, call: ast.Call) -> list[ast.Stmt]:
        """The statement with a call inside it computed before."""
        variable = ast.Variable(self.names.fresh(f"{call.function}_value"), call.type, call.place)
        name = ast.Name(variable.name, "local", call.type, call.place)

        def kept(value: ast.Expr) -> list[ast.Stmt]:
            return [ast.Evaluate(ast.Assign("=", name, value, call.type, call.place), call.place)]

        declaration = ast.Declare((variable,), call.place)
        return [declaration, self.body(call, kept), *self.expanded(_replaced(statement, call, name))]

    def fits(self, call: ast.Call) -> bool:
        function = self.functions.get(call.function)
        if function is None or call.function in self.inside or len(self.inside) >= DEEPEST:
            return False
        deeper = _Inlining(self.functions, self.names, (*self.inside, call.function))
        *most, _ = function.body.body or (function.body,)
        nodes = [n for s in function.body.body for n in ast.walk(s)]
        return (
            any(p.type.element is not None for p in function.parameters)
            and any(
                isinstance(n, ast.For | ast.While) or (isinstance(n, ast.Call) and deeper.fits(n))
                for n in nodes
            )
            and not any(isinstance(n, ast.Return) for s in most for n in ast.walk(s))
            and not any(isinstance(n, ast.Declare) and any(v.static for v in n.variables) for n in nodes)
        )

    def body(self, call: ast.Call, finish: Callable[[ast.Expr], list[ast.Stmt]]) -> ast.Block:
        """The called function's body in a block of its own; `finish` makes statements of the value it returns."""
        function = self.functions[call.function]
        taken = self.names.used - {p.name for p in function.parameters}
        parameters = tuple(self.names.fresh(p.name) for p in function.parameters)
        function = unshadowed(function, parameters, taken)
        self.names.used |= flow.declared_in([function.body]).keys()
        changed = flow.assigned(function.body)
        direct: dict[str, ast.Expr] = {}
        declared: list[ast.Stmt] = []
        for parameter, argument in zip(function.parameters, call.arguments, strict=True):
            if _passes_unchanged(argument, parameter.type) and parameter.name not in changed:
                direct[parameter.name] = argument
            else:
                type = parameter.type
                if type.kind == "array":
                    type = CType("pointer", "", 8, False, element=type.element)
                variable = ast.Variable(parameter.name, type, call.place, argument)
                declared.append(ast.Declare((variable,), call.place))
        inner = _Inlining(self.functions, self.names, (*self.inside, call.function))
        body = inner.statement(_substituted(function.body, direct)).body
        if body and isinstance(body[-1], ast.Return):
            value = body[-1].value
            body = (*body[:-1], *(finish(value) if value is not None else []))
        return ast.Block((*declared, *body), call.place)


def _calls(node: Any) -> Iterator[ast.Call]:
    """The calls that a statement surely makes first of all it does, in whatever order."""
    match node:
        case ast.If(condition=condition):
            yield from _calls(condition)
        case ast.Conditional(condition=first) | ast.Binary(op="&&" | "||" | ",", left=first):
            yield from _calls(first)
        case ast.Call(arguments=arguments):
            for argument in arguments:
                yield from _calls(argument)
            yield node
        case ast.Declare(variables=variables) if len(variables) > 1:
            return
        case ast.Block() | ast.For() | ast.While() | ast.Jump():
            return
        case _:
            for child in ast.children(node):
                yield from _calls(child)


def _replaced(node: Any, old: ast.Expr, new: ast.Expr) -> Any:
    return new if node == old else rebuild(node, lambda child: _replaced(child, old, new))


def _passes_unchanged(argument: ast.Expr, parameter: CType) -> bool:
    """Whether a variable or constant can stand for a parameter of this type."""
    if not isinstance(argument, ast.Name | ast.Literal):
        return False
    given, wanted = argument.type, parameter
    if given.element is not None and wanted.element is not None:
        given, wanted = given.element, wanted.element
    return dataclasses.replace(given, const=False) == dataclasses.replace(wanted, const=False)


def _substituted(node: Any, values: Mapping[str, ast.Expr]) -> Any:
    """The tree with expressions in place of parameters."""
    if isinstance(node, ast.Name) and node.scope == "param" and node.name in values:
        return values[node.name]
    return rebuild(node, lambda child: _substituted(child, values))
