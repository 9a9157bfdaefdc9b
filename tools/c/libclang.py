"""The functions of libclang that its Python wrapper leaves out."""

from __future__ import annotations

import ctypes
import functools
from typing import Literal as OneOf

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind

# In the order of libclang's enums CXBinaryOperatorKind and CXUnaryOperatorKind; None: no operator of C.
_BINARY = (
    *(None, None, None),
    *("*", "/", "%", "+", "-", "<<", ">>", None, "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||"),
    *("=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", ","),
)
UnaryOperator = OneOf["++", "--", "&", "*", "+", "-", "~", "!", "real", "imag", "extension"]
_UNARY: tuple[UnaryOperator | None, ...] = (
    *(None, "++", "--", "++", "--", "&", "*", "+", "-", "~", "!"),
    *("real", "imag", "extension"),
)
_POSTFIX = (1, 2)


@functools.cache
def _library() -> ctypes.CDLL:
    """libclang, with the functions declared that its Python wrapper leaves out."""
    library = cindex.conf.lib
    for name, result, *arguments in (
        ("clang_getCursorBinaryOperatorKind", ctypes.c_int, Cursor),
        ("clang_getCursorUnaryOperatorKind", ctypes.c_int, Cursor),
        ("clang_Cursor_getVarDeclInitializer", Cursor, Cursor),
        ("clang_Cursor_Evaluate", ctypes.c_void_p, Cursor),
        ("clang_EvalResult_getKind", ctypes.c_int, ctypes.c_void_p),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint, ctypes.c_void_p),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, ctypes.c_void_p),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong, ctypes.c_void_p),
        ("clang_EvalResult_getAsDouble", ctypes.c_double, ctypes.c_void_p),
        ("clang_EvalResult_dispose", None, ctypes.c_void_p),
    ):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of a constant expression, or None."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        match library.clang_EvalResult_getKind(result):
            case 1 if library.clang_EvalResult_isUnsignedInt(result):
                return library.clang_EvalResult_getAsUnsigned(result)
            case 1:
                return library.clang_EvalResult_getAsLongLong(result)
            case 2:
                return library.clang_EvalResult_getAsDouble(result)
            case _:
                return None
    finally:
        library.clang_EvalResult_dispose(result)


def binary_operator(cursor: Cursor) -> str | None:
    """The operator of a binary expression, assignments included; None where it is not C's."""
    return _BINARY[_library().clang_getCursorBinaryOperatorKind(cursor)]


def unary_operator(cursor: Cursor) -> tuple[UnaryOperator | None, bool]:
    """The operator of a unary expression (None: not C's), and whether it comes before its operand."""
    kind = _library().clang_getCursorUnaryOperatorKind(cursor)
    return (_UNARY[kind] if kind < len(_UNARY) else None), kind not in _POSTFIX


def type_kind(of: cindex.Type) -> TypeKind:
    """The kind of a canonical type; INVALID for one that the wrapper does not know, such as _Float16."""
    try:
        return of.kind
    except ValueError:
        return TypeKind.INVALID


def initializer(cursor: Cursor) -> Cursor | None:
    """What a variable's declaration sets it to."""
    if cursor.kind is not CursorKind.VAR_DECL:
        return None
    init = _library().clang_Cursor_getVarDeclInitializer(cursor)
    if init.kind is CursorKind.INVALID_FILE or init.kind.is_invalid():
        return None
    init._tu = cursor._tu
    return init
