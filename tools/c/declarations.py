"""Lowers libclang's types and declarations to those of `tools.c.ast`."""

from __future__ import annotations

import ctypes
import dataclasses
from pathlib import Path
from typing import Literal as OneOf

from clang import cindex
from clang.cindex import Cursor, CursorKind, TypeKind

from . import ast, complexes
from .ast import CType, Place
from .libclang import initializer, type_kind
from .unsupported import UNSUPPORTED, Unsupported

_SCALARS: dict[TypeKind, OneOf["void", "bool", "int", "float"]] = {
    TypeKind.VOID: "void",
    TypeKind.BOOL: "bool",
    TypeKind.FLOAT: "float",
    TypeKind.DOUBLE: "float",
    **dict.fromkeys((TypeKind.CHAR_U, TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR), "int"),
    **dict.fromkeys((TypeKind.SHORT, TypeKind.USHORT, TypeKind.INT, TypeKind.UINT), "int"),
    **dict.fromkeys((TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG), "int"),
}
_UNSIGNED = (
    TypeKind.BOOL,
    TypeKind.CHAR_U,
    TypeKind.UCHAR,
    TypeKind.USHORT,
    TypeKind.UINT,
    TypeKind.ULONG,
    TypeKind.ULONGLONG,
)
_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)


class TypeLowering:
    """Lowers the types and variables of one translation unit into `result`."""

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.texts: dict[str, bytes] = {path: source.encode()}
        self.open_structs: set[str] = set()
        self.declared: dict[int, CType] = {}
        self.result = ast.Unit(path, {}, {}, {}, {})

    def place(self, cursor: Cursor) -> Place:
        at = cursor.location
        return Place(at.file.name if at.file else self.path, at.line, at.column)

    def text(self, cursor: Cursor) -> bytes:
        """The source text of a cursor; for one that a macro made, the macro's use."""
        start, end = cursor.extent.start, cursor.extent.end
        if start.file is None:
            return b""
        name = start.file.name
        if name not in self.texts:
            self.texts[name] = Path(name).read_bytes()
        return self.texts[name][start.offset : end.offset]

    def type(self, clang_type: cindex.Type, sizes: tuple[Cursor, ...] = (), const: bool = False) -> CType:
        """Lowers a type. `sizes` are the cursors of its array lengths, outermost first."""
        canonical = clang_type.get_canonical()
        const |= canonical.is_const_qualified()
        kind = type_kind(canonical)
        if canonical.is_volatile_qualified():
            raise Unsupported("volatile")
        if kind in _SCALARS:
            size = max(canonical.get_size(), 0) or None
            spelling = canonical.spelling.removeprefix("const ").replace("_Bool", "bool")
            return CType(_SCALARS[kind], spelling, size, kind not in _UNSIGNED, const)
        match kind:
            case TypeKind.POINTER:
                return pointer_to(self.type(canonical.get_pointee(), sizes), const)
            case _ if kind in _ARRAYS:
                return self.array(canonical, sizes, const)
            case TypeKind.ENUM:
                signed = canonical.get_declaration().enum_type.get_canonical().kind not in _UNSIGNED
                return CType("enum", _unqualified(canonical), canonical.get_size(), signed, const)
            case TypeKind.RECORD:
                return self.struct(canonical, const)
            case TypeKind.COMPLEX:
                part = self.type(canonical.element_type)
                if part.kind != "float":
                    raise Unsupported(kind)
                plain = complexes.complex_of(part)
                self.result.structs[plain.spelling] = plain
                return dataclasses.replace(plain, const=const)
            case _:
                raise Unsupported(kind if kind in UNSUPPORTED else "type")

    def array(self, canonical: cindex.Type, sizes: tuple[Cursor, ...], const: bool) -> CType:
        length: int | ast.Expr | None = None
        if canonical.kind is TypeKind.CONSTANTARRAY:
            length = canonical.element_count
        elif canonical.kind is TypeKind.VARIABLEARRAY:
            if not sizes:
                raise Unsupported("array")
            length = self.expression(sizes[0])
        # libclang keeps the const of an array's elements at the array.
        element = self.type(canonical.element_type, sizes[1:], const)
        return array_of(element, length)

    def struct(self, canonical: cindex.Type, const: bool) -> CType:
        declaration = canonical.get_declaration()
        spelling = _unqualified(canonical)
        size = canonical.get_size() if canonical.get_size() > 0 else None
        if declaration.kind is CursorKind.UNION_DECL:
            raise Unsupported("union")
        opaque = declaration.location.is_in_system_header or size is None
        if opaque or spelling in self.open_structs:
            return CType("struct", spelling, size, const=const)
        self.open_structs.add(spelling)
        try:
            fields = tuple(self.field(c) for c in canonical.get_fields())
        finally:
            self.open_structs.discard(spelling)
        plain = CType("struct", spelling, size, fields=fields)
        self.result.structs[declaration.spelling] = plain
        return CType("struct", spelling, size, const=const, fields=fields)

    def field(self, cursor: Cursor) -> ast.Field:
        if cursor.is_bitfield():
            raise Unsupported("bit-field", cursor)
        try:
            lowered = self.type(cursor.type)
        except Unsupported:
            # A pointer that the tree has no type for takes its room, and is refused where it is used.
            if type_kind(cursor.type.get_canonical()) is not TypeKind.POINTER:
                raise
            lowered = pointer_to(CType("void", "void"))
        if lowered.kind == "array" and lowered.length is None:
            raise Unsupported("flexible", cursor)
        # libclang spells an anonymous member by its type and place.
        name = "" if "(" in cursor.spelling else cursor.spelling
        return ast.Field(name, lowered, cursor.get_field_offsetof() // 8)

    def variable(self, cursor: Cursor) -> ast.Variable:
        lowered = self.type_of(cursor, self.array_sizes(cursor))
        self.declared[cursor.hash] = lowered
        init = initializer(cursor)
        static = cursor.storage_class is cindex.StorageClass.STATIC
        value = self.expression(init) if init is not None else None
        return ast.Variable(cursor.spelling, lowered, self.place(cursor), value, static)

    def type_of(self, cursor: Cursor, sizes: tuple[Cursor, ...] = ()) -> CType:
        try:
            return self.type(cursor.type, sizes)
        except Unsupported as problem:
            problem.cursor = problem.cursor or cursor
            raise

    def array_sizes(self, cursor: Cursor) -> tuple[Cursor, ...]:
        """The lengths in an array's declaration, outermost first; empty where a typedef hides some."""
        dimensions = 0
        canonical = cursor.type.get_canonical()
        while (kind := type_kind(canonical)) in (TypeKind.POINTER, *_ARRAYS):
            dimensions += kind in (TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY)
            inner = canonical.get_pointee() if kind is TypeKind.POINTER else canonical.element_type
            canonical = inner.get_canonical()
        init = initializer(cursor)
        sizes = [c for c in cursor.get_children() if c.kind.is_expression() and not (init and c == init)]
        # libclang visits a declarator from the element outward.
        return tuple(reversed(sizes)) if len(sizes) == dimensions else ()

    def expression(self, cursor: Cursor) -> ast.Expr:
        raise NotImplementedError


def pointer_to(element: CType | None, const: bool = False) -> CType:
    pointer = CType("pointer", "", ctypes.sizeof(ctypes.c_void_p), False, const, element)
    return dataclasses.replace(pointer, spelling=ast.declare(dataclasses.replace(pointer, const=False)))


def array_of(element: CType, length: int | ast.Expr | None) -> CType:
    size = element.size * length if isinstance(length, int) and element.size is not None else None
    array = CType("array", "", size, length=length, element=element)
    return dataclasses.replace(array, spelling=ast.declare(array))


def _unqualified(canonical: cindex.Type) -> str:
    return canonical.spelling.removeprefix("const ")
