"""The original in higher precision: its own tokens rewritten, so that every floating type goes one step up.

`float` becomes `double` and `double` becomes `long double`: 64 bits of significand on x86-64, 113 on aarch64, and
unlike `__float128` a type that NumPy has. Constants keep the value that they have in the original, since a port
uses the same constants: ``0.1f`` becomes the double that a float nearest to 0.1 is. Arrays and structs widen with
their types, whole; the functions that the ported one does not need lose their bodies.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
from clang import cindex
from clang.cindex import CursorKind

from ..records import FunctionSpec, StructSpec, Task
from . import ast
from .calls import reached
from .library import MATH, PUNS
from .parse import parse, translate

_STEP = {"float": "double", "double": "long double"}
_DTYPES = {"float32": "float64", "float64": "longdouble"}
_COMPLEX = (
    *(
        "cabs",
        "cacos",
        "carg",
        "casin",
        "catan",
        "ccos",
        "ccosh",
        "cexp",
        "cimag",
        "clog",
        "conj",
        "cpow",
        "cproj",
    ),
    *("creal", "csin", "csinh", "csqrt", "ctan", "ctanh"),
)
_MATH = MATH | {"frexp", "modf", "remquo", "nexttoward", "sincos", *_COMPLEX}
_BYTES = frozenset(["memcpy", "memmove", "memset", "malloc", "calloc", "aligned_alloc"])
_TOKEN = re.compile(
    r"""
    (?P<skipped> //[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' )
  | (?P<include> ^[ \t]*\#[ \t]*include[ \t]*["<][^">\n]*[">] )
  | (?P<number> \.?\d(?:[eEpP][+-]|[\w.])* )
  | (?P<word> [A-Za-z_]\w* )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_TRAP = "{ __builtin_trap(); }"


@dataclass(frozen=True)
class Wide:
    """The rewritten source, and the types of the arrays (and the result) that changed, by parameter."""

    source: str
    dtypes: dict[str, str | np.dtype]


def in_higher_precision(task: Task) -> Wide | None:
    """The whole file's source in higher precision, to be compiled with the task's flags.

    None where the function looks at the bits of its numbers, counts its bytes by hand, or uses wider types already.
    """
    unit = parse(task.path, task.source, task.flags)
    needed = reached(unit, task.name)
    if any(_puns(unit.functions[name]) for name in needed):
        return None
    translation = translate(task.path, task.source, task.flags)
    files = _own_files(translation, task)
    if any(_counts_bytes(files, unit.functions[name]) for name in needed):
        return None
    kept = _kept_scalars(task.function, translation)
    if kept is None:
        return None
    rewriter = _Rewriter(files, translation, frozenset(needed), kept)
    defines = "".join(
        f"#undef {name}\n#define {name} {rewriter.rewritten(value)}\n" for name, value in _defines(task.flags)
    )
    source = rewriter.file(task.path)
    if defines:
        source = f'{defines}#line 1 "{task.path}"\n{source}'
    return Wide(source, _wide_dtypes(task.function, unit))


def _puns(function: ast.Function) -> bool:
    """Whether a pointer to numbers of one type is cast to a pointer to another."""
    for node in ast.walk(function.body):
        if isinstance(node, ast.Call) and node.function in PUNS:
            return True
        if isinstance(node, ast.Cast) and node.type.kind == "pointer":
            before, after = _number(node.operand.type), _number(node.type)
            if (
                before is not None
                and after is not None
                and before != after
                and "float" in (before[0], after[0])
            ):
                return True
    return False


def _number(type: ast.CType) -> tuple[str, int | None] | None:
    """The kind and size of the numbers that a pointer or array leads to."""
    if type.element is None:
        return None
    while type.element is not None:
        type = type.element
    return (type.kind, type.size) if type.scalar else None


def _counts_bytes(files: Mapping[str, str], function: ast.Function) -> bool:
    """Whether some call that takes bytes gets their number without sizeof."""
    text = files.get(function.place.file, "").encode()[function.start : function.end].decode()
    for call in re.finditer(rf"\b(?:{'|'.join(sorted(_BYTES))})\s*\(", text):
        depth, end = 1, call.end()
        while depth and end < len(text):
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        if "sizeof" not in text[call.end() : end]:
            return True
    return False


def _own_files(translation: cindex.TranslationUnit, task: Task) -> dict[str, str]:
    """The text of the file and of the user's own headers, by the path that libclang knows them under."""
    files = {task.path: task.source}
    for include in translation.get_includes():
        start = cindex.SourceLocation.from_offset(translation, include.include, 0)
        if not start.is_in_system_header:
            files[include.include.name] = Path(include.include.name).read_text(encoding="utf-8")
    return files


def _kept_scalars(
    function: FunctionSpec, translation: cindex.TranslationUnit
) -> dict[str, list[tuple[int, int]]] | None:
    """Where scalar globals are declared that keep their type, since a caller sets them: byte ranges by file.

    None where such a declaration holds a typedef or several variables.
    """
    names = {p.name for p in function.scalars if p.origin == "global" and p.dtype in _DTYPES and not p.fixed}
    kept: dict[str, list[tuple[int, int]]] = {}
    starts: set[tuple[str, int]] = set()
    for cursor in translation.cursor.get_children():
        if cursor.kind is not CursorKind.VAR_DECL or cursor.location.file is None:
            continue
        file, start, end = cursor.location.file.name, cursor.extent.start.offset, cursor.extent.end.offset
        shared = (file, start) in starts
        starts.add((file, start))
        if cursor.spelling in names:
            if shared or any(c.kind is CursorKind.TYPE_REF for c in cursor.get_children()):
                return None
            kept.setdefault(file, []).append((start, end))
    return kept


def _defines(flags: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Macros of the command line that a floating type or constant may hide in."""
    for previous, flag in zip(("", *flags), flags, strict=False):
        text = flag[2:] if flag.startswith("-D") else flag if previous == "-D" else ""
        name, _, value = text.partition("=")
        if re.search(r"\b(?:float|double)\b|\d\.|\.\d", value):
            yield name, value


class _Rewriter:
    """Rewrites the tokens of the user's own files; headers of the user's are put in the place of their include."""

    def __init__(
        self,
        files: Mapping[str, str],
        translation: cindex.TranslationUnit,
        needed: frozenset[str],
        kept: Mapping[str, list[tuple[int, int]]],
    ) -> None:
        self.files = files
        self.included = {(i.source.name, i.location.line): i.include.name for i in translation.get_includes()}
        self.kept = kept
        self.once: set[str] = set()
        self.declared: set[str] = set()
        self.bodies: dict[str, list[tuple[int, int]]] = {}
        for cursor in translation.cursor.get_children():
            if cursor.location.file is None or cursor.location.file.name not in files:
                continue
            self.declared |= {c.spelling for c in cursor.walk_preorder() if c.kind.is_declaration()}
            if (
                cursor.kind is CursorKind.FUNCTION_DECL
                and cursor.is_definition()
                and cursor.spelling not in needed
            ):
                body = next(c for c in cursor.get_children() if c.kind is CursorKind.COMPOUND_STMT)
                span = (body.extent.start.offset, body.extent.end.offset)
                self.bodies.setdefault(cursor.location.file.name, []).append(span)

    def file(self, name: str) -> str:
        """A file's text, rewritten."""
        if name in self.once:
            return ""
        source = self.files[name]
        if re.search(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", source, re.MULTILINE):
            self.once.add(name)
        text = source.encode()
        pieces = []
        done = 0
        edits = [(start, end, True) for start, end in self.bodies.get(name, ())]
        edits += [(start, end, False) for start, end in self.kept.get(name, ())]
        for start, end, dropped in sorted(edits):
            pieces.append(self.rewritten(text[done:start].decode(), name, text.count(b"\n", 0, done) + 1))
            own = text[start:end].decode()
            # A body made by a macro cannot be cut out of the text.
            pieces.append(_TRAP + "\n" * own.count("\n") if dropped and own.startswith("{") else own)
            done = end
        pieces.append(self.rewritten(text[done:].decode(), name, text.count(b"\n", 0, done) + 1))
        return "".join(pieces)

    def rewritten(self, text: str, file: str = "", line: int = 0) -> str:
        """A piece of text that starts in the given line of a file."""
        previous = ""

        def token(found: re.Match[str]) -> str:
            nonlocal previous
            before, previous = previous, found[0]
            if found["skipped"]:
                previous = before
                return found[0]
            if found["include"]:
                return self.include(found[0], file, line + text.count("\n", 0, found.start()))
            if found["number"]:
                return _number_text(found[0])
            if found[0] == "double" and before == "long":
                return "double"
            return _STEP.get(found[0]) or self.function_name(found[0])

        return _TOKEN.sub(token, text)

    def include(self, directive: str, file: str, line: int) -> str:
        """The rewritten text of an own header; the directive as it is for any other."""
        header = self.included.get((file, line))
        if header is None or header not in self.files:
            # libclang does not list what a second include of a file with #pragma once would bring.
            name = re.sub(r'.*["<]([^">]+)[">]', r"/\1", directive)
            return "" if any(f"/{seen}".endswith(name) for seen in self.once) else directive
        return f'#line 1 "{header}"\n{self.file(header)}\n#line {line} "{file}"'

    def function_name(self, word: str) -> str:
        """The next wider function of math.h."""
        if word in self.declared:
            return word
        if word.endswith("f") and word[:-1] in _MATH and word not in _MATH:
            return word[:-1]
        return f"{word}l" if word in _MATH else word


def _number_text(text: str) -> str:
    """A number of the next wider type with the same value; integers stay."""
    hexadecimal = text[:2].lower() == "0x"
    if not re.search(r"[.pP]" if hexadecimal else r"[.eE]", text) or text[-1] in "lL":
        return text
    single = text[-1] in "fF"
    digits = text.rstrip("fF") if single else text
    if hexadecimal:
        return digits if single else f"{digits}L"
    value = float(digits)
    if single:
        value = struct.unpack("f", struct.pack("f", value))[0]
    if Decimal(digits) == Decimal(value):
        return digits if single else f"{digits}L"
    return repr(value) if single else f"{value.hex()}L"


def _wide_dtypes(function: FunctionSpec, unit: ast.Unit) -> dict[str, str | np.dtype]:
    wide: dict[str, str | np.dtype] = {}
    for parameter in function.arrays:
        if parameter.dtype in _DTYPES:
            wide[parameter.name] = _DTYPES[parameter.dtype]
        for spec in function.structs:
            if spec.name == parameter.dtype and any(field.dtype in _DTYPES for field in spec.fields):
                wide[parameter.name] = _wide_struct(spec, unit.structs[spec.name])
    return wide


def _wide_struct(spec: StructSpec, struct: ast.CType) -> np.dtype:
    """The widened struct's layout, with inner structs' fields in their place as in `StructSpec`."""
    nested = _nested(struct)
    offsets = list(_offsets(struct, nested, 0))
    return np.dtype(
        {
            "names": [field.name for field in spec.fields],
            "formats": [
                (_DTYPES.get(field.dtype, field.dtype), (field.count,) if field.count > 1 else ())
                for field in spec.fields
            ],
            "offsets": offsets,
            "itemsize": nested.itemsize,
        }
    )


def _nested(type: ast.CType) -> np.dtype:
    """NumPy's type of a widened member; NumPy aligns fields as C does."""
    if type.kind == "array" and type.element is not None and isinstance(type.length, int):
        return np.dtype((_nested(type.element), (type.length,)))
    if type.kind == "struct":
        return np.dtype([(str(i), _nested(field.type)) for i, field in enumerate(type.fields)], align=True)
    if type.kind == "float":
        return np.dtype(_DTYPES[f"float{8 * (type.size or 0)}"])
    return np.dtype(f"{'i' if type.signed else 'u'}{type.size}")


def _offsets(struct: ast.CType, layout: np.dtype, start: int) -> Iterator[int]:
    for i, field in enumerate(struct.fields):
        fields = layout.fields
        assert fields is not None
        inner, offset = fields[str(i)][0], start + fields[str(i)][1]
        element = field.type.element
        if field.type.kind == "struct":
            yield from _offsets(field.type, inner, offset)
        elif element is not None and element.kind == "struct":
            for index in range(field.type.length if isinstance(field.type.length, int) else 0):
                yield from _offsets(element, inner.base, offset + index * inner.base.itemsize)
        else:
            yield offset
