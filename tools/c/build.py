"""Compiles C with the system's C compiler; results are kept by content."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..toolchain import c_compiler, cached, digest

COMPILE_SECONDS = 120


class CompileError(Exception):
    """The C compiler refused a source: its first message, in one line."""


def build_program(
    units: Sequence[tuple[str, str]],
    flags: Sequence[str],
    sources: Sequence[Path] = (),
    libraries: Sequence[str] = ("-lm",),
) -> Path:
    """Compile and link units, given as (name, text), and further sources into a program. Raises CompileError."""
    inputs = [str(s) for s in sources]
    return _cached("oracle", units, flags, sources, libraries, ["-o", "program", *inputs]) / "program"


def build_objects(
    units: Sequence[tuple[str, str]], flags: Sequence[str], sources: Sequence[Path] = ()
) -> tuple[Path, ...]:
    """Compile each unit and each source into an object of its own. Raises CompileError."""
    compiled = [s for s in sources if s.suffix == ".c"]
    folder = _cached("objects", units, [*flags, "-fPIC"], compiled, (), ["-c", *map(str, compiled)])
    ready = tuple(s for s in sources if s.suffix != ".c")
    return (*sorted(folder.glob("*.o")), *ready)


def _cached(
    kind: str,
    units: Sequence[tuple[str, str]],
    flags: Sequence[str],
    sources: Sequence[Path],
    libraries: Sequence[str],
    last: Sequence[str],
) -> Path:
    compiler = c_compiler()
    # Headers beside the sources are not in the key; their names and times stand in for their content.
    included = [f"{p}:{p.stat().st_mtime_ns}" for f in flags for p in _headers_under(f)]
    key = digest(
        compiler.version,
        str(compiler.path),
        *[part for unit in units for part in unit],
        *flags,
        *[s.read_bytes() for s in sources],
        *libraries,
        *last,
        *included,
    )

    def make(folder: Path) -> None:
        for name, text in units:
            (folder / name).write_text(text)
        command = [str(compiler.path), *flags, *[name for name, _ in units], *last, *libraries]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise CompileError(f"compiling takes more than {COMPILE_SECONDS} s") from error
        if done.returncode != 0:
            raise CompileError(_first_error(done.stderr))

    return cached(kind, key, make)


def _headers_under(flag: str) -> list[Path]:
    for prefix in ("-iquote", "-I"):
        if flag.startswith(prefix) and len(flag) > len(prefix):
            return sorted(Path(flag[len(prefix) :]).glob("*.h"))
    return []


def _first_error(messages: str) -> str:
    lines = messages.splitlines()
    found = next((line for line in lines if re.search(r"error:|undefined reference", line)), None)
    return found or (lines[0] if lines else "the compiler failed without a word")
