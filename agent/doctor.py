"""Looks at what this machine has, and says what to do about what is missing."""

from __future__ import annotations

import importlib.util
import json as jsonlib
import os
import platform
import shutil
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal as OneOf

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..tools import sandbox, toolchain
from ..tools.nvcc import find_nvcc
from ..tools.records import Record
from .run import runs_folder

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY")


class Check(Record):
    """`status`: *ok*; *optional*: missing, and only some features need it; *missing*: nothing works without it."""

    name: str
    status: OneOf["ok", "optional", "missing"]
    found: str
    remedy: str = ""


def doctor(json: bool) -> int:
    """Print every check; status 3 where something is missing that nothing works without."""
    checks = [_python(), *_compilers(), _nvcc(), _gpu(), _sandbox(), *_packages(), _keys(), _runs()]
    if json:
        print(jsonlib.dumps([c.model_dump() for c in checks], indent=2))
    else:
        table = Table(box=None, padding=(0, 2, 0, 0))
        for column in ("", "", "found", "what to do"):
            table.add_column(column)
        marks = {"ok": "[green]ok[/]", "optional": "[yellow]--[/]", "missing": "[red]missing[/]"}
        for c in checks:
            table.add_row(marks[c.status], c.name, escape(c.found), escape(c.remedy))
        Console().print(table)
    return 3 if any(c.status == "missing" for c in checks) else 0


def _python() -> Check:
    return Check(name="Python", status="ok", found=f"{platform.python_version()} on {platform.machine()}")


def _compilers() -> list[Check]:
    checks = []
    for name, find in (("C compiler", toolchain.c_compiler), ("C++ compiler", toolchain.cxx_compiler)):
        try:
            compiler = find()
            checks.append(Check(name=name, status="ok", found=f"{compiler.path} ({compiler.version})"))
        except toolchain.MissingCompiler as error:
            checks.append(Check(name=name, status="missing", found="none", remedy=str(error)))
    return checks


def _nvcc() -> Check:
    nvcc = find_nvcc()
    if nvcc is None:
        remedy = "optional, for registers, spills and the target's own errors: CUDA toolkit, on PATH or in CUDA_HOME"
        return Check(name="nvcc", status="optional", found="none", remedy=remedy)
    said = subprocess.run(
        [str(nvcc), "--version"], capture_output=True, text=True, timeout=20, check=False
    ).stdout
    release = next((line.strip() for line in said.splitlines() if "release" in line), "")
    return Check(name="nvcc", status="ok", found=f"{nvcc} ({release})")


def _gpu() -> Check:
    tool = shutil.which("nvidia-smi")
    if tool is not None:
        query = [tool, "--query-gpu=name,driver_version", "--format=csv,noheader"]
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=False)
        if done.returncode == 0 and done.stdout.strip():
            remedy = "not used yet: candidates run on the CPU device"
            return Check(name="GPU", status="ok", found=done.stdout.strip().splitlines()[0], remedy=remedy)
    remedy = "optional: kernels run, are checked and are measured on the CPU; times are estimates"
    return Check(name="GPU", status="optional", found="none", remedy=remedy)


def _sandbox() -> Check:
    try:
        protections = sandbox.probe()
    except toolchain.MissingCompiler:
        return Check(name="sandbox", status="missing", found="none", remedy="it is built with the C compiler")
    missing = [name for name in sandbox.PROTECTIONS if name not in protections]
    found = ", ".join(protections)
    remedy = f"not in force here: {', '.join(missing)}" if missing else ""
    return Check(name="sandbox", status="optional" if missing else "ok", found=found, remedy=remedy)


def _packages() -> list[Check]:
    checks = []
    for module, extra, what in (
        ("litellm", "llm", "hosted language models"),
        ("torch", "torch", "PyTorch models"),
        ("cupy", "cuda", "the CUDA device"),
    ):
        if importlib.util.find_spec(module) is None:
            remedy = f"optional, for {what}: pip install 'cudaperf-agent[{extra}]'"
            checks.append(Check(name=module, status="optional", found="none", remedy=remedy))
            continue
        try:
            found = version(module)
        except PackageNotFoundError:
            found = "installed"
        checks.append(Check(name=module, status="ok", found=found, remedy=f"{what} are not supported yet"))
    return checks


def _keys() -> Check:
    present = [k for k in KEYS if os.environ.get(k)]
    if present:
        return Check(name="API keys", status="ok", found=", ".join(present))
    return Check(
        name="API keys", status="optional", found="none", remedy="optional: the built-in policy needs none"
    )


def _runs() -> Check:
    folder = runs_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        remedy = f"{error.strerror}: set CUDAPERF_HOME to a folder that you can write"
        return Check(name="runs", status="missing", found=str(folder), remedy=remedy)
    return Check(
        name="runs", status="ok", found=f"{folder} ({len(list(Path(folder).glob('*/events.jsonl')))} runs)"
    )
