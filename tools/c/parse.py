"""Parses a C file with libclang and lowers it to the tree of `tools.c.ast`.

Headers are found where the system's C compiler finds them, so that the file means here what it means there.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import subprocess
from pathlib import Path

from clang import cindex

from ..toolchain import c_compiler
from . import ast
from .lower import lower
from .standard import with_standard


class SourceError(Exception):
    """A C file cannot be used: what is wrong, where (line and column 1-based, 0: unknown), and what to do."""

    def __init__(self, message: str, file: str, line: int = 0, column: int = 0, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.remedy = remedy

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.message}" + (f"; {self.remedy}" if self.remedy else "")


_PRAGMA = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b((?:[^\n\\]|\\\n|\\.)*)", re.MULTILINE)
_PARSER_FLAG = re.compile(r"-(?:[DUI]|std=|include|isystem|iquote|idirafter|ansi$|m32$|f(?:un)?signed-char$)")
_TOLERANT = tuple(
    f"-Wno-error={warning}"
    for warning in (
        "implicit-function-declaration",
        "implicit-int",
        "int-conversion",
        "incompatible-pointer-types",
    )
)
# What headers of the C library define only for a compiler that tells a newer version of gcc than libclang does, and
# classes of characters as functions instead of tables.
_LIBRARY = (
    "-DCMPLX(x,y)=__builtin_complex((double)(x),(double)(y))",
    "-DCMPLXF(x,y)=__builtin_complex((float)(x),(float)(y))",
    "-D__NO_CTYPE",
)
_PARSER_FLAGS_WITH_VALUE = ("-D", "-U", "-I", "-include", "-isystem", "-iquote", "-idirafter")


@functools.cache
def _system_includes(compiler: str) -> tuple[str, ...]:
    """The directories that the compiler searches for ``#include <...>``."""
    answer = subprocess.run(
        [compiler, "-E", "-v", "-xc", os.devnull],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stderr
    listed = answer.partition("#include <...> search starts here:\n")[2].partition("End of search list.")[0]
    return tuple(line.strip().removesuffix(" (framework directory)") for line in listed.splitlines())


def parser_flags(flags: tuple[str, ...]) -> list[str]:
    """The flags that change what the text means; optimization, linking and warnings do not."""
    kept: list[str] = []
    remaining = iter(flags)
    for flag in remaining:
        if flag in _PARSER_FLAGS_WITH_VALUE:
            kept += [flag, next(remaining, "")]
        elif _PARSER_FLAG.match(flag):
            kept.append(flag)
    return kept


@functools.lru_cache(maxsize=64)
def parse(path: str, source: str, flags: tuple[str, ...] = ()) -> ast.Unit:
    """Parses `source`, the text of the C file `path`, as the system's C compiler would with `flags`.

    Raises SourceError for what a C compiler would refuse as well. What C allows and the tree does not cover
    is in the unit's `unsupported`.
    """
    unit = with_standard(lower(translate(path, source, flags), path, source), parse)
    return dataclasses.replace(unit, pragmas=_pragmas(source))


def translate(path: str, source: str, flags: tuple[str, ...]) -> cindex.TranslationUnit:
    """libclang's view of a file; raises SourceError as `parse` does."""
    if not source.strip():
        raise SourceError("the file is empty", path, remedy="give a C file that defines a function")
    if "\0" in source:
        raise SourceError("the file is not text", path, remedy="give a C source file")
    # Assertions check a call; they are no part of what a port computes. What gcc only warns of is no error.
    arguments = ["-xc", "-ferror-limit=0", "-w", "-DNDEBUG", *_LIBRARY, *_TOLERANT, *parser_flags(flags)]
    if not any(flag.startswith(("-std=", "-ansi")) for flag in flags):
        arguments.append("-std=gnu11")
    for directory in _system_includes(str(c_compiler().path)):
        arguments += ["-isystem", directory]
    try:
        translation = cindex.Index.create().parse(path, arguments, unsaved_files=[(path, source)])
    except cindex.TranslationUnitLoadError:
        raise SourceError("libclang cannot read the file", path, remedy="check the flags after --") from None
    _raise_first_error(translation, path)
    return translation


def _raise_first_error(translation: cindex.TranslationUnit, path: str) -> None:
    for diagnostic in translation.diagnostics:
        at = diagnostic.location
        # The compiler's own headers may use builtins of that compiler alone; the original is compiled by it.
        if diagnostic.severity < cindex.Diagnostic.Error or at.is_in_system_header:
            continue
        file = at.file.name if at.file else path
        if missing := re.match(r"'(.+)' file not found", diagnostic.spelling):
            header = missing[1]
            remedy = f"add -Idir after --, where dir holds {header}"
            raise SourceError(f"header '{header}' not found", file, at.line, at.column, remedy)
        suffix = Path(path).suffix
        remedy = "correct the C source"
        if suffix not in ("", ".c", ".h", ".i"):
            remedy = f"give a C file; '{suffix}' is usually not C"
        elif "undeclared" in diagnostic.spelling or "unknown type name" in diagnostic.spelling:
            remedy = "correct the C source, or add the missing -DNAME=VALUE or -Idir after --"
        raise SourceError(diagnostic.spelling, file, at.line, at.column, remedy)


def _pragmas(source: str) -> tuple[tuple[int, str], ...]:
    return tuple(
        (source.count("\n", 0, found.start()) + 1, " ".join(found[1].replace("\\\n", " ").split()))
        for found in _PRAGMA.finditer(source)
    )
