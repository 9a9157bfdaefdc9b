"""A whole CUDA program as one text for each side: its own headers and macros expanded, system headers left in place.

The compiler's preprocessor does the work, with empty stand-ins for system headers whose places it keeps; so
conditionals and macros of the program are gone before anything reads it. As under nvcc the device side sees
``__CUDA_ARCH__``.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .launcher import Whole
from .records import Finding
from .toolchain import cxx_compiler

NAME = "program.cu"
CUDA_VERSION = 13000
# Lines of all files are told apart by number: the file's index stands above these bits.
_LINE_BITS = 20
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
_MARKER = re.compile(r'^# (\d+) "((?:[^"\\]|\\.)*)".*$')
_SYSTEM = re.compile(r"^#pragma cudaperf_include (<.*>)$")
# The spelling that the grammar does not know.
_RESTRICT = re.compile(r"\b__restrict\b")
_MACROS = (
    "-D__CUDACC__", "-D__NVCC__", f"-DCUDART_VERSION={CUDA_VERSION}", f"-DCUDA_VERSION={CUDA_VERSION}",
    "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
    # What nvcc's own first include leaves behind; programs ask for these guards.
    "-D__CUDA_RUNTIME_H__", "-D__CUDA_RUNTIME_API_H__", "-D__DRIVER_TYPES_H__", "-D__VECTOR_TYPES_H__",
    "-DCUDART_CB=",
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Both sides' texts. Their line numbers stand for places in `files`; see `placed`."""

    host: str
    device: str
    files: tuple[Path, ...]
    whole: Whole

    def placed(self, finding: Finding) -> Finding:
        """The finding with file and line of the program's own sources, in its message too."""
        if finding.file != NAME:
            return finding

        def spelled(match: re.Match[str]) -> str:
            file, line = self._place(int(match[1]))
            return f"{file}:{line}"

        file, line = self._place(finding.line)
        message = re.sub(rf"\b{re.escape(NAME)}:(\d+)", spelled, finding.message)
        return finding.model_copy(update={"file": str(file), "line": line, "message": message})

    def place(self, line: int) -> tuple[Path, int]:
        """File and line that a line number of the texts stands for."""
        return self._place(line)

    def _place(self, line: int) -> tuple[Path, int]:
        index = line >> _LINE_BITS
        return self.files[index if index < len(self.files) else 0], line & ((1 << _LINE_BITS) - 1)


class PreprocessorError(Exception):
    """A program that the preprocessor refuses: its first message with its place."""


def read_program(
    sources: Sequence[Path], includes: Sequence[Path] = (), macros: Sequence[str] = ()
) -> Program:
    """Preprocesses the sources of a program as one unit. `macros` are ``NAME`` or ``NAME=VALUE``.

    Raises PreprocessorError, and OSError for a source that cannot be read.
    """
    sources = [s.absolute() for s in sources]
    local, system = _headers(sources, [i.absolute() for i in includes])
    files = tuple(dict.fromkeys((*sources, *local)))
    with tempfile.TemporaryDirectory(prefix="cudaperf-headers-") as folder:
        for name in system:
            stand_in = Path(folder) / name
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text(f"#pragma cudaperf_include <{name}>\n")
        flags = [*_MACROS, *(f"-D{m}" for m in macros), *(f"-I{i.absolute()}" for i in includes)]
        flags += ["-isystem", folder]
        host = _preprocessed(sources, flags, files)
        device = _preprocessed(sources, [*flags, "-D__CUDA_ARCH__=900"], files)
    return Program(host, device, files, _whole(sources, includes, macros, files))


def _whole(
    sources: Sequence[Path], includes: Sequence[Path], macros: Sequence[str], files: Sequence[Path]
) -> Whole:
    """The program as NVIDIA's compiler takes it, with the same numbers for lines."""
    text = "".join(f'#include "{s}"\n' for s in sources)
    flags = (*(f"-I{i.absolute()}" for i in includes), *(f"-D{m}" for m in macros))
    folders = dict.fromkeys((*(f.parent for f in files), *(i.absolute() for i in includes)))
    return Whole(text, flags, tuple(folders), {str(f): i << _LINE_BITS for i, f in enumerate(files)})


def _headers(sources: Sequence[Path], includes: Sequence[Path]) -> tuple[list[Path], set[str]]:
    """The program's own headers, and the names of all others that it includes."""
    local: dict[Path, None] = {}
    system: set[str] = set()
    pending = list(sources)
    while pending:
        path = pending.pop()
        for match in _INCLUDE.finditer(path.read_text("utf-8", errors="replace")):
            beside = [path.parent] if match[1] == '"' else []
            found = next((f for d in (*beside, *includes) if (f := d / match[2]).is_file()), None)
            if found is None:
                if not match[2].startswith(("/", "..")):
                    system.add(match[2])
            elif (resolved := found.resolve()) not in local:
                local[resolved] = None
                pending.append(resolved)
    return list(local), system


def _preprocessed(sources: Sequence[Path], flags: Sequence[str], files: Sequence[Path]) -> str:
    driver = "".join(f'#include "{s}"\n' for s in sources)
    command: list[str | Path] = [
        cxx_compiler().path,
        "-E",
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc",
        "-nostdinc++",
        "-w",
        *flags,
        "-",
    ]
    done = subprocess.run(command, input=driver, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        raise PreprocessorError((errors or done.stderr.splitlines() or ["the preprocessor failed"])[0])
    numbers = {str(f): i for i, f in enumerate(files)}
    lines = []
    ours = False
    for line in done.stdout.splitlines():
        if marker := _MARKER.match(line):
            file = str(Path(marker[2]).resolve())
            ours = file in numbers or marker[2] in numbers
            if ours:
                index = numbers.get(file, numbers.get(marker[2], 0))
                lines.append(f'#line {(index << _LINE_BITS) + int(marker[1])} "{NAME}"')
        elif header := _SYSTEM.match(line):
            lines.append(f"#include {header[1]}")
        elif ours:
            lines.append(_RESTRICT.sub("__restrict__", line))
    return "\n".join(lines) + "\n"
