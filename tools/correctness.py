"""Differential testing of a candidate against the original.

Tolerance is not a guess: a candidate may err against the most precise variant as much as the original's own
variants do, times `ERROR_FACTOR`, plus `ROUNDINGS` units of rounding of the output's RMS. Integers must match exactly
where all variants agree; where they differ, at most as many elements may deviate as the variants deviate in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal as OneOf

import numpy as np

from .device import Build, Case, Checks, Device, Execution, Failure
from .oracle import Expectation
from .records import Finding, FunctionSpec, Record

ERROR_FACTOR = 4.0
ROUNDINGS = 8.0
FIRST_WRONG = 4
# What a launcher may write by copies of single values, without a kernel.
HOST_ELEMENTS = 8

Tier = OneOf["screen", "accept", "certify"]

Verdict = OneOf[
    "right", "wrong-result", "unwritten-output", "stray-write", "input-changed", "no-kernel", Failure
]


class WrongElement(Record):
    """An element that differs too much; values as text, since they may be NaN, huge integers or structs."""

    array: str
    index: tuple[int, ...]
    expected: str
    got: str


class CaseReport(Record):
    """`error` is the largest deviation from the reference and `allowed` the tolerance, both over the output's RMS."""

    case: str
    verdict: Verdict
    error: float | None = None
    allowed: float | None = None
    wrong: tuple[WrongElement, ...] = ()
    wrong_count: int = 0


class TestReport(Record):
    """The verdict on one tier; `message` one sentence. `kernels` are those seen to launch."""

    __test__ = False

    tier: Tier
    verdict: Verdict
    message: str
    cases: tuple[CaseReport, ...] = ()
    findings: tuple[Finding, ...] = ()
    kernels: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return self.tier != "screen" and self.verdict == "right"


def verify(
    device: Device,
    build: Build,
    function: FunctionSpec,
    expectations: Sequence[Expectation],
    checks: Checks,
    tier: Tier,
) -> TestReport:
    """Run a candidate on every case and compare. The first failure decides; what passed before it is kept."""
    executions = device.run(build, [e.case for e in expectations], checks)
    reports: list[CaseReport] = []
    kernels: dict[str, None] = {}
    warnings: list[Finding] = []
    for expectation, execution in zip(expectations, executions, strict=True):
        kernels.update((launch.kernel, None) for launch in execution.launches if not launch.error)
        report, message = judge(function, expectation, execution)
        reports.append(report)
        warnings += execution.findings
        if report.verdict != "right":
            return TestReport(
                tier=tier,
                verdict=report.verdict,
                message=f"{expectation.case.name}: {message}",
                cases=tuple(reports),
                findings=execution.findings,
                kernels=tuple(kernels),
            )
    return TestReport(
        tier=tier,
        verdict="right",
        message=f"{len(reports)} configurations right",
        cases=tuple(reports),
        findings=tuple(dict.fromkeys(warnings)),
        kernels=tuple(kernels),
    )


def judge(function: FunctionSpec, expectation: Expectation, execution: Execution) -> tuple[CaseReport, str]:
    """The verdict on one execution, and a sentence about it."""
    name = expectation.case.name
    empty = _is_empty(expectation.case)
    if execution.failure is not None and not (empty and execution.failure == "launch-error"):
        reason = execution.findings[0].message if execution.findings else _FAILURES[execution.failure]
        return CaseReport(case=name, verdict=execution.failure), reason
    if execution.damaged:
        return (
            CaseReport(case=name, verdict="out-of-bounds"),
            f"bytes before or behind {', '.join(execution.damaged)} were overwritten",
        )
    launched = any(not launch.error for launch in execution.launches)
    if not launched and _written(expectation) > HOST_ELEMENTS:
        return CaseReport(case=name, verdict="no-kernel"), "no kernel was launched"
    return compare(function, expectation, execution.arrays)


def compare(
    function: FunctionSpec, expectation: Expectation, arrays: Mapping[str, np.ndarray]
) -> tuple[CaseReport, str]:
    """The verdict on what a call left in its buffers, and a sentence about it."""
    name = expectation.case.name
    for p in function.arrays:
        if p.role == "in" and expectation.case.arrays[p.name].tobytes() != arrays[p.name].tobytes():
            return CaseReport(case=name, verdict="input-changed"), f"the input {p.name} was changed"
    worst = CaseReport(case=name, verdict="right", error=0.0, allowed=0.0)
    for p in function.arrays:
        if p.role == "in":
            continue
        report, message = _compare(p.name, expectation, arrays[p.name])
        if report.verdict != "right":
            return report, message
        if (report.error or 0.0) >= (worst.error or 0.0):
            worst = report
    return worst, ""


_FAILURES = {
    "timeout": "it did not end in time",
    "crash": "the process died",
    "host-access": "the launcher used a device pointer on the host",
    "launch-error": "a launch failed",
    "out-of-bounds": "a kernel left its buffers",
    "race": "two threads race",
    "barrier-divergence": "not every thread reaches the same barrier",
    "out-of-memory": "it asks for more memory than there is",
}


def _compare(name: str, expectation: Expectation, got: np.ndarray) -> tuple[CaseReport, str]:
    """Compare one array, struct fields one by one."""
    before = expectation.case.arrays[name]
    variants = {k: v[name] for k, v in expectation.variants.items()}
    return _compare_fields(
        name,
        expectation.case.name,
        before,
        expectation.expected[name],
        expectation.reference[name],
        variants,
        got,
    )


def _compare_fields(label, case, before, expected, reference, variants, got) -> tuple[CaseReport, str]:
    if expected.dtype.names:
        worst = CaseReport(case=case, verdict="right", error=0.0, allowed=0.0)
        for field in expected.dtype.names:
            report, message = _compare_fields(
                f"{label}.{field}",
                case,
                before[field],
                expected[field],
                reference[field],
                {k: v[field] for k, v in variants.items()},
                got[field],
            )
            if report.verdict != "right":
                return report, message
            if (report.error or 0.0) >= (worst.error or 0.0):
                worst = report
        return worst, ""
    untouched = _equal_bits(expected, before)
    changed = untouched & ~_equal_bits(got, expected)
    missing = ~untouched & _equal_bits(got, before) & ~_equal_bits(got, expected)
    if expected.dtype.kind == "f":
        # A written value may round to what stood there before, so only poison shows that nothing was written.
        changed &= ~np.isfinite(before)
        bad, error, allowed = _floats(expected, reference, variants, got)
    else:
        bad, error, allowed = _integers(untouched, expected, variants, got)
    bad |= changed
    changed = bad & untouched
    if not bad.any():
        return CaseReport(case=case, verdict="right", error=error, allowed=allowed), ""
    count = int(bad.sum())
    verdict: Verdict = "wrong-result"
    what = f"{count} of {bad.size} elements of {label} are wrong"
    if (bad & ~missing).sum() == 0:
        verdict, what = "unwritten-output", f"{count} of {bad.size} elements of {label} are never written"
    elif (bad & ~changed).sum() == 0:
        verdict, what = (
            "stray-write",
            f"{count} elements of {label} are written that the original leaves alone",
        )
    wrong = tuple(
        WrongElement(
            array=label,
            index=tuple(int(i) for i in index),
            expected=str(expected[tuple(index)]),
            got=str(got[tuple(index)]),
        )
        for index in np.argwhere(bad)[:FIRST_WRONG]
    )
    first = wrong[0]
    place = "".join(f"[{i}]" for i in first.index)
    message = f"{what}, the first at {label}{place}: {first.got} for {first.expected}"
    report = CaseReport(
        case=case, verdict=verdict, error=error, allowed=allowed, wrong=wrong, wrong_count=count
    )
    return report, message


def _floats(expected, reference, variants, got):
    """Elements that deviate too much; the largest deviation and the tolerance over the RMS."""
    written = np.isfinite(reference)
    if not written.any():
        return np.zeros(expected.shape, bool), 0.0, 0.0
    exact = reference.astype(np.longdouble)
    rms = float(np.sqrt(np.mean(exact[written] ** 2)))
    epsilon = float(np.finfo(expected.dtype).eps)
    spread = max(float(np.max(np.abs(v.astype(np.longdouble) - exact)[written])) for v in variants.values())
    tolerance = ERROR_FACTOR * spread + ROUNDINGS * epsilon * rms
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.abs(got.astype(np.longdouble) - exact)
        bad = written & ~(deviation <= tolerance + ROUNDINGS * epsilon * np.abs(exact))
    largest = float(np.max(np.where(written & np.isfinite(deviation), deviation, 0.0)))
    scale = rms or 1.0
    return bad, largest / scale, tolerance / scale


def _integers(untouched, expected, variants, got):
    """Exact where the variants agree; as many strays as the variants have among themselves. No tolerance in value."""
    values = list(variants.values())
    disputed = np.zeros(expected.shape, bool)
    matches = np.zeros(expected.shape, bool)
    for value in values:
        disputed |= value != expected
        matches |= value == got
    stray = ~untouched & ~matches
    count, allowed = int(stray.sum()), int(disputed.sum())
    if count <= allowed:
        stray = np.zeros(expected.shape, bool)
    size = max(expected.size, 1)
    return stray, count / size, allowed / size


def _written(expectation: Expectation) -> int:
    """How many elements the original changes."""
    arrays = expectation.expected
    return sum(int((~_equal_bytes(arrays[n], expectation.case.arrays[n])).sum()) for n in arrays)


def _equal_bytes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    rows = [np.ascontiguousarray(x).view(np.uint8).reshape(x.size, x.dtype.itemsize) for x in (a, b)]
    return (rows[0] == rows[1]).all(axis=1)


def _is_empty(case: Case) -> bool:
    """Whether some array of the case has no element: nothing to launch for."""
    return any(array.size == 0 for array in case.arrays.values()) or not case.arrays


def _equal_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return np.ascontiguousarray(a).view(unsigned) == np.ascontiguousarray(b).view(unsigned)
