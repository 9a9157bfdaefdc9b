"""What one iteration of a loop nest reads and writes: its body, executed symbolically, helper functions included."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_

from ...tools.c import ast
from ...tools.c.polynomial import Polynomial, atom, constant
from . import flow
from .formula import Formula, at_least, comparison, equal
from .loops import Loop, break_in, counted, statements_of
from .mathematics import is_library_function
from .refusals import Refused
from .symbolic import Access, Evaluator, Location, Value


def accesses_of(
    outer: tuple[Loop, ...],
    loops: tuple[Loop, ...],
    body: tuple[ast.Stmt, ...],
    functions: Mapping[str, ast.Function],
    given: Iterable[ast.Expr] = (),
) -> tuple[Access, ...]:
    """The accesses of one iteration of the loops, inside one of the `outer` ones, where the `given` conditions hold.

    Raises Refused for calls and constructs that no device code has.
    """
    walker = _Walker(functions)
    walker.env = {name: _unset(walker, node) for name, node in _assigned(body).items()}
    for condition in given:
        holds, _ = walker.condition(condition)
        walker.path = walker.path & holds
    for loop in (*outer, *loops):
        walker.enter(loop, loop.variable)
    walker.block(body)
    if walker.written_globals:
        name, place = walker.written_globals.popitem()
        raise Refused("carried-scalar", f"the loop writes the global variable {name}", place)
    return tuple(walker.found)


def integer_value(expression: ast.Expr) -> Polynomial:
    """The value of an integer expression of variables and constants; with an unknown where it is no polynomial."""
    return _Walker({}).integer(expression)


def alternatives(expression: ast.Expr, op: str) -> list[ast.Expr]:
    """The values of which an expression takes the least (`op` is ``<``) or the greatest (``>``); else itself."""
    match expression:
        case ast.Conditional(
            condition=ast.Binary(op=compared, left=left, right=right), then=then, otherwise=otherwise
        ) if compared == op and left == then and right == otherwise:
            return [*alternatives(then, op), *alternatives(otherwise, op)]
        case _:
            return [expression]


def _assigned(body: Iterable[ast.Stmt]) -> dict[str, ast.Name]:
    names = flow.names_in(body)
    return {name: names[name] for name in flow.written(body) if name in names}


def _unset(walker: _Walker, node: ast.Name) -> Value:
    return walker.fresh() if node.type.kind in ("int", "bool", "enum") else None


class _Walker(Evaluator):
    # Statements.

    def block(self, statements: Iterable[ast.Stmt]) -> None:
        path, branches = self.path, self.branches
        for statement in statements:
            self.statement(statement)
        self.path, self.branches = path, branches

    def statement(self, statement: ast.Stmt) -> None:
        match statement:
            case ast.Block(body=body):
                self.block(body)
            case ast.Declare(variables=variables):
                for variable in variables:
                    self.declare(variable)
            case ast.Evaluate(expression=expression):
                self.discards = expression
                self.evaluate(expression)
            case ast.If():
                self.branch(statement)
            case ast.For():
                self.loop(statement)
            case ast.While(condition=condition, body=body):
                self.repeat(body, condition, None)
            case ast.Return(value=value):
                if value is not None:
                    self.evaluate(value)
            case ast.Jump():
                pass

    def declare(self, variable: ast.Variable) -> None:
        if variable.static and not variable.type.const and not _const_elements(variable.type):
            raise Refused("static-local", f"{variable.name} keeps its value between calls", variable.place)
        if isinstance(variable.type.length, ast.Expr):
            message = f"{variable.name} is an array of variable length inside a loop"
            raise Refused("construct", message, variable.place)
        value = None if variable.init is None else self.evaluate(variable.init)
        if variable.type.kind == "array":
            root = f"{variable.name}@{len(self.private)}"
            self.private.add(root)
            self.env[variable.name] = Location(root, (constant(0),))
        else:
            self.env[variable.name] = self.as_type(value, variable.type)

    def branch(self, statement: ast.If) -> None:
        then, otherwise = self.condition(statement.condition)
        before, path = dict(self.env), self.path
        self.branches += 1
        self.path = path & then
        self.statement(statement.then)
        after_then = self.env
        self.env = before
        self.path = path & otherwise
        if statement.otherwise is not None:
            self.statement(statement.otherwise)
        if _leaves(statement.then):
            return
        if statement.otherwise is not None and _leaves(statement.otherwise):
            self.env, self.path = after_then, path & then
            return
        self.path = path
        self.branches -= 1
        for name, value in after_then.items():
            if name in self.env and self.env[name] != value:
                self.env[name] = self.either(value, then, self.env[name], otherwise, statement.place)

    def loop(self, statement: ast.For) -> None:
        loop = counted(statement)
        if isinstance(loop, str):
            if statement.init is not None:
                self.statement(statement.init)
            self.repeat(statement.body, statement.condition, statement.step)
            return
        path, inner, natural, branches = self.path, self.inner, set(self.natural), self.branches
        if break_in(statements_of(statement.body)) is not None:
            self.branches += 1
        self.forget([statement.body], statement.place)
        (name,) = self.fresh().names
        self.enter(loop, name)
        self.inner = (*inner, (name, loop))
        self.block((statement.body,))
        self.path, self.inner, self.natural, self.branches = path, inner, natural, branches
        self.forget([statement.body], statement.place)
        self.env[loop.variable] = self.fresh()

    def enter(self, loop: Loop, name: str) -> None:
        """Inside a counted loop: its variable lies between its bounds, at a whole number of steps."""
        variable = atom(name)
        self.path = self.path & self.bounded(loop.comparison, variable, loop.bound)
        start = ">=" if loop.step > 0 else "<="
        if loop.step in (1, -1):
            self.path = self.path & self.bounded(start, variable, loop.first)
        else:
            steps = self.fresh()
            first = self.integer(loop.first)
            self.path = self.path & at_least(steps, 0) & equal(variable, first + steps * loop.step)
        if loop.step > 0 and any(self.is_natural(self.integer(e)) for e in alternatives(loop.first, ">")):
            self.natural.add(name)
        self.env[loop.variable] = variable

    def bounded(self, op: str, variable: Polynomial, bound: ast.Expr) -> Formula:
        """The comparison of a loop's variable with a bound; being below a minimum is being below both."""
        limits = alternatives(bound, op[0])
        return reduce(and_, (comparison(op, variable, self.integer(e)) for e in limits))

    def repeat(self, body: ast.Stmt, condition: ast.Expr | None, step: ast.Expr | None) -> None:
        """A loop of which nothing is known but what it touches."""
        nodes = [n for n in (condition, body, step) if n is not None]
        path, branches = self.path, self.branches
        self.forget(nodes, body.place)
        self.branches += 1
        if condition is not None:
            self.evaluate(condition)
        self.block((body,))
        if step is not None:
            self.evaluate(step)
        self.forget(nodes, body.place)
        self.path, self.branches = path, branches

    def forget(self, nodes: list[ast.Expr | ast.Stmt], place: ast.Place) -> None:
        """Variables that a loop assigns have unknown values inside and after it."""
        for name in flow.written(nodes) & self.env.keys():
            value = self.env[name]
            if isinstance(value, Polynomial):
                self.env[name] = self.fresh()
            elif isinstance(value, Location):
                for node in (n for root in nodes for n in ast.walk(root)):
                    match node:
                        case ast.Assign(op="=", target=ast.Name(name=target)) if target == name:
                            raise Refused("pointer-arithmetic", f"a loop sets the pointer {name}", place)
                self.env[name] = value.moved(self.fresh())

    def call(self, call: ast.Call) -> Value:
        values = [self.evaluate(a) if a.type.kind != "array" else self.pointer(a) for a in call.arguments]
        function = self.functions.get(call.function)
        if function is None:
            if not is_library_function(call.function):
                raise Refused("unknown-call", f"{call.function} cannot be called on the device", call.place)
            return self.as_type(None, call.type)
        if call.function in self.calls:
            raise Refused("recursion", f"{call.function} calls itself", call.place)
        env, path, branches, inner = self.env, self.path, self.branches, self.inner
        self.calls = (*self.calls, call.function)
        self.env = {p.name: self.as_type(v, p.type) for p, v in zip(function.parameters, values, strict=True)}
        *most, last = function.body.body or (function.body,)
        single = isinstance(last, ast.Return) and not any(
            isinstance(n, ast.Return) for s in most for n in ast.walk(s)
        )
        for statement in most:
            self.statement(statement)
        if single and isinstance(last, ast.Return) and last.value is not None:
            result = self.as_type(self.evaluate(last.value), call.type)
        else:
            self.statement(last)
            result = self.as_type(None, call.type)
        self.env, self.path, self.branches, self.inner = env, path, branches, inner
        self.calls = self.calls[:-1]
        for value in values:
            if isinstance(value, Location) and value.root.startswith("="):
                name = value.root[1:]
                if isinstance(self.env.get(name), Polynomial):
                    self.env[name] = self.fresh()
        if isinstance(result, Location) and result.root in self.private:
            raise Refused("construct", f"{call.function} returns a pointer to its own variable", call.place)
        return result


def _leaves(statement: ast.Stmt) -> bool:
    """Whether control never comes to the end of the statement."""
    match statement:
        case ast.Jump() | ast.Return():
            return True
        case ast.Block(body=(*_, last)):
            return _leaves(last)
        case ast.If(then=then, otherwise=otherwise) if otherwise is not None:
            return _leaves(then) and _leaves(otherwise)
        case _:
            return False


def _const_elements(type: ast.CType) -> bool:
    return type.element is not None and (type.element.const or _const_elements(type.element))
