"""The policy climbs by evidence: what a turn measured decides what the next one tries, and its reason says so."""

from cudaperf_agent.policies.base import Request
from cudaperf_agent.policies.builtin.policy import BuiltinPolicy
from cudaperf_agent.tools.correctness import TestReport
from cudaperf_agent.tools.device import AccessCount, CompileResult, KernelCounts
from cudaperf_agent.tools.evidence import Diagnosis, Evidence, Turn
from cudaperf_agent.tools.occupancy import Occupancy
from cudaperf_agent.tools.profiling import Profile
from cudaperf_agent.tools.records import Finding, Proposal, TaskView
from cudaperf_agent.tools.reward import reward
from cudaperf_agent.tools.roofline import Estimate
from porting import EXAMPLES, entry_of, spec_of

SOURCES = {path.stem: path.read_text() for path in EXAMPLES}
RIGHT = TestReport(tier="accept", verdict="right", message="right")


def propose(name: str, *turns: Turn) -> Proposal:
    source = SOURCES[name]
    view = TaskView(
        path=f"{name}.c", source=source, function=spec_of(source, entry_of(source)), arch="sm_90", gpu="H200"
    )
    return BuiltinPolicy().propose(Request(view, turns))


def turn(
    proposal: Proposal,
    index: int = 0,
    *,
    compiled: bool = True,
    test: TestReport | None = RIGHT,
    seen: Profile | None = None,
) -> Turn:
    broken = () if compiled else (Finding(rule="compile-error", message="no", line=12),)
    compile_result = CompileResult(ok=compiled, diagnostics=broken)
    return Turn(
        index=index,
        proposal=proposal,
        evidence=Evidence(compile=compile_result, test=test if compiled else None, profile=seen),
        reward=reward(compile_result, False, None, None),
        diagnosis=Diagnosis(stage="profile", verdict="right", summary=""),
    )


def profile(
    kernel: str, *, sectors: int = 400, ideal: int = 400, unique: int = 12800, occupancy: float = 1.0,
    bound: str = "dram", microseconds: float = 10.0,
) -> Profile:  # fmt: skip
    access = AccessCount(
        kernel=kernel, space="global", operation="load", bytes_per_thread=4, file="f.cu", line=14, requests=100,
        lanes=3200, sectors=sectors, ideal_sectors=ideal,
    )  # fmt: skip
    counts = KernelCounts(
        kernel=kernel, launches=1, threads=3200, barriers_per_thread=0, unique_bytes=unique,
        block_unique_bytes=unique, accesses=(access,),
    )  # fmt: skip
    estimate = Estimate(
        gpu="H200", total_us=microseconds, at_scale_us=microseconds, bound=bound, dram_us=1, l2_us=1, l1_us=1,
        shared_us=0, blocks_us=1, latency_us=1, launch_us=1,
    )  # fmt: skip
    resident = Occupancy(
        kernel=kernel,
        active_blocks=8,
        active_warps=64,
        occupancy=occupancy,
        limiter="registers",
        waves=1.0,
        block_warps=8,
        most_warps=64,
    )
    return Profile(
        device="cpu", case="large", launches=(), counts=(counts,), occupancy=(resident,), estimate=estimate
    )


def test_the_first_turn_is_plain():
    first = propose("matmul")
    assert first.strategy == "naive" and first.candidate is not None
    assert first.candidate.entry == "launch_matmul"


def test_wasted_sectors_ask_for_a_tile():
    first = propose("matmul")
    second = propose("matmul", turn(first, seen=profile("matmul_kernel", sectors=800)))
    assert second.strategy == "tiled"
    assert second.reason.startswith("line 14 moves 8.0 sectors a request where 4.0 would do: ")


def test_bytes_asked_for_many_times_ask_for_a_tile():
    first = propose("heat2d")
    second = propose("heat2d", turn(first, seen=profile("heat2d_next_kernel", unique=2560)))
    assert second.strategy == "tiled"
    assert "asks for each byte 5.0 times" in second.reason


def test_narrow_accesses_at_the_bandwidth_ask_for_words():
    first = propose("saxpy")
    second = propose("saxpy", turn(first, seen=profile("saxpy_kernel")))
    assert second.strategy == "vectorized"
    assert "4 bytes a thread at line 14" in second.reason


def test_few_resident_warps_ask_for_smaller_blocks():
    first = propose("mandelbrot")
    second = propose("mandelbrot", turn(first, seen=profile("mandelbrot_kernel", occupancy=0.31)))
    assert second.strategy == "reshaped"
    assert "31%" in second.reason and "registers" in second.reason


def test_a_failed_turn_is_named_and_the_best_one_s_evidence_stands():
    first = turn(propose("saxpy"), seen=profile("saxpy_kernel"))
    second = turn(propose("saxpy", first), 1, compiled=False)
    third = propose("saxpy", first, second)
    assert third.strategy == "coarsened"
    assert third.reason.startswith("turn 2 (vectorized) did not compile (line 12); ")


def test_a_wrong_turn_is_named():
    first = turn(propose("saxpy"), seen=profile("saxpy_kernel"))
    wrong = TestReport(tier="screen", verdict="wrong-result", message="y[0] differs")
    second = turn(propose("saxpy", first), 1, test=wrong)
    assert "turn 2 (vectorized) was not right (wrong-result); " in propose("saxpy", first, second).reason


def test_a_slower_turn_is_compared_with_the_best():
    first = turn(propose("saxpy"), seen=profile("saxpy_kernel"))
    second = turn(propose("saxpy", first), 1, seen=profile("saxpy_vector_kernel", microseconds=12.0))
    assert propose("saxpy", first, second).reason.startswith(
        "vectorized takes 12.0 us where naive takes 10.0; "
    )


def test_the_ladder_ends():
    turns: list[Turn] = []
    while (answer := propose("heat2d", *turns)).candidate is not None:
        turns.append(turn(answer, len(turns), seen=profile("heat2d_next_kernel", sectors=900, occupancy=0.2)))
        assert len(turns) < 10
    assert answer.refusal is None and answer.reason == "no strategy left"
    assert len({t.proposal.strategy for t in turns}) == len(turns) >= 3


def test_the_same_request_gives_the_same_proposal():
    first = turn(propose("matmul"), seen=profile("matmul_kernel", sectors=800))
    assert propose("matmul", first) == propose("matmul", first)


def test_a_refusal_has_its_place():
    refused = propose("recurrence")
    assert refused.candidate is None and refused.refusal is not None
    assert (refused.refusal.rule, refused.refusal.line) == ("loop-carried-dependence", 6)
    assert refused.refusal.message == "loop at recurrence.c:6 carries x[i - 1] -> x[i]"
    assert refused.refusal.remedy
