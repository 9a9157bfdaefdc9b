"""Builds pieces of syntax tree at one place of the source."""

from __future__ import annotations

from dataclasses import dataclass

from ...tools.c import ast
from .tree import INT

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!=", "&&", "||"))


@dataclass(frozen=True)
class At:
    """Makes nodes that carry the place of what they stand for. Operators take the type of their left operand."""

    place: ast.Place

    def name(self, name: str, type: ast.CType = INT) -> ast.Name:
        return ast.Name(name, "local", type, self.place)

    def number(self, value: int) -> ast.Literal:
        return ast.Literal(value, str(value), INT, self.place)

    def binary(self, op: str, left: ast.Expr, right: ast.Expr) -> ast.Expr:
        """The operation; adding 0 and multiplying by 1 are left out."""
        neutral = {"+": 0, "-": 0, "*": 1}.get(op)
        if isinstance(right, ast.Literal) and right.value == neutral:
            return left
        if op in "+*" and isinstance(left, ast.Literal) and left.value == neutral:
            return right
        if op == "*" and isinstance(left, ast.Literal) and left.value == 0:
            return left
        return ast.Binary(op, left, right, INT if op in _COMPARISONS else left.type, self.place)

    def evaluate(self, expression: ast.Expr) -> ast.Evaluate:
        return ast.Evaluate(expression, self.place)

    def set(self, target: ast.Expr, value: ast.Expr, op: str = "=") -> ast.Evaluate:
        return self.evaluate(ast.Assign(op, target, value, target.type, self.place))

    def declare(self, variable: ast.Name, value: ast.Expr | None = None) -> ast.Declare:
        return ast.Declare((ast.Variable(variable.name, variable.type, self.place, value),), self.place)

    def block(self, *statements: ast.Stmt) -> ast.Block:
        return ast.Block(statements, self.place)

    def when(self, condition: ast.Expr, *statements: ast.Stmt) -> ast.If:
        return ast.If(condition, self.block(*statements), None, self.place)

    def count(self, variable: ast.Name, bound: ast.Expr, *body: ast.Stmt, first: int = 0) -> ast.For:
        """``for (variable = first; variable < bound; variable++)`` with a variable of its own."""
        return ast.For(
            init=self.declare(variable, self.number(first)),
            condition=self.binary("<", variable, bound),
            step=ast.Step("++", False, variable, variable.type, self.place),
            body=self.block(*body),
            place=self.place,
        )
