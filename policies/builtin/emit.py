"""Prints syntax trees as CUDA C++ that computes what the C did.

C++ reads C's expressions alike but for a few: calls of overloaded math functions on floats, implicit conversions to
enums and from ``void *``, and narrowing inside braces. Those get the cast that C made silently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...tools.c import ast
from ...tools.c.ast import CType, declare
from .mathematics import parameters_of

INDENT = "    "

_PRECEDENCE = {
    op: level
    for level, ops in enumerate(
        (",", "= ?", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"), start=1
    )
    for op in ops.split()
}
# How tightly an expression must bind to stand without parentheses.
COMMA, ASSIGNMENT, CONDITIONAL = 1, 2, 2
RELATIONAL, ADDITIVE = _PRECEDENCE["<"], _PRECEDENCE["+"]
UNARY, POSTFIX, PRIMARY = 13, 14, 15
# Compilers warn where these are mixed without parentheses, and people misread them.
_CLARIFIED = {
    "&&": ("||",),
    "<<": ("+", "-"),
    ">>": ("+", "-"),
    "&": ("+", "-"),
    "|": ("+", "-"),
    "^": ("+", "-"),
}

Override = Callable[[ast.Expr], str | None]


@dataclass(frozen=True)
class Callee:
    """A helper function: its name in the candidate, its parameters' types, and the globals that it takes besides."""

    name: str
    parameters: tuple[CType, ...]
    globals: tuple[str, ...]


class Printer:
    """`override` may spell an expression itself: it returns text that needs no parentheses, or None.

    `calls` are the helper functions; `result` is what the function being printed returns.
    """

    def __init__(
        self,
        override: Override | None = None,
        calls: Mapping[str, Callee] | None = None,
        result: CType | None = None,
    ) -> None:
        self.override = override or (lambda _: None)
        self.calls = calls or {}
        self.result = result

    # Expressions.

    def expression(self, expression: ast.Expr, level: int = COMMA) -> str:
        """The text, in parentheses where it binds looser than `level`."""
        text = self.override(expression)
        if text is not None:
            return text
        text, own = self._spelled(expression)
        return f"({text})" if own < level else text

    def _spelled(self, expression: ast.Expr) -> tuple[str, int]:
        match expression:
            case ast.Literal(text=text, value=value):
                return text, PRIMARY if value >= 0 and not text.startswith("-") else UNARY
            case ast.Name(name=name):
                return name, PRIMARY
            case ast.Subscript(base=base, index=index):
                return f"{self.expression(base, POSTFIX)}[{self.expression(index)}]", POSTFIX
            case ast.Member(base=base, field=field, arrow=arrow):
                return f"{self.expression(base, POSTFIX)}{'->' if arrow else '.'}{field}", POSTFIX
            case ast.Unary(op=op, operand=operand):
                inner = self.expression(operand, UNARY)
                return f"{op}({inner})" if inner.startswith(op) else f"{op}{inner}", UNARY
            case ast.Binary(op=op, left=left, right=right):
                level = _PRECEDENCE[op]
                return f"{self._operand(left, op, level)} {op} {self._operand(right, op, level + 1)}", level
            case ast.Assign(op=op, target=target, value=value):
                converted = (
                    self.converted(value, target.type) if op == "=" else self.expression(value, ASSIGNMENT)
                )
                if op != "=" and target.type.kind == "enum":
                    both = ast.Binary(op[:-1], target, value, value.type, expression.place)
                    op, converted = "=", self.converted(both, target.type)
                return f"{self.expression(target, UNARY)} {op} {converted}", ASSIGNMENT
            case ast.Step(op=op, prefix=True, target=target):
                return f"{op}{self.expression(target, UNARY)}", UNARY
            case ast.Step(op=op, target=target):
                return f"{self.expression(target, POSTFIX)}{op}", POSTFIX
            case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
                first = self.expression(condition, CONDITIONAL + 1)
                return (
                    f"{first} ? {self.expression(then)} : {self.expression(otherwise, ASSIGNMENT)}",
                    CONDITIONAL,
                )
            case ast.Cast(operand=ast.InitList(items=items), type=type):
                return f"{type.spelling.removeprefix('struct ')}{self._braces(items, type)}", POSTFIX
            case ast.Cast(operand=operand, type=type):
                return f"({declare(type)}){self.expression(operand, UNARY)}", UNARY
            case ast.Call():
                return self._call(expression), POSTFIX
            case ast.InitList(items=items, type=type):
                return self._braces(items, type), PRIMARY

    def _operand(self, operand: ast.Expr, op: str, level: int) -> str:
        mixed = isinstance(operand, ast.Binary) and operand.op in _CLARIFIED.get(op, ())
        if op == "||" and isinstance(operand, ast.Binary) and operand.op == "&&":
            mixed = True
        return self.expression(operand, PRIMARY if mixed else level)

    def converted(self, value: ast.Expr, target: CType) -> str:
        """The value as an assignment to `target` needs it in C++."""
        source = value.type
        silent = target.kind == "enum" and source.spelling != target.spelling
        if target.kind == "pointer" and source.element is not None and target.element is not None:
            void = source.element.kind == "void" and target.element.kind != "void"
            silent = void or (source.element.const and not target.element.const)
        if silent:
            return f"({declare(target)}){self.expression(value, UNARY)}"
        return self.expression(value, ASSIGNMENT)

    def _call(self, call: ast.Call) -> str:
        helper = self.calls.get(call.function)
        if helper is not None:
            given = zip(call.arguments, helper.parameters, strict=True)
            arguments = [*(self.converted(a, type) for a, type in given), *helper.globals]
            return f"{helper.name}({', '.join(arguments)})"
        arguments = [self.expression(a, ASSIGNMENT) for a in call.arguments]
        for i, wanted in enumerate(parameters_of(call.function)):
            if call.arguments[i].type.spelling != wanted:
                arguments[i] = f"({wanted}){self.expression(call.arguments[i], UNARY)}"
        return f"{call.function}({', '.join(arguments)})"

    def _braces(self, items: Iterable[ast.Expr], type: CType) -> str:
        types = [type.element] if type.kind == "array" else [f.type for f in type.fields]
        spelled = []
        for i, item in enumerate(items):
            target = types[min(i, len(types) - 1)]
            assert target is not None
            exact = isinstance(item, ast.InitList) or item.type.spelling == target.spelling
            spelled.append(
                self.expression(item, ASSIGNMENT)
                if exact or not target.scalar
                else f"({target.spelling}){self.expression(item, UNARY)}"
            )
        return "{" + ", ".join(spelled) + "}"

    # Statements.

    def statements(self, statements: Iterable[ast.Stmt], depth: int) -> list[str]:
        return [line for s in statements for line in self.statement(s, depth)]

    def statement(self, statement: ast.Stmt, depth: int) -> list[str]:
        """Lines of text, indented by `depth` steps."""
        pad = INDENT * depth
        match statement:
            case ast.Block(body=body):
                return [f"{pad}{{", *self.statements(body, depth + 1), f"{pad}}}"]
            case ast.Declare(variables=variables):
                return [f"{pad}{text};" for text in self.declarations(variables)]
            case ast.Evaluate(expression=expression):
                return [f"{pad}{self.expression(expression)};"]
            case ast.If(condition=condition, then=then, otherwise=otherwise):
                dangling = otherwise is not None and isinstance(then, ast.If)
                body = ast.Block((then,), then.place) if dangling else then
                lines = self.headed(f"{pad}if ({self.expression(condition)})", body, depth)
                if otherwise is None:
                    return lines
                head = f"{lines.pop()} else" if lines[-1] == f"{pad}}}" else f"{pad}else"
                if isinstance(otherwise, ast.If):
                    first, *rest = self.statement(otherwise, depth)
                    return [*lines, f"{head} {first.lstrip()}", *rest]
                return [*lines, *self.headed(head, otherwise, depth)]
            case ast.For(init=init, condition=condition, step=step, body=body):
                parts = (
                    self._for_init(init),
                    "" if condition is None else f" {self.expression(condition)}",
                    "" if step is None else f" {self.expression(step)}",
                )
                return self.headed(f"{pad}for ({';'.join(parts)})", body, depth)
            case ast.While(condition=condition, body=body, test_after=False):
                return self.headed(f"{pad}while ({self.expression(condition)})", body, depth)
            case ast.While(condition=condition, body=body):
                block = body if isinstance(body, ast.Block) else ast.Block((body,), body.place)
                lines = self.headed(f"{pad}do", block, depth)
                return [*lines[:-1], f"{lines[-1]} while ({self.expression(condition)});"]
            case ast.Return(value=value):
                if value is None:
                    return [f"{pad}return;"]
                text = self.expression(value) if self.result is None else self.converted(value, self.result)
                return [f"{pad}return {text};"]
            case ast.Jump(kind=kind):
                return [f"{pad}{kind};"]

    def headed(self, head: str, body: ast.Stmt, depth: int) -> list[str]:
        """A statement's head and its body: braces stay on the head's line."""
        if isinstance(body, ast.Block):
            if not body.body:
                return [f"{head} {{", f"{INDENT * depth}}}"]
            return [f"{head} {{", *self.statements(body.body, depth + 1), f"{INDENT * depth}}}"]
        return [head, *self.statement(body, depth + 1)]

    def declarations(self, variables: tuple[ast.Variable, ...]) -> list[str]:
        """Declarations without semicolons; scalars of one type share theirs."""
        if variables and all(v.type.scalar and v.type == variables[0].type for v in variables):
            head = f"{'const ' if variables[0].type.const else ''}{variables[0].type.spelling}"
            return [f"{head} {', '.join(v.name + self._initialized(v) for v in variables)}"]
        return [declare(v.type, v.name) + self._initialized(v) for v in variables]

    def _initialized(self, variable: ast.Variable) -> str:
        if variable.init is None:
            return ""
        return f" = {self.converted(variable.init, variable.type)}"

    def _for_init(self, init: ast.Stmt | None) -> str:
        match init:
            case ast.Declare(variables=variables):
                return ", ".join(self.declarations(variables))
            case ast.Evaluate(expression=expression):
                return self.expression(expression)
            case _:
                return ""


def folded(line: str, width: int = 110) -> str:
    """A line broken after operators and commas, outside of as many parentheses as can be, until it fits."""
    if len(line) <= width or line.lstrip().startswith(("//", "#")):
        return line
    indent = len(line) - len(line.lstrip())
    best, depth = None, 0
    for i, c in enumerate(line[: width + 1]):
        depth += (c in "([{") - (c in ")]}")
        if c == " " and i > indent + 2 * len(INDENT) and line[i - 1] in ",+-*/%&|^?:<>=":
            best = min(best or (depth, -i), (depth, -i))
    if best is None:
        return line
    at = -best[1]
    return f"{line[:at]}\n{folded(' ' * (indent + 2 * len(INDENT)) + line[at + 1 :], width)}"
