"""The host part of a candidate as a shared library, and the runtime that it is linked with: both devices need them."""

from __future__ import annotations

import functools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from .. import sandbox
from ..launcher import Kernel, Split
from ..records import Finding
from ..toolchain import cached, cxx_compiler, digest
from .diagnostics import diagnostics
from .names import without_parameters
from .one_sided import without_device_bodies

COMPILE_SECONDS = 60.0
COMPILE_MEMORY = 2 << 30
COMMON = (
    "-std=c++17", "-shared", "-fPIC", "-g1", "-gdwarf-4", "-fno-strict-aliasing", "-fno-semantic-interposition",
    "-w", "-fmax-errors=40", "-fno-diagnostics-color", "-fno-diagnostics-show-caret",
)  # fmt: skip
HOST_FLAGS = (*COMMON, "-O1", "-Wl,-z,defs,--gc-sections")


@dataclass(frozen=True)
class Runtime:
    """The compiled runtime: its folder holds the harness and its library."""

    folder: Path

    @property
    def harness(self) -> Path:
        return self.folder / "harness"

    @property
    def library(self) -> Path:
        return self.folder / "libcudaperf.so"


def compile_host(
    split: Split, folder: Path, objects: Sequence[Path] = (), link: Sequence[str] = ()
) -> list[Finding]:
    """Compiles the host part to ``host.so`` in `folder`, linked with `objects` and the flags of `link`."""
    copies = [Path(shutil.copy(path, folder / f"object{i}.o")) for i, path in enumerate(objects)]
    inputs: list[str | Path] = [*copies, runtime().library, "-pthread", *link]
    host: str | None = split.host
    findings: list[Finding] = []
    while host is not None:
        (folder / "host.cpp").write_text(host)
        found = compile_part(folder, "host", HOST_FLAGS, inputs, split.file)
        if not found:
            return []
        findings = findings or found
        host = without_device_bodies(split.file, host, {f.line for f in found})
    return findings


def write_table(folder: Path, kernels: Sequence[str], stubs: Mapping[str, int]) -> None:
    """The table of kernels that the launcher's process reads: a line each, the stub's offset and the name."""
    (folder / "kernels").write_text("".join(f"{stubs.get(k, -1)} {k}\n" for k in kernels))


def read_table(folder: Path) -> tuple[str, ...]:
    lines = (folder / "kernels").read_text().splitlines()
    return tuple(line.partition(" ")[2] for line in lines)


def kernel_stubs(library: Path, kernels: Sequence[Kernel]) -> dict[str, int]:
    """The kernels' stubs in a host library: names with template arguments (overloads: with parameters), offsets."""
    names = {k.name for k in kernels}
    plain = {k.name for k in kernels if not k.is_template}
    answer = subprocess.run(
        ["nm", "-C", "--defined-only", library], capture_output=True, text=True, check=True
    )
    found: dict[str, dict[str, int]] = {}
    for line in answer.stdout.splitlines():
        address, kind, symbol = line.split(" ", 2)
        signature = symbol.replace("(anonymous namespace)::", "").removeprefix("void ")
        name = without_parameters(signature)
        # A function of the host may share its name with a template.
        known = name in plain or ("<" in name and name.partition("<")[0] in names)
        if kind in "tTwW" and known and "[clone" not in symbol:
            found.setdefault(name, {})[signature] = int(address, 16)
    return {
        name if len(overloads) == 1 else signature: offset
        for name, overloads in found.items()
        for signature, offset in overloads.items()
    }


def compile_part(
    folder: Path, part: str, flags: Sequence[str], inputs: Sequence[str | Path], file: str
) -> list[Finding]:
    """Compiles ``PART.cpp`` in the sandbox to ``PART.so``."""
    compiler = cxx_compiler()
    output = folder / f"{part}.so"
    command = [compiler.path, *flags, f"-I{_source_folder()}", "-o", output, folder / f"{part}.cpp", *inputs]
    done = sandbox.run(
        command,
        cwd=folder,
        seconds=COMPILE_SECONDS,
        readable=(_source_folder(), runtime().folder, *compiler.folders),
        writable=(folder,),
        memory_bytes=COMPILE_MEMORY,
    )
    if done.returncode == 0:
        return []
    if done.timed_out:
        message = f"the compiler did not finish within {COMPILE_SECONDS:.0f} s"
        return [Finding(rule="compile-timeout", message=message, file=file)]
    found = diagnostics(done.stderr.decode(errors="replace"), file)
    if found:
        return found
    first = done.stderr.decode(errors="replace").strip().splitlines()[:1] or [f"signal {done.signal}"]
    return [Finding(rule="compile-error", message=f"the compiler failed: {first[0][:300]}", file=file)]


@functools.cache
def _source_folder() -> Path:
    return Path(str(files(__package__) / "runtime"))


@functools.cache
def runtime() -> Runtime:
    """The harness and its library, compiled once for each version of compiler and runtime."""
    compiler = cxx_compiler()
    sources = sorted(_source_folder().iterdir())
    key = digest(
        compiler.version, *(part for s in sources if s.is_file() for part in (s.name, s.read_bytes()))
    )

    def make(folder: Path) -> None:
        common: list[str | Path] = [
            compiler.path,
            "-std=c++20",
            "-O2",
            "-g1",
            "-fPIC",
            "-ftls-model=initial-exec",
            "-pthread",
        ]
        library = [s for s in sources if s.suffix == ".cpp" and s.name != "harness.cpp"]

        def compile_one(source: Path) -> Path:
            output = folder / f"{source.stem}.o"
            _run_trusted([*common, "-c", source, "-o", output])
            return output

        with ThreadPoolExecutor() as pool:
            objects = list(pool.map(compile_one, [*library, _source_folder() / "harness.cpp"]))
        _run_trusted([*common, "-shared", "-o", folder / "libcudaperf.so", *objects[:-1], "-ldl"])
        link: list[str | Path] = [objects[-1], f"-L{folder}", "-lcudaperf", "-Wl,-rpath,$ORIGIN", "-ldl"]
        _run_trusted([*common, "-o", folder / "harness", *link])

    return Runtime(cached("runtime", key, make))


def _run_trusted(command: Sequence[str | Path]) -> None:
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise RuntimeError(
            f"the CPU runtime does not compile: {' '.join(map(str, command))}\n{answer.stderr}"
        )
