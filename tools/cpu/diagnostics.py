"""Compiler messages as findings in the candidate's own source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..records import Finding

_PLACE = re.compile(r"^(?P<file>[^:\s][^:]*):(?P<line>\d+):(?:(?P<column>\d+):)? *(?P<text>.*)$")
_ERROR = re.compile(r"^(?:fatal )?error: (?P<message>.*)$")
_UNDEFINED = re.compile(r"(?P<file>[^:\s]+):(?P<line>\d+): undefined reference to [`'](?P<name>[^']+)'")
_HIDDEN_PARAMETERS = re.compile(
    r"\b(?:const )?uint3, (?:const )?uint3, (?:const )?dim3, (?:const )?dim3(?:, )?"
)


def diagnostics(output: str, file: str) -> list[Finding]:
    """The errors of gcc's or clang's output. One in our own headers is told at the candidate's line that led to it."""
    found = []
    for error, context in _groups(output.splitlines()):
        place = _PLACE.match(error)
        if place is None:
            continue
        message = _HIDDEN_PARAMETERS.sub("", _ERROR.sub(r"\g<message>", place["text"]))
        if place["file"] != file:
            nearest = next((m for c in context if (m := _PLACE.match(c)) and m["file"] == file), None)
            if nearest is None and place["file"] not in ("prelude", "entry", "symbols", "kernels"):
                message = f"{message} (in {place['file'].rsplit('/', 1)[-1]})"
            place = nearest
        line = int(place["line"]) if place else 0
        column = int(place["column"] or 0) if place else 0
        found.append(Finding(rule="compile-error", message=message, file=file, line=line, column=column))
    for match in _UNDEFINED.finditer(output):
        line = int(match["line"]) if match["file"].endswith(file) else 0
        message = f"{match['name']} is declared but not defined on the host"
        found.append(
            Finding(rule="compile-error", message=message, file=file, line=line, column=1 if line else 0)
        )
    return list(dict.fromkeys(found))


def _groups(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Each error with the lines around it that say where it came from."""
    errors = [i for i, line in enumerate(lines) if (m := _PLACE.match(line)) and _ERROR.match(m["text"])]
    for n, index in enumerate(errors):
        begin = errors[n - 1] + 1 if n else 0
        end = errors[n + 1] if n + 1 < len(errors) else len(lines)
        yield lines[index], [*lines[begin:index][::-1], *lines[index + 1 : end]]
