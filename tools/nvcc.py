"""Compiles for the target GPU with NVIDIA's compiler, where there is one: diagnostics and resources a kernel."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import sandbox
from .device import CompileResult, KernelResources
from .records import Candidate, Finding, FunctionSpec
from .toolchain import cached, cxx_compiler, digest

COMPILE_SECONDS = 120.0
COMPILE_MEMORY = 8 << 30
PTX_ARCH = "sm_90"
_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^(\n]+)\((?P<line>\d+)\): (?P<severity>error|warning)(?: #[\w-]+)?: (?P<message>.+)$", re.M
)
_HOST_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<message>.+)$", re.M
)
_RESOURCES = re.compile(
    r"Compiling entry function '(?P<kernel>\w+)'.*?(?P<stack>\d+) bytes stack frame, "
    r"(?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes spill loads.*?"
    r"Used (?P<registers>\d+) registers(?P<rest>[^\n]*)",
    re.S,
)


def find_nvcc() -> Path | None:
    """nvcc from PATH, ``$CUDA_HOME``, ``$CUDA_PATH``, /usr/local/cuda, or NVIDIA's wheels; None where none is."""
    if found := shutil.which("nvcc"):
        return Path(found)
    roots = [Path(os.environ[v]) for v in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(v)]
    roots.append(Path("/usr/local/cuda"))
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        roots += [*sorted(Path(folder).glob("cu[0-9]*"), reverse=True), Path(folder) / "cuda_nvcc"]
    return next((p for root in roots if (p := root / "bin" / "nvcc").is_file()), None)


def compile_for_target(function: FunctionSpec, candidate: Candidate, arch: str) -> CompileResult | None:
    """Device code of a candidate for `arch` (``sm_90``), with resources a kernel. None without a compiler."""
    begin = time.monotonic()
    file = next(f for f in candidate.files if f.language == "cuda")
    own = any(re.search(rf"\b(?:struct|union|class)\s+{s.name}\b\s*{{", file.text) for s in function.structs)
    head = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n" + ("" if own else function.prelude)
    text = f'{head}\n#line 1 "{file.name}"\n{file.text}'
    answer = _compile(
        {"candidate.cu": text}, "candidate.cu", ("-cubin", f"-arch={arch}", "-Xptxas", "-v"), ()
    )
    if answer is None:
        return None
    ok, output, version = answer
    resources = tuple(_resources(m) for m in _RESOURCES.finditer(output))
    return CompileResult(
        ok=ok,
        diagnostics=_diagnostics(output, file.name, ok),
        kernels=tuple(r.kernel for r in resources),
        resources=resources,
        arch=arch,
        compiler=version,
        seconds=time.monotonic() - begin,
    )


def compile_delivered(name: str, files: Mapping[str, str], arch: str) -> tuple[Finding, ...] | None:
    """What nvcc says to ``NAME.cu`` among the delivered files, compiled to an object. None without a compiler."""
    answer = _compile(files, f"{name}.cu", ("-c", f"-arch={arch}", "-O3"), ("-I.",))
    if answer is None:
        return None
    ok, output, _ = answer
    return _diagnostics(output, f"{name}.cu", ok)


def compile_ptx(
    text: str, file: str, flags: Sequence[str], folders: Sequence[Path]
) -> tuple[str, tuple[Finding, ...]] | None:
    """The PTX of a source with line numbers, or an empty text and why. `folders` hold what it includes. None without a
    compiler."""
    options = (
        "-ptx",
        f"-arch={PTX_ARCH}",
        "-std=c++17",
        "-lineinfo",
        "-w",
        "--expt-relaxed-constexpr",
        *flags,
    )
    answer = _compile({"source.cu": text}, "source.cu", options, (), folders)
    if answer is None:
        return None
    ok, output, _ = answer
    if ok:
        return output, ()
    return "", _diagnostics(output, file, ok)


def _compile(
    files: Mapping[str, str],
    main: str,
    flags: Sequence[str],
    includes: Sequence[str],
    folders: Sequence[Path] = (),
) -> tuple[bool, str, str] | None:
    """Whether it compiled, what the compiler printed (PTX where that was asked for), and its version.

    Kept by content; headers in `folders` stand for themselves by name and time.
    """
    nvcc = find_nvcc()
    if nvcc is None:
        return None
    version, host = _version(nvcc), cxx_compiler()
    headers = sorted(p for f in folders for p in f.iterdir() if p.is_file())
    key = digest(
        version, host.version, main, *flags, *includes, *(part for f in sorted(files.items()) for part in f),
        *(f"{p}:{p.stat().st_mtime_ns}" for p in headers),
    )  # fmt: skip

    def make(folder: Path) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
        root = nvcc.resolve().parent.parent
        done = sandbox.run(
            [nvcc, *flags, *includes, "-ccbin", host.path, main, "-o", "output"],
            cwd=folder,
            seconds=COMPILE_SECONDS,
            readable=(root, nvcc.parent, *host.folders, *folders),
            writable=(folder,),
            memory_bytes=COMPILE_MEMORY,
        )
        output = (done.stdout + done.stderr).decode(errors="replace")
        if done.timed_out:
            output = f"{main}(1): error: the compiler did not finish within {COMPILE_SECONDS:.0f} s"
        if "-ptx" in flags and done.returncode == 0:
            output = (folder / "output").read_text()
        (folder / "answer.json").write_text(json.dumps([done.returncode == 0, output]))
        (folder / "output").unlink(missing_ok=True)

    ok, output = json.loads((cached("nvcc", key, make) / "answer.json").read_text())
    return ok, output, version


@functools.cache
def _version(nvcc: Path) -> str:
    answer = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=True)
    release = re.search(r"V(\d+\.\d+\.\d+)", answer.stdout)
    return f"nvcc {release[1] if release else 'of unknown version'}"


def _diagnostics(output: str, file: str, ok: bool) -> tuple[Finding, ...]:
    found = []
    for match in (*_DIAGNOSTIC.finditer(output), *_HOST_DIAGNOSTIC.finditer(output)):
        warns = match.groupdict().get("severity") == "warning"
        own = match["file"].endswith(file)
        message = match["message"] if own else f"{match['message']} (in {Path(match['file']).name})"
        line = int(match["line"]) if own else 0
        found.append(
            Finding(
                rule="compile-error",
                severity="warning" if warns else "error",
                message=message,
                file=file,
                line=line,
            )
        )
    if not ok and not any(f.severity == "error" for f in found):
        lines = [line for line in output.splitlines() if re.search(r"error|fatal|undefined", line, re.I)]
        text = (lines or output.strip().splitlines() or ["it failed without a word"])[0]
        found.append(Finding(rule="compile-error", message=f"nvcc: {text[:300]}", file=file))
    return tuple(dict.fromkeys(found))[:20]


def _resources(match: re.Match[str]) -> KernelResources:
    shared = re.search(r"(\d+) bytes smem", match["rest"])
    return KernelResources(
        kernel=demangle(match["kernel"]),
        registers=int(match["registers"]),
        shared_bytes=int(shared[1]) if shared else 0,
        spill_store_bytes=int(match["stores"]),
        spill_load_bytes=int(match["loads"]),
        stack_bytes=int(match["stack"]),
    )


_BUILTIN_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip


def demangle(symbol: str) -> str:
    """A kernel's qualified name with template arguments (``ns::k<16, float>``) from its Itanium mangled symbol.

    Only what kernels' names are made of is known: names, literals and built-in types; an argument of another
    kind reads as ``...``. See https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling.
    """
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:].removeprefix("N")
    names = []
    while match := re.match(r"L?(\d+)", rest):
        begin = match.end()
        end = begin + int(match[1])
        names.append(rest[begin:end])
        rest = rest[end:]
    name = "::".join(n for n in names if n != "_GLOBAL__N_1")
    return f"{name}<{_template_arguments(rest[1:])}>" if rest.startswith("I") else name


def _template_arguments(rest: str) -> str:
    arguments = []
    while rest and not rest.startswith("E"):
        if match := re.match(r"L([a-z])(n?)(\d+)E", rest):
            value = f"{'-' if match[2] else ''}{match[3]}"
            arguments.append({"0": "false", "1": "true"}[value] if match[1] == "b" else value)
            rest = rest[match.end() :]
        elif rest[0] in _BUILTIN_TYPES:
            arguments.append(_BUILTIN_TYPES[rest[0]])
            rest = rest[1:]
        elif match := re.match(r"(\d+)", rest):
            end = match.end() + int(match[1])
            arguments.append(rest[match.end() : end])
            rest = rest[end:]
        else:
            return ", ".join([*arguments, "..."])
    return ", ".join(arguments)
