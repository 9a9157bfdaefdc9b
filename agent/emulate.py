"""`emulate`: a whole CUDA program on the CPU, checked and traced: no GPU, and nothing to change in the program."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast, get_args

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..tools.cpu.build import Engine
from ..tools.cpu.device import CpuDevice
from ..tools.device import Checks, KernelCounts, ProgramRun
from ..tools.output import difference
from ..tools.program import PreprocessorError, Program, read_program
from ..tools.records import Finding
from .narration import shown_path
from .port import UsageError

CHECKERS = ("bounds", "races", "uninitialized", "barriers", "schedules")
TRACED_BLOCKS = 256


def emulate(
    sources: Sequence[Path],
    arguments: Sequence[str],
    *,
    includes: Sequence[Path],
    macros: Sequence[str],
    engine: str,
    check: str,
    trace: bool,
    seconds: float,
    json: bool,
) -> int:
    """Runs the program; its own exit status where nothing is found, 1 where the checkers or the device object."""
    for path in sources:
        if path.suffix not in (".cu", ".cpp", ".cc", ".cxx", ".c"):
            raise UsageError(f"{path}: not a CUDA or C++ source")
    wanted = _checkers(check)
    if engine not in get_args(Engine):
        raise UsageError(f"--engine {engine}: use {', '.join(get_args(Engine))}")
    device = CpuDevice(cast(Engine, engine))
    try:
        program = read_program(sources, includes, macros)
    except PreprocessorError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from error
    checks = Checks(
        bounds="bounds" in wanted,
        races="races" in wanted,
        uninitialized="uninitialized" in wanted,
        barriers="barriers" in wanted,
        trace_blocks=TRACED_BLOCKS if trace else 0,
    )

    def run(checks: Checks, captured: bool) -> ProgramRun:
        readable = [p.parent for a in arguments if (p := Path(a).absolute()).exists()]
        return device.emulate(
            program, arguments, seconds, checks, Path.cwd(), readable=readable, captured=captured
        )

    ran = run(checks, json)
    findings = ran.findings
    if "schedules" in wanted and ran.failure is None:
        findings += _schedules(run, program)
    if json:
        print(ran.model_copy(update={"findings": findings}).model_dump_json())
    else:
        _narrate(ran, findings, trace)
    if ran.failure is not None or any(f.severity == "error" for f in findings):
        return 1
    return ran.status or 0


def _checkers(check: str) -> frozenset[str]:
    names = [] if check == "none" else list(CHECKERS) if check == "all" else check.split(",")
    unknown = next((n for n in names if n not in CHECKERS), None)
    if unknown is not None:
        raise UsageError(f"--check {unknown}: use {', '.join(CHECKERS)}, all or none")
    return frozenset(names)


def _schedules(run: Callable[[Checks, bool], ProgramRun], program: Program) -> tuple[Finding, ...]:
    """Whether the output depends on the order of blocks and threads; words that change by themselves are left out."""
    plain = [run(Checks(), True) for _ in range(2)]
    for order in ("reverse", "shuffled"):
        other = run(dataclasses.replace(Checks(), order=order), True)
        found = difference([r.stdout for r in plain], other.stdout)
        if found is None and other.status != plain[0].status:
            found = f"exit status {other.status} instead of {plain[0].status}"
        if found is not None:
            message = f"with blocks and threads in {order} order the output differs: {found}"
            return (Finding(rule="schedule-dependent", message=message, file=str(program.files[0])),)
    return ()


def _narrate(ran: ProgramRun, findings: Sequence[Finding], trace: bool) -> None:
    sys.stdout.flush()
    console = Console(stderr=True)
    for finding in findings:
        place = shown_path(finding.file) if finding.file else ""
        where = ":".join(str(p) for p in (place, finding.line, finding.column) if p)
        colour = "red" if finding.severity == "error" else "yellow"
        remedy = f" ({finding.remedy})" if finding.remedy else ""
        message = _shortened(f"{finding.message}{remedy}", finding)
        console.print(
            f"{escape(where)}: [{colour}]{finding.rule}[/]: {escape(message)}",
            highlight=False,
            soft_wrap=True,
        )
    if ran.failure is not None and not findings:
        console.print(f"the program ended: {ran.failure}", highlight=False)
    if trace:
        for counts in ran.counts:
            console.print(_table(counts))
            if counts.operations is not None:
                console.print(_operations(counts))


def _shortened(message: str, finding: Finding) -> str:
    """The message with the source's path as it is shown elsewhere."""
    return message.replace(finding.file, shown_path(finding.file)) if finding.file else message


def _table(counts: KernelCounts) -> Table:
    title = (
        f"{counts.kernel}: {counts.launches} launches, {counts.threads} threads, "
        f"{counts.barriers_per_thread:g} barriers a thread, {counts.unique_bytes} bytes touched"
    )
    table = Table(
        "place",
        "access",
        "bytes",
        "requests",
        "per request",
        "ideal",
        "lanes",
        title=title,
        title_justify="left",
    )
    for access in sorted(counts.accesses, key=lambda a: (a.file, a.line)):
        requests = max(access.requests, 1)
        table.add_row(
            f"{shown_path(access.file)}:{access.line}",
            f"{access.space} {access.operation}",
            str(access.bytes_per_thread),
            str(access.requests),
            f"{access.sectors / requests:.2f} {'sectors' if access.space == 'global' else 'wavefronts'}",
            f"{access.ideal_sectors / requests:.2f}",
            f"{access.lanes / requests:.1f}",
        )
    return table


def _operations(counts: KernelCounts) -> Table:
    """Instructions by class over the kernel's launches, with the mean of active lanes."""
    table = Table("instructions", "threads", "warps", "active lanes", title_justify="left")
    for kind in sorted({o.type for o in counts.operations or ()}):
        lanes = sum(o.lanes for o in counts.operations or () if o.type == kind)
        warps = sum(o.warps for o in counts.operations or () if o.type == kind)
        table.add_row(kind, str(lanes), str(warps), f"{lanes / max(warps, 1):.1f}")
    return table
