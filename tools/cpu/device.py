"""The CPU as a device: builds candidates into shared libraries and runs them, checked, in a sandboxed process."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, get_args

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
    OperationCount,
    ProgramRun,
)
from ..launcher import Split, split, split_program
from ..program import NAME, Program
from ..records import Candidate, Finding, FunctionSpec
from ..toolchain import cxx_compiler
from .build import Engine, Libraries, build
from .places import Places
from .process import STATUS_BYTES, Event, Harness, Outcome, layout

_Count = TypeVar("_Count", AccessCount, OperationCount)
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
    large_seconds = 0.05
    large_bytes = 8 << 20

    def __init__(self, engine: Engine = "auto") -> None:
        self.engine = engine

    def build(self, function: FunctionSpec, candidate: Candidate, *, checked: bool) -> CpuBuild:
        begin = time.monotonic()
        parts = split(function, candidate)
        libraries = Libraries(Path(), parts.findings)
        if not parts.findings:
            libraries = build(parts, checked=checked, engine=self.engine)
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
        if _watched(checks) and not build.checked:
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
        places = Places(build.libraries.folder, build.split.file, [o.events for o in outcomes])
        return tuple(_execution(build, c, o, places) for c, o in zip(cases, outcomes, strict=True))

    def run_program(
        self,
        source: str,
        objects: Sequence[Path],
        arguments: Sequence[str],
        seconds: float,
        writable: Sequence[Path] = (),
        link: Sequence[str] = (),
    ) -> ProgramRun:
        parts = split_program(NAME, source)
        with tempfile.TemporaryDirectory(prefix="cudaperf-") as folder:
            return _run(
                self.engine,
                parts,
                objects,
                arguments,
                seconds,
                Checks(),
                Path(folder),
                (Path(folder), *writable),
                False,
                link=link,
            )

    def emulate(
        self,
        program: Program,
        arguments: Sequence[str],
        seconds: float,
        checks: Checks,
        folder: Path,
        *,
        readable: Sequence[Path] = (),
        captured: bool = False,
    ) -> ProgramRun:
        """Runs a whole program with its own `main` in `folder`, which it may read and write.

        Its output is captured, or goes where ours goes. Findings have their places in the program's own files.
        """
        parts = split_program(NAME, program.host, program.device, program.whole)
        ran = _run(
            self.engine, parts, (), arguments, seconds, checks, folder, (folder,), not captured, readable
        )
        counts = tuple(_placed_counts(c, program) for c in ran.counts)
        findings = tuple(map(program.placed, ran.findings))
        return ran.model_copy(update={"findings": findings, "counts": counts})


def _run(
    engine: Engine,
    parts: Split,
    objects: Sequence[Path],
    arguments: Sequence[str],
    seconds: float,
    checks: Checks,
    folder: Path,
    writable: Sequence[Path],
    direct: bool,
    readable: Sequence[Path] = (),
    link: Sequence[str] = (),
) -> ProgramRun:
    """Builds and runs a program; `direct`: its standard streams are ours."""
    libraries = Libraries(Path(), parts.findings)
    if not parts.findings:
        libraries = build(parts, checked=_watched(checks), objects=objects, link=link, engine=engine)
    if libraries.findings:
        return ProgramRun(failure="compile", findings=libraries.findings)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        harness = Harness(
            libraries,
            buffer_bytes=STATUS_BYTES,
            cpu_seconds=seconds,
            program=("program", *arguments),
            checks=checks,
            standard=(None, None, None) if direct else (subprocess.DEVNULL, out, err),
            folder=folder,
            readable=readable,
            writable=writable,
        )
        outcome = Outcome()
        try:
            for event in harness.events(time.monotonic() + seconds):
                if event is None:
                    outcome.timed_out = True
                    outcome.running_kernel = harness.running_kernel()
                else:
                    outcome.events.append(event)
        finally:
            harness.close()
        out.seek(0)
        err.seek(0)
        stdout, stderr = (f.read(1 << 24).decode(errors="replace") for f in (out, err))
    events = outcome.events
    places = Places(libraries.folder, parts.file, [events])
    findings = [places.finding(e) for e in events if e["event"] == "finding"]
    ended = next((e for e in events if e["event"] == "exit"), None)
    failure = _failure(outcome)
    if outcome.timed_out:
        findings.append(
            _timeout(seconds, "the program", libraries.kernels, outcome.running_kernel, parts.file)
        )
    elif ended is not None and failure == "crash":
        failure = None if ended["signal"] == 0 else "crash"
    return ProgramRun(
        failure=failure,
        findings=tuple(dict.fromkeys(findings)),
        launches=tuple(_launch(libraries.kernels, e) for e in events if e["event"] == "launch"),
        counts=_all_counts(libraries, events, places),
        stdout=stdout,
        stderr=stderr,
        status=ended["status"] if ended and ended["signal"] == 0 else None,
    )


def _placed_counts(counts: KernelCounts, program: Program) -> KernelCounts:
    def placed(count: _Count) -> _Count:
        file, line = program.place(count.line)
        return count.model_copy(update={"file": str(file), "line": line})

    operations = None if counts.operations is None else tuple(map(placed, counts.operations))
    return counts.model_copy(
        update={"accesses": tuple(map(placed, counts.accesses)), "operations": operations}
    )


def _watched(checks: Checks) -> bool:
    return checks.bounds or checks.races or checks.uninitialized or checks.trace_blocks > 0


def _execution(build: CpuBuild, case: Case, outcome: Outcome, places: Places) -> Execution:
    names = build.libraries.kernels
    events = outcome.events
    findings = [places.finding(e) for e in events if e["event"] == "finding"]
    failure = _failure(outcome)
    if failure == "timeout":
        running = outcome.running_kernel
        findings.append(_timeout(case.seconds, "the launcher", names, running, build.split.file))
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
        counts=_all_counts(build.libraries, events, places),
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


def _timeout(seconds: float, host: str, names: Sequence[str], running: int, file: str) -> Finding:
    where = f"in {host}" if running < 0 else f"in the kernel {names[running]}"
    message = f"no end after {seconds:g} s {where}: an endless loop, or threads that wait for each other"
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


def _all_counts(libraries: Libraries, events: Sequence[Event], places: Places) -> tuple[KernelCounts, ...]:
    executed = {e["kernel"]: e["blocks"] for e in events if e["event"] == "executions"}
    found = []
    for event in (e for e in events if e["event"] == "counts"):
        counts = _counts(libraries.kernels, event, places)
        if event["kernel"] in executed:
            operations = _operations(libraries.folder, executed[event["kernel"]], places.file)
            counts = counts.model_copy(update={"operations": operations})
        found.append(counts)
    return tuple(found)


def _operations(folder: Path, executed: Sequence[Sequence[int]], file: str) -> tuple[OperationCount, ...]:
    """What basic blocks executed, by line and class of instruction."""
    blocks = json.loads((folder / "blocks.json").read_text())
    totals: dict[tuple[int, str], list[int]] = {}
    for number, lanes, warps in executed:
        for line, kind, count in blocks[number]:
            total = totals.setdefault((line, kind), [0, 0])
            total[0] += count * lanes
            total[1] += count * warps
    return tuple(
        OperationCount(file=file, line=line, type=kind, lanes=lanes, warps=warps)
        for (line, kind), (lanes, warps) in sorted(totals.items())
    )


def _counts(names: Sequence[str], event: Event, places: Places) -> KernelCounts:
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
