"""What the tree of `tools.c.ast` does not cover, and the one name under which each construct is refused."""

from __future__ import annotations

from clang.cindex import Cursor, CursorKind, TypeKind

UNSUPPORTED: dict[CursorKind | TypeKind | str, str] = {
    CursorKind.SWITCH_STMT: "switch statement that falls through with a range, a continue or a variable of two arms",
    CursorKind.GOTO_STMT: "goto",
    CursorKind.INDIRECT_GOTO_STMT: "goto",
    CursorKind.ASM_STMT: "inline assembly",
    CursorKind.MS_ASM_STMT: "inline assembly",
    CursorKind.StmtExpr: "statement expression",
    CursorKind.COMPOUND_LITERAL_EXPR: "compound literal of an array, or whose address is taken",
    CursorKind.GENERIC_SELECTION_EXPR: "_Generic",
    CursorKind.ADDR_LABEL_EXPR: "address of a label",
    TypeKind.COMPLEX: "complex number of integers",
    TypeKind.LONGDOUBLE: "long double",
    TypeKind.FLOAT128: "__float128",
    TypeKind.HALF: "half-precision number",
    TypeKind.INT128: "128-bit integer",
    TypeKind.UINT128: "128-bit integer",
    TypeKind.VECTOR: "vector type",
    TypeKind.EXTVECTOR: "vector type",
    TypeKind.ATOMIC: "atomic type",
    TypeKind.FUNCTIONPROTO: "function pointer",
    TypeKind.FUNCTIONNOPROTO: "function pointer",
    "unnamed": "struct type without a name",
    "array": "array type of variable size behind a typedef",
    "bit-field": "bit-field",
    "call": "call through a pointer",
    "depth": "expression nested too deeply",
    "designator": "range of designators in an initializer",
    "expression": "expression that is not standard C",
    "flexible": "flexible array member",
    "k&r": "definition without a prototype",
    "macro for": "for loop with missing parts in a macro",
    "own copy": "change of an array in a struct passed by value",
    "operator": "operator that is not standard C",
    "pointer field": "pointer inside a struct",
    "pointer to pointer": "pointer to a pointer",
    "pointer global": "global pointer",
    "result": "result that is no number",
    "sizeof": "sizeof of a variable-length array",
    "statement": "statement that is not standard C",
    "string": "string that ends at its NUL",
    "struct value": "struct passed by value",
    "type": "type that is not standard C",
    "union": "union",
    "variadic": "variable arguments",
    "void pointer": "pointer to void",
    "volatile": "volatile object",
}


class Unsupported(Exception):
    """A construct of the table; `cursor` shows where, None while only the type is known."""

    def __init__(self, key: CursorKind | TypeKind | str, cursor: Cursor | None = None) -> None:
        super().__init__(UNSUPPORTED[key])
        self.cursor = cursor
