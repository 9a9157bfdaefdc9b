"""Compiles a split candidate for the CPU: two shared libraries, and the runtime that they need, all cached."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal as OneOf

from ..constructs import COMPILER_REMEDY
from ..launcher import Split
from ..nvcc import compile_ptx, find_nvcc
from ..records import Finding
from ..toolchain import cached, cxx_compiler, digest
from .host import (
    COMMON,
    HOST_FLAGS,
    compile_host,
    compile_part,
    kernel_stubs,
    read_table,
    runtime,
    write_table,
)
from .one_sided import without_host_only
from .ptx.parse import parse
from .ptx.translate import translate
from .rewrite import rewrite

_DEVICE = (
    "-nostdlib", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-math-errno",
    "-fno-trapping-math", "-ffp-contract=off", "-fno-stack-protector",
)  # fmt: skip
_PLAIN = ("-O2", "-fvect-cost-model=dynamic")
_CHECKED_PTX = ("-O1", "-DCUDAPERF_CHECKED")
Engine = OneOf["auto", "source", "ptx"]
# Without scalar replacement a float4 stays one access, as it is on a GPU.
_CHECKED = (
    "-O1",
    "-fno-tree-sra",
    "-fsanitize=thread,bounds,alignment",
    "--param=tsan-distinguish-volatile=1",
    "-DCUDAPERF_CHECKED",
)
# What device code may link to: the math library's functions (and their float twins), and our runtime.
_MATH = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos", "cosh",
        "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin", "fmod",
        "frexp", "hypot", "ilogb", "j0", "j1", "jn", "ldexp", "lgamma", "llrint", "llround", "log", "log10",
        "log1p", "log2", "logb", "lrint", "lround", "modf", "nearbyint", "nextafter", "pow", "remainder", "remquo",
        "rint", "round", "scalbln", "scalbn", "sin", "sincos", "sinh", "sqrt", "tan", "tanh", "tgamma", "trunc",
        "y0", "y1", "yn",
    }
)  # fmt: skip
_MEMORY = frozenset({"memcpy", "memmove", "memset", "memcmp", "abs", "labs", "llabs"})
# A kernel's own name and parameters, behind the hidden ones.
_ENTRY = re.compile(r"cudaperf::Entry<&\(?([\w:]+)\(uint3, uint3, dim3, dim3(?:, )?(.*?)\)\)?>::thread\(")
_RUNTIME = re.compile(
    r"cudaperf_\w+|__tsan_\w+|__ubsan_\w+|threadIdx|blockIdx|blockDim|gridDim"
    r"|__cxa_finalize|__tls_get_addr|_ITM_\w+|__gmon_start__"
)


@dataclass(frozen=True)
class Libraries:
    """A built candidate: the folder holds host.so and device.so, or nothing where it did not compile.

    `kernels` are the names of the kernels that the libraries hold, in the order of their tables.
    """

    folder: Path
    findings: tuple[Finding, ...]
    kernels: tuple[str, ...] = ()


def build(
    split: Split,
    *,
    checked: bool,
    objects: Sequence[Path] = (),
    link: Sequence[str] = (),
    engine: Engine = "auto",
) -> Libraries:
    """Compiles both parts in the sandbox. `objects` are linked to the host part, with the flags of `link`.

    The device part is rewritten as C++ (engine "source"), or its PTX is translated (engine "ptx"), which needs NVIDIA's
    compiler; "auto" takes the second only where the source needs it.

    Both are compiled at the same time where the source tells which kernels there are. Where it leaves that to C++
    (templates), the host part comes first, and its stubs say which instantiations the device part must have.
    """
    compiler, base = cxx_compiler(), runtime()
    from_ptx = engine == "ptx" or (engine == "auto" and bool(split.needs))
    if from_ptx and find_nvcc() is None:
        return Libraries(Path(), split.needs or (_no_compiler(split.file),))
    if engine == "source" and split.needs:
        return Libraries(Path(), split.needs)
    sanitizers = _CHECKED_PTX if from_ptx else _CHECKED
    device_flags = (*COMMON, *_DEVICE, *(sanitizers if checked else _PLAIN))
    key = digest(
        compiler.version, str(base.folder), split.host, split.device, *device_flags, *HOST_FLAGS, str(from_ptx),
        split.whole.text if split.whole and from_ptx else "", *link,
        *(path.read_bytes() for path in (*objects, *_rewriters())),
    )  # fmt: skip
    failed: list[Finding] = []

    def device_part(folder: Path, kernels: Sequence[str]) -> list[Finding]:
        def compiled(text: str) -> list[Finding]:
            (folder / "device.cpp").write_text(text)
            return compile_part(folder, "device", device_flags, ["-lm", "-lgcc"], split.file)

        if from_ptx:
            text, findings = _translated(split, folder, kernels, ptx.result())
            found = list(findings) or compiled(text)
        else:
            found = _rewritten(split, kernels, compiled)
        return found or _foreign_calls(folder / "device.so", split)

    ptx: Future[tuple[str, tuple[Finding, ...]]] = Future()

    def make(folder: Path) -> None:
        kernels = split.instances
        with ThreadPoolExecutor(3) as pool:
            if from_ptx:
                pool.submit(lambda: ptx.set_result(_ptx(split)))
            host = pool.submit(compile_host, split, folder, objects, link)
            early = pool.submit(device_part, folder, kernels) if kernels is not None else None
            failed.extend(host.result() + (early.result() if early else []))
        if not failed:
            stubs = kernel_stubs(folder / "host.so", split.kernels)
            if kernels is None:
                kernels = tuple(stubs)
                failed.extend(device_part(folder, kernels))
            elif any(k not in stubs for k in kernels):
                stubs |= _overloaded(folder / "device.so", stubs)
            write_table(folder, kernels, stubs)
        if failed:
            raise _Failed

    try:
        folder = cached("builds", key, make)
    except _Failed:
        return Libraries(Path(), _unique(failed))
    return Libraries(folder, (), read_table(folder))


def _rewritten(
    split: Split, kernels: Sequence[str], compiled: Callable[[str], list[Finding]]
) -> list[Finding]:
    """Compiles the device part as C++. What does not compile and is the host's alone is left out."""
    for fission in (True, False):
        device: str | None = split.device
        findings: list[Finding] = []
        while device is not None:
            rewritten = rewrite(split.file, device, kernels, split.symbols, fission=fission)
            found = compiled(rewritten.text)
            if not found:
                return []
            findings = findings or found
            device = without_host_only(split.file, device, {f.line for f in found})
        # Fission takes types apart without knowing them; the plain form says whose fault it is.
        if not rewritten.fissioned:
            break
    return findings


def _ptx(split: Split) -> tuple[str, tuple[Finding, ...]]:
    assert split.whole is not None
    answer = compile_ptx(split.whole.text, split.file, split.whole.flags, split.whole.folders)
    return answer or ("", (_no_compiler(split.file),))


def _no_compiler(file: str) -> Finding:
    message = "the engine ptx needs NVIDIA's compiler"
    return Finding(rule="unsupported", message=message, file=file, remedy=COMPILER_REMEDY)


def _translated(
    split: Split, folder: Path, kernels: Sequence[str], ptx: tuple[str, tuple[Finding, ...]]
) -> tuple[str, tuple[Finding, ...]]:
    """C++ for the device part by way of PTX; the basic blocks' instructions are kept beside it."""
    text, findings = ptx
    if findings:
        return "", findings
    assert split.whole is not None
    translation = translate(parse(text, split.whole.lines), kernels, split.symbols, split.file)
    blocks = [[[line, kind, n] for (line, kind), n in b.counts.items()] for b in translation.blocks]
    (folder / "blocks.json").write_text(json.dumps(blocks))
    return translation.text, translation.findings


def _overloaded(library: Path, stubs: Mapping[str, int]) -> dict[str, int]:
    """The stubs of kernels that share their name with functions of the host, by the device's parameters."""
    answer = subprocess.run(["nm", "-C", library], capture_output=True, text=True, check=True)
    entries = _ENTRY.findall(answer.stdout)
    signatures = {name: f"{name}({parameters})" for name, parameters in entries}
    return {name: stubs[s] for name, s in signatures.items() if s in stubs}


@functools.cache
def _rewriters() -> tuple[Path, ...]:
    """Our own files that decide what the device part becomes."""
    folder = Path(str(files(__package__)))
    return (folder.parent / "cuda_source.py", *sorted(folder.rglob("*.py")))


class _Failed(Exception):
    """A part did not compile, so nothing may enter the cache."""


def _foreign_calls(library: Path, split: Split) -> list[Finding]:
    """Functions of the host that device code would call: on a GPU they do not exist."""
    answer = subprocess.run(["nm", "-D", "-u", library], capture_output=True, text=True, check=True)
    found = []
    for line in answer.stdout.splitlines():
        name = line.split()[-1].split("@")[0]
        if _RUNTIME.fullmatch(name) or name in _MEMORY or name in _MATH or name.removesuffix("f") in _MATH:
            continue
        plain = _demangled(name)
        match = re.search(rf"\b{re.escape(plain)}\b", split.device)
        before = split.device[: match.start()] if match else ""
        number = before[before.rfind("#line 1") :].count("\n") if match else 0
        message = f"device code uses {plain}, which exists only on the host"
        found.append(Finding(rule="compile-error", message=message, file=split.file, line=number, column=1))
    return found


def _demangled(name: str) -> str:
    """The function's own name in an Itanium mangled one; new and delete by their operators."""
    special = {"_Znwm": "new", "_Znam": "new", "_ZdlPv": "delete", "_ZdlPvm": "delete", "_ZdaPv": "delete"}
    if name in special:
        return special[name]
    if match := re.match(r"_ZL?(\d+)", name):
        return name[match.end() : match.end() + int(match.group(1))]
    return name


def _unique(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(dict.fromkeys(findings))[:20]
