"""Reads a C file into a Task: which function to port, and what a port of it must do."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from ..records import Task
from . import ast
from .annotations import read_annotations
from .calls import global_uses, reached
from .library import ALLOCATES, COPIES, PURE, SPEAKS
from .parse import SourceError, parse, parser_flags
from .parts import has_pointers
from .plain import plain
from .specify import specify

LARGEST_SOURCE = 4 << 20
"""Bytes of the largest file that is read."""


def load(
    path: Path, function: str | None, flags: tuple[str, ...] = (), sources: tuple[str, ...] = ()
) -> Task:
    """The task of porting one function of a C file: the named one, else the one most worth it.

    Without flags those of a ``compile_commands.json`` in the file's folder or above are taken.
    Raises SourceError, in one line with what to do, for every file that gives no task.
    """
    source = read_source(path)
    flags = flags or _database_flags(path)
    unit = parse(str(path), source, flags)
    name = function or _choose(unit)
    original = _function(unit, name)
    made = plain(unit, name)
    told = read_annotations(str(path), source, made.unit, made.unit.functions[name])
    return Task(
        path=str(path),
        source=source,
        flags=flags,
        sources=sources,
        function=specify(original, made, source, told),
        has_main="main" in unit.calls,
    )


def read_source(path: Path) -> str:
    """The text of a source file. Raises SourceError where there is none."""
    try:
        if path.is_dir():
            raise SourceError("this is a directory", str(path), remedy="give a C file in it")
        size = path.stat().st_size
        if size > LARGEST_SOURCE:
            message = f"the file is too large ({size / (1 << 20):.1f} MiB, at most {LARGEST_SOURCE >> 20})"
            raise SourceError(message, str(path), remedy="move the function into a file of its own")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SourceError("no such file", str(path), remedy="check the path") from None
    except UnicodeDecodeError as problem:
        line = path.read_bytes().count(b"\n", 0, problem.start) + 1
        raise SourceError("the file is not UTF-8 text", str(path), line, remedy="save it as UTF-8") from None
    except OSError as problem:
        raise SourceError(f"cannot read the file ({problem.strerror})", str(path)) from None


def portable_functions(unit: ast.Unit) -> list[str]:
    """The functions worth porting, the most worthwhile first.

    They are defined in the file itself, loop, and take arrays. First come those that rely on nothing outside the
    file, that `main` reaches, that read arrays, and that are no part of another one; among them the deepest loop
    nest, then the longest.
    """
    candidates = [name for name in unit.functions if not _reason_against(unit, name)]
    parts = {callee for name in candidates for callee in reached(unit, name) if callee != name}

    used = reached(unit, "main") if "main" in unit.calls else candidates

    def worth(name: str) -> tuple[bool, bool, bool, bool, int, int]:
        functions = [unit.functions[n] for n in reached(unit, name)]
        known = all(_is_known(unit, call) for f in functions for call in unit.calls[f.name])
        length = sum(1 for f in functions for _ in ast.walk(f.body))
        reads = any(_reads_arrays(f) for f in functions)
        return known, name in used, reads, name not in parts, _depth(unit, name), length

    return sorted(candidates, key=worth, reverse=True)


def original_text(task: Task) -> str:
    """The function's own source text."""
    function = _function(parse(task.path, task.source, task.flags), task.name)
    return task.source.encode()[function.start : function.end].decode()


def without_body(task: Task, replacement: str) -> str:
    """The whole file's text with the function's definition replaced."""
    function = _function(parse(task.path, task.source, task.flags), task.name)
    text = task.source.encode()
    return (text[: function.start] + replacement.encode() + text[function.end :]).decode()


def _choose(unit: ast.Unit) -> str:
    portable = portable_functions(unit)
    if portable:
        return portable[0]
    reasons = [f"{name}: {_reason_against(unit, name)}" for name in unit.calls]
    why = "; ".join(reasons) if reasons else "it defines no function"
    raise SourceError(f"no function worth porting ({why})", unit.path, remedy="name one with --function")


def _function(unit: ast.Unit, name: str) -> ast.Function:
    if name in unit.unsupported and name in unit.calls:
        construct, place = unit.unsupported[name]
        message = f"{name}() uses what is not supported yet: {construct}"
        raise SourceError(
            message, place.file, place.line, place.column, "rewrite it without, or choose another"
        )
    if name not in unit.functions:
        known = ", ".join(unit.calls) or "none"
        raise SourceError(f"no function '{name}' is defined here", unit.path, remedy=f"there are: {known}")
    return unit.functions[name]


def _reason_against(unit: ast.Unit, name: str) -> str:
    """Why a function is not worth porting; empty where it may be."""
    if name == "main":
        return "is the program's entry"
    if name in unit.unsupported:
        construct, place = unit.unsupported[name]
        return f"uses what is not supported yet, {construct} in line {place.line}"
    function = unit.functions[name]
    if function.place.file != unit.path:
        return "is defined in a header"
    if not _depth(unit, name):
        return "has no loop"
    takes_arrays = any(p.type.element is not None or has_pointers(p.type) for p in function.parameters)
    if not takes_arrays and not _global_arrays(unit, name):
        return "works on no array"
    return ""


def _depth(unit: ast.Unit, name: str) -> int:
    """The depth of the deepest loop nest, called functions included."""
    return _nest(unit, unit.functions[name].body, frozenset([name]))


def _nest(unit: ast.Unit, node: ast.Stmt | ast.Expr, calls: frozenset[str]) -> int:
    inner = [_nest(unit, child, calls) for child in ast.children(node)]
    if isinstance(node, ast.Call) and node.function in unit.functions.keys() - calls:
        inner.append(_nest(unit, unit.functions[node.function].body, calls | {node.function}))
    return max(inner, default=0) + isinstance(node, ast.For | ast.While)


def _global_arrays(unit: ast.Unit, name: str) -> bool:
    return any(use.type.element is not None for use in global_uses(unit, name))


def _reads_arrays(function: ast.Function) -> bool:
    """Whether some element is read, other than as the target of an assignment."""
    targets = {
        id(node.target) for node in ast.walk(function.body) if isinstance(node, ast.Assign) and node.op == "="
    }
    return any(
        isinstance(node, ast.Subscript | ast.Unary) and node.type.scalar and id(node) not in targets
        for node in ast.walk(function.body)
        if not isinstance(node, ast.Unary) or node.op == "*"
    )


def _is_known(unit: ast.Unit, call: str) -> bool:
    plain = call.removeprefix("__builtin_")
    return call in unit.functions or plain in PURE | COPIES | ALLOCATES | SPEAKS.keys() | {
        "memset",
        "free",
        "inff",
        "nanf",
    }


def _database_flags(path: Path) -> tuple[str, ...]:
    """The flags of a file in the nearest compilation database, its directories made absolute."""
    resolved = path.resolve()
    for folder in resolved.parents:
        database = folder / "compile_commands.json"
        if not database.is_file():
            continue
        try:
            entries = json.loads(database.read_text(encoding="utf-8"))
            for entry in entries:
                directory = folder / entry["directory"]
                if (directory / entry["file"]).resolve() == resolved:
                    command = entry.get("arguments") or shlex.split(entry["command"])
                    return tuple(_absolute(parser_flags(tuple(command[1:])), directory))
        except (ValueError, KeyError, TypeError) as problem:
            message = f"not a compilation database ({problem})"
            raise SourceError(message, str(database), remedy="correct it, or give flags after --") from None
        return ()
    return ()


def _absolute(flags: list[str], directory: Path) -> list[str]:
    """Flags with their directories as seen from anywhere."""
    absolute: list[str] = []
    for flag in flags:
        if flag.startswith("-I") and len(flag) > 2:
            absolute.append(f"-I{directory / flag[2:]}")
        elif absolute and absolute[-1] in ("-I", "-isystem", "-iquote", "-idirafter", "-include"):
            absolute.append(str(directory / flag))
        else:
            absolute.append(flag)
    return absolute
