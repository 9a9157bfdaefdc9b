"""The CPU as a device: builds candidates into shared libraries and runs them, checked, in a sandboxed process."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..device import (
    AccessCount,
    Build,
    Case,
    Checks,
    CompileResult,
    Execution,
    Failure,
    KernelCounts,
    Launch,
    ProgramRun,
)
from ..launcher import Split, split, split_program
from ..records import Candidate, Finding, FunctionSpec
from ..toolchain import cxx_compiler
from .build import Libraries, build
from .process import Event, Harness, Outcome, layout

_WORST_FIRST: tuple[Failure, ...] = (
    "out-of-bounds", "misaligned-access", "race", "uninitialized-read", "launch-error", "out-of-memory",
)  # fmt: skip


@dataclass(frozen=True)
class CpuBuild:
    """A candidate compiled for the CPU."""

    result: CompileResult
    function: FunctionSpec
    split: Split
    libraries: Libraries
    checked: bool


class CpuDevice:
    """Runs CUDA kernels on the CPU. It tells what is right, never how fast a GPU is."""

    name = "cpu"
    # Kernels with barriers run up to a hundred times slower here than the original does.
    large_seconds = 0.02
    large_bytes = 8 << 20

    def build(self, function: FunctionSpec, candidate: Candidate, *, checked: bool) -> CpuBuild:
        begin = time.monotonic()
        parts = split(function, candidate)
        libraries = Libraries(Path(), parts.findings)
        if not parts.findings:
            libraries = build(parts, checked=checked)
        result = CompileResult(
            ok=not libraries.findings,
            diagnostics=libraries.findings,
            kernels=libraries.kernels,
            compiler=cxx_compiler().version,
            seconds=time.monotonic() - begin,
        )
        return CpuBuild(result, function, parts, libraries, checked)

    def run(self, build: Build, cases: Sequence[Case], checks: Checks) -> tuple[Execution, ...]:
        assert isinstance(build, CpuBuild) and build.result.ok
        watched = checks.bounds or checks.races or checks.uninitialized or checks.trace_blocks
        if watched and not build.checked:
            raise ValueError("bounds, races, uninitialized reads and counts need a build with checked=True")
        size = max((layout(case, i)[1] for i, case in enumerate(cases)), default=0)
        harness: Harness | None = None
        outcomes = []
        try:
            for i, case in enumerate(cases):
                if harness is None:
                    budget = sum(c.seconds for c in cases[i:]) + 10
                    harness = Harness(build.libraries, buffer_bytes=size, cpu_seconds=budget)
                outcome = harness.run(build.function, case, checks, i)
                outcomes.append(outcome)
                if not outcome.events or outcome.events[-1]["event"] != "end":
                    harness.close()
                    harness = None
        finally:
            if harness is not None:
                harness.close()
        places = _Places(build.libraries.folder, build.split.file, [o.events for o in outcomes])
        return tuple(_execution(build, c, o, places) for c, o in zip(cases, outcomes, strict=True))

    def run_program(
        self,
        source: str,
        objects: Sequence[Path],
        arguments: Sequence[str],
        seconds: float,
        writable: Sequence[Path] = (),
    ) -> ProgramRun:
        parts = split_program("program.cu", source)
        libraries = Libraries(Path(), parts.findings)
        if not parts.findings:
            libraries = build(parts, checked=False, objects=objects)
        if libraries.findings:
            return ProgramRun(failure="compile", findings=libraries.findings)
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            tempfile.TemporaryDirectory(prefix="cudaperf-") as folder,
        ):
            harness = Harness(
                libraries,
                cpu_seconds=seconds,
                program=("program", *arguments),
                output=(out, err),
                folder=Path(folder),
                writable=(Path(folder), *writable),
            )
            outcome = Outcome()
            try:
                for event in harness.events(time.monotonic() + seconds):
                    if event is None:
                        outcome.timed_out = True
                    else:
                        outcome.events.append(event)
            finally:
                harness.close()
            places = _Places(libraries.folder, parts.file, [outcome.events])
            out.seek(0)
            err.seek(0)
            ended = next((e for e in outcome.events if e["event"] == "exit"), None)
            failure = _failure(outcome)
            if ended is not None and failure == "crash":
                failure = None if ended["signal"] == 0 else "crash"
            return ProgramRun(
                failure=failure,
                findings=tuple(places.finding(e) for e in outcome.events if e["event"] == "finding"),
                stdout=out.read(1 << 24).decode(errors="replace"),
                stderr=err.read(1 << 20).decode(errors="replace"),
                status=ended["status"] if ended and ended["signal"] == 0 else None,
            )


def _execution(build: CpuBuild, case: Case, outcome: Outcome, places: _Places) -> Execution:
    names = build.libraries.kernels
    events = outcome.events
    findings = [places.finding(e) for e in events if e["event"] == "finding"]
    failure = _failure(outcome)
    if failure == "timeout":
        findings.append(_timeout(case, names, outcome.running_kernel, build.split.file))
    elif failure == "crash" and not findings:
        message = "the process ended without a word (killed by a limit on time or memory?)"
        findings.append(Finding(rule="crash", message=message, file=build.split.file))
    return Execution(
        case=case.name,
        failure=failure,
        findings=tuple(dict.fromkeys(findings)),
        arrays=outcome.arrays,
        damaged=outcome.damaged,
        launches=tuple(_launch(names, e) for e in events if e["event"] == "launch"),
        counts=tuple(_counts(names, e, places) for e in events if e["event"] == "counts"),
        seconds=outcome.seconds,
    )


def _failure(outcome: Outcome) -> Failure | None:
    if outcome.timed_out:
        return "timeout"
    rules = {e["rule"] for e in outcome.events if e["event"] == "finding" and e["severity"] == "error"}
    for failure in _WORST_FIRST:
        if failure in rules:
            return failure
    last = outcome.events[-1] if outcome.events else {"event": "none"}
    if last["event"] == "failure":
        failures: tuple[Failure, ...] = get_args(Failure)
        return next(f for f in failures if f == last["kind"])
    return None if last["event"] in ("end", "exit") else "crash"


def _timeout(case: Case, names: Sequence[str], running: int, file: str) -> Finding:
    where = "in the launcher" if running < 0 else f"in the kernel {names[running]}"
    message = f"no end after {case.seconds:g} s {where}: an endless loop, or threads that wait for each other"
    return Finding(rule="timeout", message=message, file=file)


def _launch(names: Sequence[str], event: Event) -> Launch:
    return Launch(
        kernel=names[event["kernel"]],
        grid=tuple(event["grid"]),
        block=tuple(event["block"]),
        shared_bytes=event["shared"],
        static_shared_bytes=event["static"],
        error=event["error"],
    )


def _counts(names: Sequence[str], event: Event, places: _Places) -> KernelCounts:
    kernel = names[event["kernel"]]
    accesses = tuple(
        AccessCount(
            kernel=kernel,
            space=a["space"],
            operation=a["operation"],
            bytes_per_thread=a["bytes"],
            file=places.file,
            line=places.line(a["site"]),
            requests=round(a["requests"]),
            lanes=round(a["lanes"]),
            sectors=round(a["sectors"]),
            ideal_sectors=round(a["ideal"]),
        )
        for a in event["accesses"]
    )
    return KernelCounts(
        kernel=kernel,
        launches=event["launches"],
        threads=event["threads"],
        barriers_per_thread=event["barriers"],
        unique_bytes=event["unique"],
        block_unique_bytes=event["block_unique"],
        accesses=accesses,
    )


class _Places:
    """Lines of the candidate for return addresses in its libraries, looked up all at once."""

    def __init__(self, folder: Path, file: str, runs: Sequence[Sequence[Event]]) -> None:
        self.file = file
        sites = set()
        for event in (e for events in runs for e in events):
            if event["event"] == "finding":
                sites.update(event["sites"])
            elif event["event"] == "counts":
                sites.update(a["site"] for a in event["accesses"])
        self._lines = _lines_of(folder / "device.so", file, sorted(sites))
        host = {e["host_site"] for events in runs for e in events if "host_site" in e}
        self._host_lines = _lines_of(folder / "host.so", file, sorted(host))

    def line(self, site: int) -> int:
        return self._lines.get(site, 0)

    def finding(self, event: Event) -> Finding:
        message = event["message"]
        for i, site in enumerate(event["sites"]):
            message = message.replace(f"{{{i}}}", f"{self.file}:{self.line(site)}")
        line = event["line"] or (self.line(event["sites"][0]) if event["sites"] else 0)
        if "host_site" in event:
            line = self._host_lines.get(event["host_site"], 0)
        return Finding(
            rule=event["rule"],
            severity=event["severity"],
            message=message,
            file=self.file,
            line=line,
            column=int(line > 0),
        )


def _lines_of(library: Path, file: str, sites: Sequence[int]) -> dict[int, int]:
    program = shutil.which("addr2line")
    if not sites or program is None:
        return {}
    addresses = [hex(site - 1) for site in sites]
    answer = subprocess.run(
        [program, "-a", "-i", "-e", library, *addresses], capture_output=True, text=True, check=True
    )
    lines: dict[int, int] = {}
    site = 0
    for line in answer.stdout.splitlines():
        if line.startswith("0x"):
            site = int(line, 16) + 1
        elif site not in lines and (m := re.match(r"(.*):(\d+)", line)) and m[1].endswith(file):
            lines[site] = int(m[2])
    return lines
