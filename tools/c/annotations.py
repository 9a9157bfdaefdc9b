"""What a person tells about a function's arrays where the analysis cannot know.

In a comment above or inside the function::

    // cudaperf: x[n*m] in 0..1, out y[n], col[nnz] in 0..n-1, steps in 1..20

or in a TOML file beside the source (``f.cudaperf.toml`` for ``f.c``), which wins over comments::

    [function.spmv.col]
    extent = "nnz"
    low = 0
    high = "n - 1"
    role = "in"
"""

from __future__ import annotations

import ast as python
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal as OneOf
from typing import cast

from . import ast
from .parse import SourceError
from .polynomial import Polynomial, apply, atom, constant

Role = OneOf["in", "out", "inout"]

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/', re.DOTALL
)
_MARK = re.compile(r"^[\s*]*cudaperf:(.*)", re.DOTALL)
_ITEM = re.compile(
    r"(?:(?P<role>inout|in|out)\s+)?(?P<name>[A-Za-z_]\w*)\s*(?P<extents>(?:\[[^\]]*\]\s*)*)"
    r"(?:in\s+(?P<low>.+?)\s*\.\.\s*(?P<high>.+))?$",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_KEYS = {"extent", "low", "high", "role"}


@dataclass(frozen=True)
class Annotation:
    """What is told about one parameter or global; None: nothing. `low` and `high` are C expressions.

    `shape` are an array's extents as C expressions, outermost first.
    """

    name: str
    place: ast.Place
    shape: tuple[str, ...] | None = None
    role: Role | None = None
    low: str | None = None
    high: str | None = None


def read_annotations(path: str, source: str, unit: ast.Unit, function: ast.Function) -> dict[str, Annotation]:
    """The annotations of a function, by name. Raises SourceError for one that cannot be read or fits nothing."""
    told = {a.name: a for a in _comments(path, source, unit, function)}
    for annotation in _toml(Path(path).with_suffix(".cudaperf.toml"), function.name):
        told[annotation.name] = _over(told.get(annotation.name), annotation)
    known = {p.name for p in function.parameters} | unit.globals.keys()
    for annotation in told.values():
        used = {
            name
            for text in (*(annotation.shape or ()), annotation.low, annotation.high)
            for name in _NAME.findall(re.sub(r"\b[\d.]\S*", "", text or ""))
        }
        for name in (annotation.name, *sorted(used)):
            if name not in known:
                at = annotation.place
                message = (
                    f"the annotation names '{name}', which {function.name}() has no parameter or global for"
                )
                raise SourceError(message, at.file, at.line, at.column, "correct the name")
    return told


def bound(text: str | None) -> tuple[Polynomial, ...]:
    """An annotation's bound as a polynomial, if it is one."""
    if text is None:
        return ()
    try:
        # C and Python write sums and products alike.
        found = _polynomial(python.parse(text.strip(), mode="eval").body)
    except SyntaxError:
        return ()
    return () if found is None else (found,)


_OPERATORS = {python.Add: "+", python.Sub: "-", python.Mult: "*", python.Div: "/"}


def _polynomial(node: python.expr) -> Polynomial | None:
    match node:
        case python.Constant(value=int() as value):
            return constant(value)
        case python.Name(id=name):
            return atom(name)
        case python.UnaryOp(op=python.USub(), operand=operand):
            inner = _polynomial(operand)
            return None if inner is None else -inner
        case python.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            first, second = _polynomial(left), _polynomial(right)
            return None if first is None or second is None else apply(_OPERATORS[type(op)], first, second)
        case _:
            return None


def _over(below: Annotation | None, above: Annotation) -> Annotation:
    if below is None:
        return above
    told = {
        key: value for key in ("shape", "role", "low", "high") if (value := getattr(above, key)) is not None
    }
    return replace(below, place=above.place, **told)


def _comments(path: str, source: str, unit: ast.Unit, function: ast.Function) -> Iterator[Annotation]:
    """Comments from the end of the definition before the function to the end of the function."""
    if function.place.file != path:
        return
    text = source.encode()
    own = [f for f in unit.functions.values() if f.place.file == path and f.end <= function.start]
    begin = len(text[: max((f.end for f in own), default=0)].decode())
    end = len(text[: function.end].decode())
    for token in _TOKEN.finditer(source):
        comment = token["line"] if token["line"] is not None else token["block"]
        mark = _MARK.match(comment or "")
        if mark is None or not begin <= token.start() < end:
            continue
        line = source.count("\n", 0, token.start()) + 1
        column = token.start() - source.rfind("\n", 0, token.start())
        for item in _items(mark[1]):
            yield _item(item, ast.Place(path, line, column))


def _items(text: str) -> Iterator[str]:
    """Splits at commas and semicolons outside brackets."""
    depth, start = 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character in ",;" and depth == 0:
            yield text[start:position]
            start = position + 1
    yield text[start:]


def _item(text: str, place: ast.Place) -> Annotation:
    found = _ITEM.match(" ".join(text.split()))
    if found is None or not (found["role"] or found["extents"] or found["low"]):
        raise SourceError(
            f"cannot read the annotation '{text.strip()}'",
            *(place.file, place.line, place.column),
            "write for example: cudaperf: x[n*m] in 0..1, out y[n]",
        )
    shape = tuple(extent.strip() for extent in re.findall(r"\[([^\]]*)\]", found["extents"]))
    return Annotation(
        found["name"], place, shape or None, cast(Role | None, found["role"]), found["low"], found["high"]
    )


def _toml(path: Path, function: str) -> Iterator[Annotation]:
    if not path.is_file():
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SourceError(f"cannot read the annotations: {problem}", str(path)) from None
    for name, entry in content.get("function", {}).get(function, {}).items():
        if not isinstance(entry, dict) or entry.keys() - _KEYS:
            wrong = sorted(entry.keys() - _KEYS) if isinstance(entry, dict) else [name]
            message = f"unknown key {wrong[0]!r} in [function.{function}.{name}]"
            raise SourceError(message, str(path), remedy=f"known are {', '.join(sorted(_KEYS))}")
        extent = entry.get("extent")
        shape = (
            (extent,) if isinstance(extent, str) else tuple(map(str, extent)) if extent is not None else None
        )
        bounds = (str(entry[key]) if key in entry else None for key in ("low", "high"))
        yield Annotation(name, ast.Place(str(path), 0, 0), shape, entry.get("role"), *bounds)
