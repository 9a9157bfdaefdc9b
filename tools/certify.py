"""Checks what is delivered, not only what was tested on the way: fresh secret inputs, the drop-in itself called
with the original signature, NVIDIA's compiler where there is one, and the whole program's output.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal as OneOf

from .c.build import CompileError, build_objects, build_program
from .call import call_unit
from .correctness import compare, verify
from .device import Checks, Device
from .dropin import files
from .nvcc import compile_delivered
from .oracle import HARNESS, Expectation, compile_flags, link_flags, read_case, write_case
from .output import difference
from .records import Candidate, Record, Task
from .suite import Suite

PROGRAM_SECONDS = 120.0


class DeliveryCheck(Record):
    name: str
    result: OneOf["passed", "failed", "skipped"]
    message: str = ""


class Certificate(Record):
    """Every check of the delivered files, in the order in which they ran."""

    checks: tuple[DeliveryCheck, ...]

    @property
    def refuted(self) -> str | None:
        """The first check that failed, in words."""
        failed = next((c for c in self.checks if c.result == "failed"), None)
        return f"{failed.name}: {failed.message}" if failed is not None else None


def certify(
    device: Device,
    task: Task,
    candidate: Candidate,
    arch: str,
    seed: int,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Certificate:
    """Run every check; `seed` must be one that no candidate was tested with."""
    suite = Suite(task, seed, device, progress)
    delivered = files(task, candidate, arch)
    checks = [
        _fresh_inputs(device, task, candidate, suite),
        drop_in_called(device, task, delivered, suite.screen + suite.accept[-3:]),
        _target_compiler(task, delivered, arch),
    ]
    if task.has_main:
        checks.append(_program(device, task, delivered))
    return Certificate(checks=tuple(checks))


def _fresh_inputs(device: Device, task: Task, candidate: Candidate, suite: Suite) -> DeliveryCheck:
    name = "fresh inputs, shuffled schedule, bounds and races"
    build = device.build(task.function, candidate, checked=True)
    checks = Checks(bounds=True, races=True, order="shuffled")
    report = verify(device, build, task.function, suite.accept, checks, "certify")
    return DeliveryCheck(name=name, result="passed" if report.right else "failed", message=report.message)


def drop_in_called(
    device: Device, task: Task, delivered: dict[str, str], expectations: Sequence[Expectation]
) -> DeliveryCheck:
    """Call the delivered function through its original signature, from C, with host pointers."""
    name = "drop-in called with the original signature"
    names = [p.name for p in task.function.parameters]
    unit = call_unit(task, delivered[f"{task.name}.host.c"], {}, dump=False)
    shown = "#pragma GCC visibility push(default)"
    harness = f"{shown}\n#define main cudaperf_program_main\n{HARNESS.read_text()}"
    try:
        objects = build_objects(
            [("call.c", unit), ("harness.c", harness)],
            ["-O1", "-w", "-ffunction-sections", "-fvisibility=hidden", *_include_flags(task)],
            [Path(s) for s in task.sources],
        )
    except CompileError as error:
        return DeliveryCheck(name=name, result="failed", message=str(error))
    for expectation in expectations:
        message = _call(device, task, delivered, objects, expectation, names)
        if message is not None:
            return DeliveryCheck(name=name, result="failed", message=f"{expectation.case.name}: {message}")
    return DeliveryCheck(name=name, result="passed", message=f"{len(expectations)} configurations right")


def _call(device, task, delivered, objects, expectation: Expectation, names: list[str]) -> str | None:
    with tempfile.TemporaryDirectory(prefix="cudaperf-call-") as folder:
        path = Path(folder) / "case"
        write_case(path, task, expectation.case, names)
        source = _one_text(task, delivered)
        ran = device.run_program(
            source, objects, [str(path), "1"], expectation.case.seconds, [Path(folder)], link_flags(task)
        )
        if ran.failure is not None or ran.status != 0:
            found = f": {ran.findings[0]}" if ran.findings else ""
            return f"{ran.failure or f'exit status {ran.status}'}{found} {ran.stderr[-200:].strip()}".strip()
        _, arrays = read_case(path, task, expectation.case, names)
        report, message = compare(task.function, expectation, arrays)
        return None if report.verdict == "right" else message


def _target_compiler(task: Task, delivered: dict[str, str], arch: str) -> DeliveryCheck:
    name = f"nvcc -arch={arch}"
    found = compile_delivered(task.name, delivered, arch)
    if found is None:
        return DeliveryCheck(name=name, result="skipped", message="no nvcc here")
    errors = [f for f in found if f.severity == "error"]
    return DeliveryCheck(
        name=name, result="failed" if errors else "passed", message=str(errors[0]) if errors else ""
    )


def _program(device: Device, task: Task, delivered: dict[str, str]) -> DeliveryCheck:
    """The output and the status of the original program, run three times, and of the ported one."""
    name = "output of the whole program"
    flags = ["-w", *_include_flags(task)]
    sources = [Path(s) for s in task.sources]
    try:
        originals = [
            build_program([("original.c", task.source)], [level, *flags], sources, ["-lm", *link_flags(task)])
            for level in ("-O2", "-O2", "-O3")
        ]
        host = f"#define main cudaperf_program_main\n{delivered[f'{task.name}.host.c']}"
        objects = build_objects([("host.c", host)], ["-O2", *flags], sources)
    except CompileError as error:
        return DeliveryCheck(name=name, result="failed", message=str(error))
    with tempfile.TemporaryDirectory(prefix="cudaperf-program-") as folder:
        runs = [run for program in originals if (run := _run(program, Path(folder))) is not None]
        if len(runs) < len(originals):
            return DeliveryCheck(
                name=name, result="skipped", message="the original program does not end by itself"
            )
        ported = device.run_program(
            _one_text(task, delivered), objects, [], PROGRAM_SECONDS, [], link_flags(task)
        )
    if ported.failure is not None:
        found = f": {ported.findings[0]}" if ported.findings else ""
        return DeliveryCheck(
            name=name, result="failed", message=f"{ported.failure}{found} {ported.stderr[-200:]}".strip()
        )
    if ported.status != runs[0][0]:
        message = f"exit status {ported.status} instead of {runs[0][0]}"
        return DeliveryCheck(name=name, result="failed", message=message)
    differing = difference([output for _, output in runs], ported.stdout)
    if differing is not None:
        return DeliveryCheck(name=name, result="failed", message=differing)
    count = len(runs[0][1].split())
    return DeliveryCheck(
        name=name, result="passed", message=f"{count} words agree" if count else "it prints nothing"
    )


def _run(program: Path, folder: Path) -> tuple[int, str] | None:
    try:
        done = subprocess.run(
            [str(program)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROGRAM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout.decode(errors="replace")


def _include_flags(task: Task) -> list[str]:
    return [f"-iquote{Path(task.path).resolve().parent}", *compile_flags(task)]


def _one_text(task: Task, delivered: dict[str, str]) -> str:
    """The drop-in as one text: instead of its header, the types that it takes from there."""
    include = f'#include "{task.name}.h"\n'
    types = f"{task.function.prelude}\nstruct CUstream_st;\n"
    return delivered[f"{task.name}.cu"].replace(include, types, 1)
