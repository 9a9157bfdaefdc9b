"""Replaces parameters that are structs, or point to one, by the parts of them that a function uses.

``void f(struct mat *m)`` that uses ``m->rows`` and ``m->data[i]`` becomes ``void f(int m_rows, float *m_data)``, and
so do helpers that `m` is passed on to: scalar replacement of aggregates, between functions too. Pointers to rows
(``float **a``) become arrays of rows whose length is not known yet, ``float (*a)[]``: see `tools.c.rows`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import ast
from .ast import CType, Place
from .calls import reached
from .complexes import is_complex
from .declarations import pointer_to

Path = tuple[str, ...]
"""Names of members, from the struct inward."""
_INT = CType("int", "int", 4)


@dataclass(frozen=True)
class Part:
    """A parameter that stands for a part of an original one.

    `access` is the original's expression of its value; where it is an array, of its first element's address.
    `inside` tells of an array that it lies in the struct itself.
    """

    name: str
    access: str
    inside: bool = False


class Obstacle(Exception):
    """A use of a parameter that its parts cannot serve."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass
class _Leaf:
    """A member that is used: its type, and whether its value is set through a pointer to the struct."""

    type: CType
    written: bool = False


@dataclass
class _Aggregate:
    """A parameter that is a struct (or points to one), and what is used of it."""

    parameter: ast.Variable
    struct: CType
    leaves: dict[Path, _Leaf] = field(default_factory=dict)

    @property
    def by_pointer(self) -> bool:
        return self.parameter.type.kind == "pointer"

    def access(self, path: Path) -> str:
        return f"{self.parameter.name}{'->' if self.by_pointer else '.'}{'.'.join(path)}"


def taken_apart(
    unit: ast.Unit, name: str
) -> tuple[ast.Unit, dict[str, tuple[Part, ...]], dict[str, Obstacle]]:
    """The unit with the function's structs taken apart wherever nothing stands in the way; the parts of each
    parameter that was, and what is in the way of the others."""
    finder = _Finder(unit)
    function = unit.functions[name]
    obstacles: dict[str, Obstacle] = {}
    for parameter in function.parameters:
        if _struct_of(parameter.type) is not None:
            try:
                finder.aggregate(name, parameter)
            except Obstacle as obstacle:
                obstacles[parameter.name] = obstacle
    chosen = finder.reached(name, function.parameters)
    rewritings = {}
    for caller in reached(unit, name):
        own = {parameter: a for (f, parameter), a in chosen.items() if f == caller}
        rewritings[caller] = _Rewriting(unit, unit.functions[caller], own, chosen)
    try:
        functions = unit.functions | {caller: r.function() for caller, r in rewritings.items()}
    except Obstacle as obstacle:
        return unit, {}, obstacles | {parameter: obstacle for f, parameter in chosen if f == name}
    return dataclasses.replace(unit, functions=functions), rewritings[name].parts(), obstacles


def has_pointers(type: CType | None) -> bool:
    """Whether a type is a pointer, or holds one in a struct or array."""
    if type is None:
        return False
    if type.kind == "array":
        return has_pointers(type.element)
    return type.kind == "pointer" or any(has_pointers(f.type) for f in type.fields)


def _struct_of(type: CType) -> CType | None:
    """The struct that a parameter is or points to, where its members are known."""
    struct = type.element if type.kind == "pointer" else type
    if struct is not None and struct is not type and is_complex(struct):
        return None
    return struct if struct is not None and struct.kind == "struct" and struct.fields else None


def _member(struct: CType, name: str) -> CType:
    return next(f.type for f in struct.members if f.name == name)


def _stands_for(node: Any, parameter: ast.Variable) -> bool:
    """Whether an expression is the parameter's struct as a value: ``p``, or ``*p`` and ``p[0]`` of a pointer."""
    if parameter.type.kind != "pointer":
        return isinstance(node, ast.Name) and node.scope == "param" and node.name == parameter.name
    match node:
        case ast.Unary(op="*", operand=ast.Name(scope="param", name=name)):
            return name == parameter.name
        case ast.Subscript(base=ast.Name(scope="param", name=name), index=ast.Literal(value=0)):
            return name == parameter.name
        case _:
            return False


def _points_to(node: Any, parameter: ast.Variable) -> bool:
    """Whether an expression points to the parameter's struct."""
    if isinstance(node, ast.Unary) and node.op == "&":
        return _stands_for(node.operand, parameter)
    own = isinstance(node, ast.Name) and node.scope == "param" and node.name == parameter.name
    return own and parameter.type.kind == "pointer"


def _path(node: Any, parameter: ast.Variable) -> Path | None:
    """The members that lead from the parameter to an expression; empty for the struct itself."""
    if _stands_for(node, parameter):
        return ()
    if not isinstance(node, ast.Member):
        return None
    if node.arrow and _points_to(node.base, parameter):
        return (node.field,)
    above = None if node.arrow else _path(node.base, parameter)
    return None if above is None else (*above, node.field)


def null_test(node: Any, parameter: ast.Variable) -> int | None:
    """What a test of a pointer for NULL gives where it is none: 0 or 1."""
    match node:
        case ast.Unary(op="!", operand=operand) if _points_to(operand, parameter):
            return 0
        case ast.Binary(op="==" | "!=" as op, left=left, right=right):
            pairs = ((left, right), (right, left))
            if any(_points_to(a, parameter) and _is_null(b) for a, b in pairs):
                return int(op == "!=")
    return None


def _is_null(node: Any) -> bool:
    return _is_null(node.operand) if isinstance(node, ast.Cast) else getattr(node, "value", None) == 0


def leaves_of(struct: CType, path: Path = ()) -> Iterator[tuple[Path, CType]]:
    """The members that are no structs, those of inner structs included."""
    for member in struct.members:
        if member.type.kind == "struct":
            yield from leaves_of(member.type, (*path, member.name))
        else:
            yield (*path, member.name), member.type


class _Finder:
    """Finds what functions use of their structs, following them into helpers."""

    def __init__(self, unit: ast.Unit) -> None:
        self.unit = unit
        self.found: dict[tuple[str, str], _Aggregate] = {}
        self.passed: dict[tuple[str, str], set[tuple[str, str]]] = {}
        self.open: set[tuple[str, str]] = set()

    def aggregate(self, function: str, parameter: ast.Variable) -> _Aggregate:
        """What a function uses of a parameter. Raises Obstacle."""
        key = (function, parameter.name)
        if key in self.open:
            raise Obstacle(f"{function}() passes {parameter.name} to itself", parameter.place)
        if key not in self.found:
            struct = _struct_of(parameter.type)
            if struct is None:
                raise Obstacle(f"{parameter.name} is no struct", parameter.place)
            found = _Aggregate(parameter, struct)
            self.open.add(key)
            self.passed[key] = set()
            own = self.unit.functions[function]
            try:
                for length in (e for p in own.parameters for e in ast.lengths(p.type)):
                    self.visit(length, function, found)
                self.visit(own.body, function, found)
            finally:
                self.open.discard(key)
            self.found[key] = found
        return self.found[key]

    def reached(self, name: str, parameters: tuple[ast.Variable, ...]) -> dict[tuple[str, str], _Aggregate]:
        """What is taken apart: the function's own parameters, and the helpers' that they are passed to."""
        keys = [(name, p.name) for p in parameters if (name, p.name) in self.found]
        for key in keys:
            keys += [k for k in sorted(self.passed[key]) if k not in keys]
        return {key: self.found[key] for key in keys}

    def visit(self, node: ast.Stmt | ast.Expr, function: str, into: _Aggregate) -> None:
        parameter = into.parameter
        if null_test(node, parameter) is not None:
            return
        match node:
            case ast.Call(function=callee, arguments=arguments) if callee in self.unit.functions:
                for taken, argument in zip(self.unit.functions[callee].parameters, arguments, strict=True):
                    if not self.pass_on(callee, taken, argument, (function, parameter.name), into):
                        self.visit(argument, function, into)
                return
            case ast.Assign(target=target, value=value) if (path := _path(target, parameter)) is not None:
                self.set(path, target, into)
                self.visit(value, function, into)
                return
            case ast.Step(target=target) | ast.Unary(op="&", operand=target) if _path(target, parameter):
                self.set(_path(target, parameter) or (), target, into)
                return
        path = _path(node, parameter)
        if path is not None and isinstance(node, ast.Expr):
            self.use(path, node, into)
            return
        if isinstance(node, ast.Name) and node.scope == "param" and node.name == parameter.name:
            raise Obstacle(f"{node.name} is used as a whole", node.place)
        if isinstance(node, ast.Declare):
            for length in (e for v in node.variables for e in ast.lengths(v.type)):
                self.visit(length, function, into)
        for child in ast.children(node):
            self.visit(child, function, into)

    def use(self, path: Path, node: ast.Expr, into: _Aggregate) -> None:
        """A member's value, or that of a struct all of whose members are numbers."""
        if node.type.kind != "struct":
            into.leaves.setdefault(path, _Leaf(node.type))
            return
        for inner, type in leaves_of(node.type, path):
            if not type.scalar:
                raise Obstacle(f"{into.parameter.name} is copied as a whole", node.place)
            into.leaves.setdefault(inner, _Leaf(type))

    def set(self, path: Path, target: ast.Expr, into: _Aggregate) -> None:
        if not target.type.scalar:
            raise Obstacle(f"{into.access(path) if path else into.parameter.name} is set", target.place)
        into.leaves.setdefault(path, _Leaf(target.type)).written |= into.by_pointer

    def pass_on(
        self,
        callee: str,
        taken: ast.Variable,
        argument: ast.Expr,
        key: tuple[str, str],
        into: _Aggregate,
    ) -> bool:
        """Whether an argument is the struct, or an inner one, that the callee then uses parts of."""
        if taken.type.kind == "pointer":
            inner = argument.operand if isinstance(argument, ast.Unary) and argument.op == "&" else None
            path = () if _points_to(argument, into.parameter) else _path(inner, into.parameter)
        else:
            path = _path(argument, into.parameter)
            if argument.type.kind == "struct" and not any(not t.scalar for _, t in leaves_of(argument.type)):
                return False
        if path is None or argument.type.scalar or (inner_type := _struct_of(taken.type)) is None:
            return False
        if path and _type_at(into.struct, path).spelling != inner_type.spelling:
            return False
        aggregate = self.aggregate(callee, taken)
        self.passed[key] |= {(callee, taken.name)}
        for inner_path, leaf in aggregate.leaves.items():
            own = into.leaves.setdefault((*path, *inner_path), _Leaf(leaf.type))
            own.written |= leaf.written and into.by_pointer
        return True


def _type_at(struct: CType, path: Path) -> CType:
    for name in path:
        struct = _member(struct, name)
    return struct


class _Rewriting:
    """One function with the parts in the place of its structs."""

    def __init__(
        self,
        unit: ast.Unit,
        function: ast.Function,
        own: dict[str, _Aggregate],
        chosen: dict[tuple[str, str], _Aggregate],
    ) -> None:
        self.unit = unit
        self.original = function
        self.own = own
        self.chosen = chosen
        body = list(ast.walk(function.body))
        used = {p.name for p in function.parameters} | unit.globals.keys() | unit.functions.keys()
        used |= {n.name for n in body if isinstance(n, ast.Name)}
        used |= {v.name for n in body if isinstance(n, ast.Declare) for v in n.variables}
        self.names: dict[tuple[str, Path], str] = {}
        for name, aggregate in own.items():
            for path in _ordered(aggregate):
                fresh = "_".join((name, *path))
                while fresh in used:
                    fresh += "_"
                used.add(fresh)
                self.names[name, path] = fresh

    def function(self) -> ast.Function:
        parameters: list[ast.Variable] = []
        for parameter in self.original.parameters:
            aggregate = self.own.get(parameter.name)
            if aggregate is None:
                parameters.append(self.rewritten(parameter))
                continue
            for path in _ordered(aggregate):
                name, leaf = self.names[parameter.name, path], aggregate.leaves[path]
                parameters.append(ast.Variable(name, _taken(leaf, aggregate), parameter.place))
        return dataclasses.replace(
            self.original, parameters=tuple(parameters), body=self.rewritten(self.original.body)
        )

    def parts(self) -> dict[str, tuple[Part, ...]]:
        return {
            name: tuple(
                Part(
                    self.names[name, path],
                    f"{'&' if leaf.written else ''}{aggregate.access(path)}",
                    leaf.written or leaf.type.kind == "array",
                )
                for path in _ordered(aggregate)
                for leaf in (aggregate.leaves[path],)
            )
            for name, aggregate in self.own.items()
        }

    def rewritten(self, node: Any) -> Any:
        for name, aggregate in self.own.items():
            known = null_test(node, aggregate.parameter)
            if known is not None:
                return ast.Literal(known, str(known), _INT, node.place)
            if isinstance(node, ast.Unary) and node.op == "&":
                path = _path(node.operand, aggregate.parameter)
                if path and aggregate.leaves[path].written:
                    return self.leaf(name, path, node.place)
            path = _path(node, aggregate.parameter)
            if path is not None:
                return self.value(name, path, node)
        if isinstance(node, ast.Expr | ast.Variable) and any(ast.lengths(node.type)):
            node = dataclasses.replace(node, type=self.type(node.type))
        if isinstance(node, ast.Call) and node.function in self.unit.functions:
            return dataclasses.replace(node, arguments=tuple(self.arguments(node)))
        return ast.rebuild(node, self.rewritten)

    def type(self, type: CType) -> CType:
        if type.element is None:
            return type
        length = self.rewritten(type.length) if isinstance(type.length, ast.Expr) else type.length
        return dataclasses.replace(type, element=self.type(type.element), length=length)

    def leaf(self, name: str, path: Path, place: Place) -> ast.Name:
        aggregate = self.own[name]
        type = _taken(aggregate.leaves[path], aggregate)
        return ast.Name(self.names[name, path], "param", type, place)

    def value(self, name: str, path: Path, node: ast.Expr) -> ast.Expr:
        if node.type.kind == "struct":
            items = tuple(self.value(name, inner, _typed(node, type)) for inner, type in _inner(node, path))
            plain = dataclasses.replace(node.type, const=False)
            return ast.Cast(ast.InitList(items, plain, node.place), plain, node.place)
        leaf = self.leaf(name, path, node.place)
        if self.own[name].leaves[path].written:
            return ast.Unary("*", leaf, node.type, node.place)
        return leaf

    def arguments(self, call: ast.Call) -> Iterator[ast.Expr]:
        parameters = self.unit.functions[call.function].parameters
        for taken, argument in zip(parameters, call.arguments, strict=True):
            aggregate = self.chosen.get((call.function, taken.name))
            if aggregate is None:
                yield self.rewritten(argument)
                continue
            for path in _ordered(aggregate):
                leaf = aggregate.leaves[path]
                part = _part(argument, path, aggregate)
                if leaf.written:
                    part = ast.Unary("&", part, pointer_to(leaf.type), argument.place)
                yield self.rewritten(part)


def _ordered(aggregate: _Aggregate) -> list[Path]:
    return [path for path, _ in leaves_of(aggregate.struct) if path in aggregate.leaves]


def _taken(leaf: _Leaf, aggregate: _Aggregate) -> CType:
    """The type of the parameter that a member becomes."""
    if leaf.written:
        return pointer_to(leaf.type)
    return dataclasses.replace(leaf.type, const=False)


def _inner(node: ast.Expr, path: Path) -> Iterator[tuple[Path, CType]]:
    return ((((*path, f.name)), f.type) for f in node.type.members)


def _typed(node: ast.Expr, type: CType) -> ast.Expr:
    """A stand-in for a member of `node`, of which only type and place matter."""
    return ast.Member(node, "", False, type, node.place)


def _part(argument: ast.Expr, path: Path, aggregate: _Aggregate) -> ast.Expr:
    """A member of what is passed to a helper."""
    if any(isinstance(n, ast.Call | ast.Assign | ast.Step) for n in ast.walk(argument)):
        raise Obstacle("a struct that a call returns is passed on", argument.place)
    part, arrow = argument, aggregate.by_pointer
    if arrow and isinstance(argument, ast.Unary) and argument.op == "&":
        part, arrow = argument.operand, False
    type = aggregate.struct
    for name in path:
        type = _member(type, name)
        part, arrow = ast.Member(part, name, arrow, type, argument.place), False
    return part
