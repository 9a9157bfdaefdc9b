"""Reads a turn's evidence and says what it means for the next candidate."""

from __future__ import annotations

from ..tools.correctness import TestReport
from ..tools.device import AccessCount, CompileResult
from ..tools.evidence import Diagnosis, Evidence
from ..tools.profiling import Profile
from ..tools.records import Proposal

ADVICE = {
    "wrong-result": "compare the index arithmetic and the order of updates with the original",
    "unwritten-output": "every element that the original writes must be written: check the grid's size and the guards",
    "stray-write": "guard the write: the original leaves these elements alone",
    "input-changed": "this parameter is an input: write to outputs only",
    "no-kernel": "the work must be done by kernels that the launcher launches",
    "timeout": "look for a loop that does not end, or a barrier that some threads never reach",
    "crash": "look for a wild pointer or an array too large for the stack",
    "host-access": "the launcher's pointers are device pointers: copy single values with cudaMemcpy before reading",
    "launch-error": "check block size, grid size and shared memory of the launch against the GPU's limits",
    "out-of-bounds": "guard the access with the array's extent",
    "race": "separate the two accesses with __syncthreads(), an atomic, or one kernel each",
    "barrier-divergence": "move the barrier where every thread of the block reaches it",
    "out-of-memory": "allocate less scratch memory, and free it",
}


def diagnose(proposal: Proposal, evidence: Evidence, repeated: bool) -> Diagnosis:
    """The first stage that failed decides; a right candidate is diagnosed by its profile."""
    if proposal.candidate is None:
        refusal = proposal.refusal
        return Diagnosis(
            stage="generate",
            verdict="refused" if refusal else "no-code",
            summary=refusal.message
            if refusal
            else proposal.reason or proposal.text or "the answer holds no code",
            findings=(refusal,) if refusal else (),
            advice=refusal.remedy if refusal else "",
        )
    if repeated:
        return Diagnosis(
            stage="compile",
            verdict="repeated",
            summary="this candidate was tried before; it was not run again",
            advice="change the candidate",
        )
    if evidence.compile is not None and not evidence.compile.ok:
        return _compile(evidence.compile)
    if evidence.test is not None and evidence.test.verdict != "right":
        return _test(evidence.test)
    assert evidence.profile is not None, "a right candidate is profiled"
    return _profile(evidence.profile, evidence)


def _compile(result: CompileResult) -> Diagnosis:
    errors = [d for d in result.diagnostics if d.severity == "error"]
    contract = errors[0].rule if errors and errors[0].rule != "compile-error" else "compile-error"
    return Diagnosis(
        stage="compile",
        verdict=contract,
        summary=str(errors[0]) if errors else "it does not compile",
        findings=tuple(errors),
        advice=errors[0].remedy if errors else "",
    )


def _test(report: TestReport) -> Diagnosis:
    return Diagnosis(
        stage="test",
        verdict=report.verdict,
        summary=report.message,
        findings=report.findings,
        advice=ADVICE[report.verdict],
    )


def _profile(profile: Profile, evidence: Evidence) -> Diagnosis:
    estimate = profile.estimate
    summary = (
        f"right; bound by {BOUNDS[estimate.bound]} on {estimate.gpu} (estimated {estimate.total_us:.1f} us)"
    )
    advice = BOUND_ADVICE[estimate.bound]
    worst = profile.worst_access
    # Rows that start between two sectors cost one sector a request at most: no layout of threads mends that.
    if worst is not None and worst.sectors > worst.ideal_sectors + 1.2 * worst.requests:
        summary += f"; {describe(worst)}"
        advice = f"let neighbouring threads touch neighbouring elements at line {worst.line}"
    low = min(profile.occupancy, key=lambda o: o.occupancy, default=None)
    if low is not None and low.occupancy < 0.5 and low.limiter != "grid":
        summary += f"; {low.kernel} keeps {low.occupancy:.0%} of the warps resident, limited by {low.limiter}"
    structure = evidence.structure
    return Diagnosis(
        stage="profile",
        verdict="right",
        summary=summary,
        findings=structure.findings if structure is not None else (),
        advice=advice,
    )


BOUNDS = {
    "dram": "memory bandwidth",
    "l2": "L2 traffic",
    "l1": "L1 requests",
    "blocks": "the start of blocks",
    "shared": "shared-memory wavefronts",
    "latency": "memory latency",
    "launch": "launches",
}
BOUND_ADVICE = {
    "dram": "move fewer bytes: fuse kernels, keep values in registers",
    "l2": "let a block reuse what it loads: tile through shared memory",
    "l1": "ask L1 for fewer sectors: wider loads, several elements a thread, a shared-memory tile",
    "blocks": "let each block do more: several elements a thread",
    "shared": "avoid bank conflicts: pad the tile, or read wider",
    "latency": "keep more loads in flight: more threads, or several elements a thread",
    "launch": "launch less often, or do more in each launch",
}


def describe(access: AccessCount) -> str:
    """One access in words: its line, and sectors a request as measured and at best."""
    n = max(access.requests, 1)
    return (
        f"the {access.operation} at line {access.line} moves {access.sectors / n:.1f} sectors a request "
        f"where {access.ideal_sectors / n:.1f} would do"
    )
