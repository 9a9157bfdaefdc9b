"""What a piece of code reads and writes: its scalars above all, and whether it has effects elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from ...tools.c import ast
from .mathematics import is_library_function


def written(nodes: Iterable[ast.Expr | ast.Stmt]) -> set[str]:
    """Variables that the code assigns, steps, or takes the address of; those that it declares are not counted."""
    kept = list(nodes)
    return {name for node in kept for name in assigned(node)} - declared_in(kept).keys()


def assigned(root: ast.Expr | ast.Stmt) -> set[str]:
    """Variables that the code assigns, steps, or takes the address of, wherever they are declared."""
    names: set[str] = set()
    for node in ast.walk(root):
        names.update(changed_by(node))
        match node:
            case ast.Assign(target=ast.Member() as target) | ast.Step(target=ast.Member() as target):
                if (owner := _owner(target)) is not None:
                    names.add(owner)
    return names


def changed_by(node: ast.Expr | ast.Stmt) -> tuple[str, ...]:
    """The variable that a node itself assigns, steps, or takes the address of; none for any other node."""
    match node:
        case (
            ast.Assign(target=ast.Name(name=name))
            | ast.Step(target=ast.Name(name=name))
            | ast.Unary(op="&", operand=ast.Name(name=name))
        ):
            return (name,)
        case _:
            return ()


def calls_others(nodes: Iterable[ast.Expr | ast.Stmt]) -> bool:
    """Whether code calls anything but the C library's mathematics."""
    return any(
        isinstance(n, ast.Call) and not is_library_function(n.function)
        for root in nodes
        for n in ast.walk(root)
    )


def is_pure(expressions: Iterable[ast.Expr]) -> bool:
    """Whether expressions change nothing."""
    kept = list(expressions)
    steps = any(isinstance(n, ast.Assign | ast.Step) for e in kept for n in ast.walk(e))
    return not steps and not calls_others(kept)


def _owner(target: ast.Expr) -> str | None:
    """The struct variable that a member expression is part of; None where it is reached through memory."""
    while isinstance(target, ast.Member) and not target.arrow:
        target = target.base
    return target.name if isinstance(target, ast.Name) and target.type.kind == "struct" else None


def certain(expression: ast.Expr) -> list[ast.Expr]:
    """The parts of an expression that are evaluated whatever their values."""
    match expression:
        case ast.Binary(op="&&" | "||", left=left) | ast.Conditional(condition=left):
            return [expression, *certain(left)]
        case _:
            inner = (c for c in ast.children(expression) if isinstance(c, ast.Expr))
            return [expression, *(p for c in inner for p in certain(c))]


def names_in(nodes: Iterable[ast.Expr | ast.Stmt]) -> dict[str, ast.Name]:
    """The variables that the code mentions, in order of appearance; enumerators are not variables."""
    found: dict[str, ast.Name] = {}
    for node in (n for root in nodes for n in ast.walk(root)):
        if isinstance(node, ast.Name) and node.scope not in ("enum", "function"):
            found.setdefault(node.name, node)
    return found


def declared_in(nodes: Iterable[ast.Expr | ast.Stmt]) -> dict[str, ast.Variable]:
    """The variables that the code declares."""
    return {
        v.name: v
        for root in nodes
        for node in ast.walk(root)
        if isinstance(node, ast.Declare)
        for v in node.variables
    }


class Use:
    """What a run of statements does first with one variable.

    `exposed`: some path reads the variable before writing it. `assigned`: every path to the end writes it.
    """

    def __init__(self, name: str, statements: Iterable[ast.Stmt | ast.Expr], assigned: bool = False) -> None:
        self.name = name
        self.exposed = False
        self._breaks: list[list[bool]] = []
        self._continues: list[list[bool]] = []
        for statement in statements:
            assigned = self._visit(statement, assigned)
        self.assigned = assigned

    def _visit(self, node: ast.Stmt | ast.Expr, assigned: bool) -> bool:
        """Whether the variable is surely assigned after the node; unreachable code counts as assigned."""
        match node:
            case ast.Name(name=name):
                self.exposed |= name == self.name and not assigned
                return assigned
            case ast.Assign(op=op, target=ast.Name(name=name), value=value) if name == self.name:
                if op != "=":
                    self.exposed |= not assigned
                self._visit(value, assigned)
                return True
            case ast.Declare(variables=variables):
                for v in variables:
                    if v.init is not None:
                        assigned = self._visit(v.init, assigned)
                    assigned |= v.name == self.name
                return assigned
            case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
                assigned = self._visit(condition, assigned)
                return bool(self._visit(then, assigned) & self._visit(otherwise, assigned))
            case ast.Binary(op="&&" | "||", left=left, right=right):
                assigned = self._visit(left, assigned)
                self._visit(right, assigned)
                return assigned
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                assigned = self._visit(condition, assigned)
                after = self._visit(then, assigned)
                return after & (assigned if otherwise is None else self._visit(otherwise, assigned))
            case ast.For(init=init, condition=condition, step=step, body=body):
                if init is not None:
                    assigned = self._visit(init, assigned)
                if condition is not None:
                    assigned = self._visit(condition, assigned)
                leaves = [] if condition is None else [assigned]
                end, breaks, continues = self._body(body, assigned)
                if step is not None:
                    self._visit(step, all((end, *continues)))
                return all((*leaves, *breaks))
            case ast.While(condition=condition, body=body, test_after=False):
                assigned = self._visit(condition, assigned)
                _, breaks, _ = self._body(body, assigned)
                return all((assigned, *breaks))
            case ast.While(condition=condition, body=body):
                end, breaks, continues = self._body(body, assigned)
                after = self._visit(condition, all((end, *continues)))
                return all((after, *breaks))
            case ast.Return(value=value):
                if value is not None:
                    self._visit(value, assigned)
                return True
            case ast.Jump(kind=kind):
                stack = self._breaks if kind == "break" else self._continues
                if stack:
                    stack[-1].append(assigned)
                return True
            case _:
                for child in ast.children(node):
                    assigned = self._visit(child, assigned)
                return assigned

    def _body(self, body: ast.Stmt, assigned: bool) -> tuple[bool, list[bool], list[bool]]:
        """A loop's body: the state at its end, and at each break and continue."""
        self._breaks.append([])
        self._continues.append([])
        end = self._visit(body, assigned)
        return end, self._breaks.pop(), self._continues.pop()
