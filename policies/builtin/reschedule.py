"""Reorders a loop nest so that parallel loops come out: interchange, distribution, skewing, all by one scheduler.

The result is C again, so that the ordinary dependence test proves what it finds there a second time.
(Verdoolaege and Janssens, "Scheduling for PPCG", KU Leuven CW 706, 2017; Bondhugula et al., "A Practical Automatic
Polyhedral Parallelizer and Locality Optimizer", PLDI 2008; Feautrier, "Some Efficient Solutions to the Affine
Scheduling Problem", IJPP 1992.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import islpy as isl

from ...tools.c import ast
from . import flow
from .nest import Surroundings
from .polyhedra import Model, NotAffine, Statement, model
from .refusals import Refused
from .tree import INT, LONG, Names, substituted

# islpy spells these with an underscore, which its stubs do not know.
_FOR, _IF = (getattr(isl.ast_node_type, f"{word}_") for word in ("for", "if"))
_AND, _OR = (getattr(isl.ast_expr_op_type, f"{word}_") for word in ("and", "or"))
# A schedule that needs more statements than this to write down is not worth its kernels.
MOST_COPIES = 24


def rescheduled(nest: ast.For, around: Surroundings) -> Iterator[ast.Block]:
    """Other orders of the nest's iterations that keep every dependence, the coarsest statements first."""
    seen = set()
    for depth in range(1, _depth(nest) + 1):
        try:
            made = model(nest, around, depth)
        except (NotAffine, Refused):
            continue
        key = tuple((s.body, len(s.loops)) for s in made.statements)
        if key in seen:
            continue
        seen.add(key)
        written = _written(made, nest)
        if written is not None:
            yield written


def _depth(node: ast.Expr | ast.Stmt) -> int:
    inner = max((_depth(c) for c in ast.children(node) if isinstance(c, ast.Stmt)), default=0)
    return inner + isinstance(node, ast.For)


def _written(made: Model, nest: ast.For) -> ast.Block | None:
    """The nest in the order that the scheduler finds; None where it gives up."""
    context = made.domain.get_ctx()
    context.reset_operations()
    context.set_schedule_outer_coincidence(1)
    context.set_schedule_serialize_sccs(1)
    context.set_schedule_split_scaled(1)
    context.set_ast_build_prefer_pdiv(1)
    constraints = isl.ScheduleConstraints.on_domain(made.domain)
    constraints = constraints.set_validity(made.dependences).set_coincidence(made.dependences)
    try:
        schedule = constraints.set_proximity(made.dependences).compute_schedule()
        writer = _Writer(made, nest)
        everywhere = isl.AstBuild.from_context(isl.Set("{ : }", context))
        try:
            return writer.block(everywhere.node_from_schedule(schedule))
        except _Floor:
            runs = isl.Set.from_basic_set(made.domain.params().simple_hull())
            build = isl.AstBuild.from_context(runs)
            condition = writer.expression(everywhere.expr_from_set(runs), {})
            body = writer.block(build.node_from_schedule(schedule))
            return ast.Block((ast.If(condition, body, None, nest.place),), nest.place)
    except (isl.Error, NotAffine, _Floor):
        return None


class _Floor(Exception):
    """A division must round down, which C's does only for natural numbers."""


class _Writer:
    """Writes isl's syntax tree as C."""

    def __init__(self, made: Model, nest: ast.For) -> None:
        self.model = made
        self.place = nest.place
        self.statements = {s.name: s for s in made.statements}
        self.names = Names((*flow.names_in([nest]), *flow.declared_in([nest])))
        self.invented: dict[str, str] = {}
        self.copies = 0
        loops = [loop for s in made.statements for loop in s.loops]
        self.type = INT if all(loop.type.spelling == "int" for loop in loops) else LONG

    def block(self, node: isl.AstNode) -> ast.Block:
        return ast.Block(tuple(self.node(node, {})), self.place)

    def node(self, node: isl.AstNode, values: Mapping[str, ast.Expr]) -> list[ast.Stmt]:
        """Statements of a node, inside loops whose variables have the given values."""
        kind = node.get_type()
        if kind == isl.ast_node_type.block:
            children = node.block_get_children()
            return [s for i in range(children.n_ast_node()) for s in self.node(children.get_at(i), values)]
        if kind == _FOR:
            return [self.loop(node, values)] if not node.for_is_degenerate() else self.single(node, values)
        if kind == _IF:
            then = ast.Block(tuple(self.node(node.if_get_then_node(), values)), self.place)
            otherwise = None
            if node.if_has_else_node():
                otherwise = ast.Block(tuple(self.node(node.if_get_else_node(), values)), self.place)
            return [ast.If(self.expression(node.if_get_cond(), values), then, otherwise, self.place)]
        if kind == isl.ast_node_type.user:
            return self.instance(node.user_get_expr(), values)
        raise NotAffine

    def loop(self, node: isl.AstNode, values: Mapping[str, ast.Expr]) -> ast.For:
        iterator = node.for_get_iterator().id_get_id().get_name()
        body = node.for_get_body()
        variable = ast.Name(self.named(iterator, body, values), "local", self.type, self.place)
        inside = {**values, iterator: variable}
        first = self.expression(node.for_get_init(), values)
        init = ast.Declare((ast.Variable(variable.name, self.type, self.place, first),), self.place)
        if node.for_get_inc().int_get_val().to_str() != "1":
            raise NotAffine
        return ast.For(
            init=init,
            condition=self.expression(node.for_get_cond(), inside),
            step=ast.Step("++", False, variable, self.type, self.place),
            body=ast.Block(tuple(self.node(body, inside)), self.place),
            place=self.place,
        )

    def single(self, node: isl.AstNode, values: Mapping[str, ast.Expr]) -> list[ast.Stmt]:
        iterator = node.for_get_iterator().id_get_id().get_name()
        return self.node(
            node.for_get_body(), {**values, iterator: self.expression(node.for_get_init(), values)}
        )

    def named(self, iterator: str, body: isl.AstNode, values: Mapping[str, ast.Expr]) -> str:
        """The name of the original's variable that an iterator stands for, where there is one and it is free."""
        taken = {n.name for v in values.values() for n in ast.walk(v) if isinstance(n, ast.Name)}
        calls = list(_calls(body))
        instances = [self.statements[call.op_get_arg(0).id_get_id().get_name()] for call in calls]
        for statement, call in zip(instances, calls, strict=True):
            for position, loop in enumerate(statement.loops):
                argument = call.op_get_arg(position + 1)
                is_it = argument.get_type() == isl.ast_expr_type.id
                if not is_it or argument.id_get_id().get_name() != iterator or loop.variable in taken:
                    continue
                if not any(_mentions(s, loop.variable) for s in instances):
                    return loop.variable
        if iterator not in self.invented:
            self.invented[iterator] = self.names.fresh(iterator)
        return self.invented[iterator]

    def instance(self, call: isl.AstExpr, values: Mapping[str, ast.Expr]) -> list[ast.Stmt]:
        """A statement with its loops' variables replaced by what isl computes for them."""
        self.copies += 1
        if self.copies > MOST_COPIES:
            raise NotAffine
        statement = self.statements[call.op_get_arg(0).id_get_id().get_name()]
        given = {
            loop.variable: _cast(self.expression(call.op_get_arg(i + 1), values), loop.type)
            for i, loop in enumerate(statement.loops)
        }
        return [substituted(s, given) for s in statement.body]

    def expression(self, expression: isl.AstExpr, values: Mapping[str, ast.Expr]) -> ast.Expr:
        kind = expression.get_type()
        if kind == isl.ast_expr_type.int:
            return self.number(expression.int_get_val().to_python())
        if kind == isl.ast_expr_type.id:
            name = expression.id_get_id().get_name()
            return values[name] if name in values else self.parameter(name)
        arguments = [
            self.expression(expression.op_get_arg(i), values) for i in range(expression.op_get_n_arg())
        ]
        return self.operation(expression.op_get_type(), arguments)

    def operation(self, op: Any, arguments: list[ast.Expr]) -> ast.Expr:
        ops = isl.ast_expr_op_type
        first, *rest = arguments
        if op in (ops.max, ops.min):
            return reduce(lambda a, b: self.choice(">" if op == ops.max else "<", a, b), rest, first)
        if op == ops.minus:
            return ast.Unary("-", first, self.type, self.place)
        if op in (ops.cond, ops.select):
            return ast.Conditional(first, rest[0], rest[1], self.type, self.place)
        if op == ops.fdiv_q:
            raise _Floor
        symbol = {
            ops.add: "+",
            ops.sub: "-",
            ops.mul: "*",
            ops.div: "/",
            ops.pdiv_q: "/",
            ops.pdiv_r: "%",
            ops.zdiv_r: "%",
            ops.eq: "==",
            ops.lt: "<",
            ops.le: "<=",
            ops.gt: ">",
            ops.ge: ">=",
            _AND: "&&",
            ops.and_then: "&&",
            _OR: "||",
            ops.or_else: "||",
        }.get(op)
        if symbol is None:
            raise NotAffine
        return self.binary(symbol, first, rest[0])

    def binary(self, op: str, left: ast.Expr, right: ast.Expr) -> ast.Expr:
        return ast.Binary(op, left, right, self.type, self.place)

    def choice(self, op: str, left: ast.Expr, right: ast.Expr) -> ast.Expr:
        return ast.Conditional(self.binary(op, left, right), left, right, self.type, self.place)

    def number(self, value: int) -> ast.Expr:
        return ast.Literal(value, str(value), INT, self.place)

    def parameter(self, name: str) -> ast.Expr:
        """One of isl's parameters: a product of the function's variables."""
        factors: list[ast.Expr] = []
        for factor in self.model.parameters[name]:
            if not isinstance(factor, str) or factor not in self.variables:
                raise NotAffine
            factors.append(self.variables[factor])
        return reduce(lambda a, b: self.binary("*", a, b), factors)

    @property
    def variables(self) -> Mapping[str, ast.Name]:
        return flow.names_in(
            [b for s in self.model.statements for loop in s.loops for b in (loop.statement,)]
        )


def _calls(node: isl.AstNode) -> Iterator[isl.AstExpr]:
    """The statements' instances below a node."""
    kind = node.get_type()
    if kind == isl.ast_node_type.user:
        yield node.user_get_expr()
    elif kind == _FOR:
        yield from _calls(node.for_get_body())
    elif kind == _IF:
        yield from _calls(node.if_get_then_node())
        if node.if_has_else_node():
            yield from _calls(node.if_get_else_node())
    elif kind == isl.ast_node_type.block:
        children = node.block_get_children()
        for i in range(children.n_ast_node()):
            yield from _calls(children.get_at(i))


def _mentions(statement: Statement, name: str) -> bool:
    """Whether a statement uses a name for something else than a loop around it."""
    if any(loop.variable == name for loop in statement.loops):
        return False
    return name in flow.names_in(statement.body) or name in flow.declared_in(statement.body)


def _cast(value: ast.Expr, type: ast.CType) -> ast.Expr:
    if type.spelling == value.type.spelling or isinstance(value, ast.Literal):
        return value
    return ast.Cast(value, type, value.place)
