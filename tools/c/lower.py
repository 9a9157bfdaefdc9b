"""Lowers libclang's cursors to the tree of `tools.c.ast`."""

from __future__ import annotations

import contextlib
import math
import re
import struct

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind

from . import ast, complexes, punning
from .ast import CType, Place
from .declarations import TypeLowering, pointer_to
from .initializers import initialized
from .libclang import binary_operator, evaluate, type_kind, unary_operator
from .standard import CHARACTERS
from .switch import Irregular, lowered_switch
from .unsupported import UNSUPPORTED, Unsupported

_LITERALS = (CursorKind.INTEGER_LITERAL, CursorKind.FLOATING_LITERAL, CursorKind.CHARACTER_LITERAL)
_STREAMS = ("stdout", "stderr")
_LITERAL = re.compile(rb"(?:0[xX][\w.]*(?:[pP][+-]?\w+)?|[\d.](?:[eE][+-]|[\w.])*|'(?:\\.|[^'\\])+')$")


def lower(translation: cindex.TranslationUnit, path: str, source: str) -> ast.Unit:
    """Lowers the definitions of the file `path`, whose text is `source`, and of the user's headers."""
    return _Lowering(path, source).unit(translation.cursor)


class _Lowering(TypeLowering):
    """Lowers one translation unit. The cursors of libclang are walked once, top down."""

    def unit(self, root: Cursor) -> ast.Unit:
        for cursor in root.get_children():
            if cursor.location.file is None or cursor.location.is_in_system_header:
                continue
            try:
                self.top_level(cursor)
            except Unsupported as problem:
                place = self.place(problem.cursor or cursor)
                self.result.unsupported[cursor.spelling] = (str(problem), place)
            except RecursionError:
                self.result.unsupported[cursor.spelling] = (UNSUPPORTED["depth"], self.place(cursor))
        return self.result

    def top_level(self, cursor: Cursor) -> None:
        match cursor.kind:
            case CursorKind.FUNCTION_DECL if cursor.is_definition():
                called = (c.spelling for c in cursor.walk_preorder() if c.kind is CursorKind.CALL_EXPR)
                self.result.calls[cursor.spelling] = tuple(dict.fromkeys(name for name in called if name))
                self.result.functions[cursor.spelling] = self.function(cursor)
            case CursorKind.VAR_DECL:
                known = self.result.globals.get(cursor.spelling)
                variable = self.variable(cursor)
                if known is None or variable.init is not None:
                    self.result.globals[cursor.spelling] = variable
            case CursorKind.ENUM_DECL if cursor.is_definition():
                name = "" if cursor.is_anonymous() else cursor.spelling
                values = tuple((c.spelling, c.enum_value) for c in cursor.get_children())
                self.result.enums[name] = self.result.enums.get(name, ()) + values
            case CursorKind.TYPEDEF_DECL:
                # A type outside the tree is refused where it is used.
                with contextlib.suppress(Unsupported):
                    self.result.typedefs[cursor.spelling] = self.type(cursor.underlying_typedef_type)

    def function(self, cursor: Cursor) -> ast.Function:
        if cursor.type.kind is TypeKind.FUNCTIONPROTO and cursor.type.is_function_variadic():
            raise Unsupported("variadic")
        body = next(c for c in cursor.get_children() if c.kind is CursorKind.COMPOUND_STMT)
        if self.text(cursor)[: body.extent.start.offset - cursor.extent.start.offset].rstrip().endswith(b";"):
            raise Unsupported("k&r")
        result = self.type(cursor.result_type)
        parameters = tuple(self.variable(c) for c in cursor.get_arguments())
        return ast.Function(
            name=cursor.spelling,
            result=result,
            parameters=parameters,
            body=self.block(body),
            place=self.place(cursor),
            start=cursor.extent.start.offset,
            end=cursor.extent.end.offset,
            body_start=body.extent.start.offset,
            static=cursor.storage_class is cindex.StorageClass.STATIC,
        )

    # Statements.

    def block(self, cursor: Cursor) -> ast.Block:
        return ast.Block(tuple(self.statement(c) for c in cursor.get_children()), self.place(cursor))

    def statement(self, cursor: Cursor) -> ast.Stmt:
        place = self.place(cursor)
        children = list(cursor.get_children())
        match cursor.kind:
            case CursorKind.COMPOUND_STMT:
                return self.block(cursor)
            case CursorKind.DECL_STMT:
                variables = tuple(self.variable(c) for c in children if c.kind is CursorKind.VAR_DECL)
                return ast.Declare(variables, place)
            case CursorKind.IF_STMT:
                otherwise = self.statement(children[2]) if len(children) > 2 else None
                return ast.If(self.expression(children[0]), self.statement(children[1]), otherwise, place)
            case CursorKind.FOR_STMT:
                init, condition, step, body = self.for_parts(cursor, children)
                return ast.For(
                    self.statement(init) if init else None,
                    self.expression(condition) if condition else None,
                    self.expression(step) if step else None,
                    self.statement(body),
                    place,
                )
            case CursorKind.WHILE_STMT:
                return ast.While(self.expression(children[0]), self.statement(children[1]), False, place)
            case CursorKind.DO_STMT:
                return ast.While(self.expression(children[1]), self.statement(children[0]), True, place)
            case CursorKind.SWITCH_STMT:
                try:
                    return lowered_switch(cursor, self.statement, self.expression, place)
                except Irregular:
                    raise Unsupported(cursor.kind, cursor) from None
            case CursorKind.RETURN_STMT:
                return ast.Return(self.expression(children[0]) if children else None, place)
            case CursorKind.BREAK_STMT:
                return ast.Jump("break", place)
            case CursorKind.CONTINUE_STMT:
                return ast.Jump("continue", place)
            case CursorKind.NULL_STMT:
                return ast.Block((), place)
            case CursorKind.LABEL_STMT:
                # Nothing jumps to it: a goto is refused wherever it stands.
                return self.statement(children[0])
            case kind if kind.is_expression():
                return ast.Evaluate(self.expression(cursor), place)
            case kind:
                raise Unsupported(kind if kind in UNSUPPORTED else "statement", cursor)

    def for_parts(self, cursor: Cursor, children: list[Cursor]) -> tuple[Cursor | None, ...]:
        """Which of a for's parts its children are: libclang leaves out the missing ones."""
        *head, body = children
        if len(head) == 3:
            return (*head, body)
        tokens = list(cursor.get_tokens())
        if not tokens or tokens[0].spelling != "for":
            raise Unsupported("macro for", cursor)
        # A part is named by the token that it starts with.
        parts: list[Cursor | None] = [None, None, None]
        depth = semicolons = 0
        remaining = iter(head)
        expected = next(remaining, None)
        for token in tokens[1:]:
            depth += (token.spelling in ("(", "[", "{")) - (token.spelling in (")", "]", "}"))
            if depth == 0:
                break
            if token.spelling == ";" and depth == 1:
                semicolons += 1
            elif expected is not None and token.extent.start.offset == expected.extent.start.offset:
                parts[semicolons] = expected
                expected = next(remaining, None)
        if expected is not None:
            raise Unsupported("macro for", cursor)
        return (*parts, body)

    # Expressions.

    def expression(self, cursor: Cursor) -> ast.Expr:
        kind = cursor.kind
        place = self.place(cursor)
        if kind in _LITERALS:
            return self.literal(cursor, place)
        children = list(cursor.get_children())
        match kind:
            case CursorKind.PAREN_EXPR:
                return self.expression(children[0])
            case CursorKind.UNEXPOSED_EXPR:
                if len(children) != 1:
                    raise Unsupported("expression", cursor)
                inner = self.expression(children[0])
                if TypeKind.COMPLEX in (kind_of(cursor), kind_of(children[0])):
                    return complexes.converted(inner, self.type_of(cursor))
                return inner
            case CursorKind.IMAGINARY_LITERAL:
                target = self.type_of(cursor)
                zero = ast.Literal(0, "0", target.fields[0].type, place)
                return complexes.made(zero, self.expression(children[0]), target, place)
            case CursorKind.DECL_REF_EXPR:
                return self.name(cursor, place)
            case CursorKind.BINARY_OPERATOR | CursorKind.COMPOUND_ASSIGNMENT_OPERATOR:
                return self.binary(cursor, children, place)
            case CursorKind.UNARY_OPERATOR:
                return self.unary(cursor, children[0], place)
            case CursorKind.CONDITIONAL_OPERATOR:
                condition, then, otherwise = (self.expression(c) for c in children)
                return ast.Conditional(condition, then, otherwise, self.type_of(cursor), place)
            case CursorKind.ARRAY_SUBSCRIPT_EXPR:
                base, index = (self.expression(c) for c in children)
                if base.type.element is None:
                    base, index = index, base
                assert base.type.element is not None
                return ast.Subscript(base, index, base.type.element, place)
            case CursorKind.MEMBER_REF_EXPR:
                base = self.expression(children[0])
                arrow = base.type.element is not None
                return ast.Member(base, cursor.spelling, arrow, self.type_of(cursor), place)
            case CursorKind.CSTYLE_CAST_EXPR:
                *sizes, operand = (c for c in children if c.kind.is_expression())
                target = self.type_of(cursor, tuple(reversed(sizes)))
                if TypeKind.COMPLEX in (kind_of(cursor), kind_of(operand)):
                    return complexes.converted(self.expression(operand), target)
                return ast.Cast(self.expression(operand), target, place)
            case CursorKind.STRING_LITERAL:
                return _address(cursor.spelling, CType("int", "char", 1, const=True), place)
            case CursorKind.CALL_EXPR:
                return self.call(cursor, place)
            case CursorKind.CXX_UNARY_EXPR:
                value = evaluate(cursor)
                if value is None:
                    raise Unsupported("sizeof", cursor)
                return ast.Literal(value, str(value), self.type_of(cursor), place)
            case CursorKind.INIT_LIST_EXPR:
                return initialized(self.type_of(cursor), children, self.expression, place)
            case CursorKind.COMPOUND_LITERAL_EXPR:
                target = self.type_of(cursor)
                if target.kind != "struct" or target.unnamed:
                    raise Unsupported(kind, cursor)
                return ast.Cast(self.expression(children[-1]), target, place)
            case _:
                raise Unsupported(kind if kind in UNSUPPORTED else "expression", cursor)

    def literal(self, cursor: Cursor, place: Place) -> ast.Literal:
        value = evaluate(cursor)
        if value is None:
            raise Unsupported("expression", cursor)
        lowered = self.type_of(cursor)
        written = self.text(cursor)
        # A macro's use also matches the pattern when its argument is a literal, but never as a whole.
        text = written.decode() if _LITERAL.fullmatch(written) else literal_text(value, lowered)
        return ast.Literal(value, text, lowered, place)

    def name(self, cursor: Cursor, place: Place) -> ast.Name | ast.Literal:
        target = cursor.referenced
        match target.kind:
            case CursorKind.VAR_DECL if target.spelling in _STREAMS and target.location.is_in_system_header:
                return _address(target.spelling, CType("void", "void"), place)
            case CursorKind.PARM_DECL:
                return ast.Name(cursor.spelling, "param", self.declared[target.hash], place)
            case CursorKind.ENUM_CONSTANT_DECL:
                return ast.Name(cursor.spelling, "enum", self.type_of(cursor), place, target.enum_value)
            case CursorKind.VAR_DECL if target.semantic_parent.kind is CursorKind.TRANSLATION_UNIT:
                lowered, value = self.type_of(cursor), evaluate(cursor)
                if lowered.const and lowered.kind == "int" and isinstance(value, int):
                    return ast.Literal(value, literal_text(value, lowered), lowered, place)
                return ast.Name(cursor.spelling, "global", self.type_of(cursor), place)
            case CursorKind.VAR_DECL:
                return ast.Name(cursor.spelling, "local", self.declared[target.hash], place)
            case CursorKind.FUNCTION_DECL:
                raise Unsupported(TypeKind.FUNCTIONPROTO, cursor)
            case _:
                raise Unsupported("expression", cursor)

    def binary(self, cursor: Cursor, operands: list[Cursor], place: Place) -> ast.Expr:
        op = binary_operator(cursor)
        if op is None:
            raise Unsupported("operator", cursor)
        left, right = (self.expression(c) for c in operands)
        if op != "," and (complexes.is_complex(left.type) or complexes.is_complex(right.type)):
            return self.complex_binary(op, left, right, cursor, place)
        if op.endswith("=") and op not in ("==", "!=", "<=", ">="):
            if isinstance(left, ast.Cast | ast.Call):
                written = punning.written(op, left, right, place)
                if written is None:
                    raise Unsupported("operator", cursor)
                return written
            return ast.Assign(op, left, right, left.type, place)
        pointer = next((x.type for x in (left, right) if x.type.element is not None), None)
        if pointer is not None and op in ("+", "-") and cursor.type.get_canonical().kind is TypeKind.POINTER:
            return ast.Binary(op, left, right, pointer_to(pointer.element), place)
        return ast.Binary(op, left, right, self.type_of(cursor), place)

    def complex_binary(
        self, op: str, left: ast.Expr, right: ast.Expr, cursor: Cursor, place: Place
    ) -> ast.Expr:
        assigns = op.endswith("=") and op not in ("==", "!=")
        if op == "=":
            return ast.Assign(op, left, right, left.type, place)
        value = complexes.binary(op.removesuffix("=") if assigns else op, left, right, place)
        # A compound assignment becomes a plain one, which evaluates its target twice.
        twice = assigns and any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(left))
        if value is None or twice:
            raise Unsupported("operator", cursor)
        return (
            ast.Assign("=", left, complexes.converted(value, left.type), left.type, place)
            if assigns
            else value
        )

    def unary(self, cursor: Cursor, operand: Cursor, place: Place) -> ast.Expr:
        op, prefix = unary_operator(cursor)
        if op is None:
            raise Unsupported("operator", cursor)
        target = self.expression(operand)
        if op == "extension":
            return target
        if complexes.is_complex(target.type) and op not in ("&", "*"):
            value = complexes.unary(op, target, place)
            if value is None:
                raise Unsupported("operator", cursor)
            return value
        if op == "real" or op == "imag":  # noqa: PLR1714
            raise Unsupported("operator", cursor)
        if op == "++" or op == "--":  # noqa: PLR1714
            return ast.Step(op, prefix, target, target.type, place)
        if op == "&":
            if isinstance(target, ast.Cast):
                raise Unsupported(CursorKind.COMPOUND_LITERAL_EXPR, cursor)
            return ast.Unary(op, target, pointer_to(target.type), place)
        if op == "*" and (bits := punning.read(target, place)) is not None:
            return bits
        if op == "*" and target.type.element is not None:
            return ast.Unary(op, target, target.type.element, place)
        return ast.Unary(op, target, self.type_of(cursor), place)

    def call(self, cursor: Cursor, place: Place) -> ast.Expr:
        target = cursor.referenced
        if target is None or target.kind is not CursorKind.FUNCTION_DECL:
            raise Unsupported("call", cursor)
        lowered = self.type_of(cursor)
        # INFINITY and NAN are macros over builtins.
        if target.spelling.startswith("__builtin_") and isinstance(value := evaluate(cursor), float):
            return ast.Literal(value, literal_text(value, lowered), lowered, place)
        arguments = tuple(self.expression(c) for c in cursor.get_arguments())
        name = target.spelling.removeprefix("__builtin_")
        if name == "memcpy" and (copied := punning.copied(arguments, place)) is not None:
            return copied
        if target.get_definition() is not None:
            return ast.Call(name, arguments, lowered, place)
        if name == "complex":
            real, imaginary = arguments
            return complexes.made(real, imaginary, lowered, place)
        if name in complexes.FUNCTIONS:
            return complexes.call(name, arguments, place)
        return ast.Call(f"c_{name}" if name in CHARACTERS else name, arguments, lowered, place)


def kind_of(cursor: Cursor) -> TypeKind:
    return type_kind(cursor.type.get_canonical())


def _address(text: str, element: CType, place: Place) -> ast.Literal:
    """A constant address, of which only its spelling is known."""
    return ast.Literal(1, text, pointer_to(element), place)


def literal_text(value: int | float, type: CType) -> str:
    """The shortest spelling of a constant that C reads back as the same value and type."""
    if isinstance(value, int):
        unsigned = "" if type.signed else "u"
        return f"{value}{unsigned}{'l' * type.spelling.count('long')}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    single = type.spelling == "float"
    text = repr(value)
    if single:
        spellings = (f"{value:.{digits}g}" for digits in range(1, 10))
        text = next((s for s in spellings if struct.pack("f", float(s)) == struct.pack("f", value)), text)
    if not any(mark in text for mark in ".e"):
        text += ".0"
    return text + "f" * single
