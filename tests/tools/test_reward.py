"""The reward orders what people would order the same way, and structure cannot buy what it must not."""

from cudaperf_agent.tools.device import AccessCount, CompileResult, KernelCounts
from cudaperf_agent.tools.gpus import gpu_named
from cudaperf_agent.tools.occupancy import Occupancy, occupancy
from cudaperf_agent.tools.profiling import Profile
from cudaperf_agent.tools.reward import Weights, returns, reward
from cudaperf_agent.tools.roofline import estimate
from hypothesis import given
from hypothesis import strategies as st

H200 = gpu_named("h200")
COMPILED = CompileResult(ok=True)


def profile_of(sectors: int, ideal: int, barriers: float, share: float) -> Profile:
    access = AccessCount(
        kernel="k",
        space="global",
        operation="load",
        bytes_per_thread=4,
        file="k.cu",
        line=1,
        requests=100,
        lanes=3200,
        sectors=sectors,
        ideal_sectors=ideal,
    )
    counts = KernelCounts(
        kernel="k",
        launches=1,
        threads=3200,
        barriers_per_thread=barriers,
        unique_bytes=ideal * 32,
        block_unique_bytes=ideal * 32,
        accesses=(access,),
    )
    resident = Occupancy(
        kernel="k",
        active_blocks=1,
        active_warps=8,
        occupancy=share,
        limiter="threads",
        waves=1.0,
        block_warps=8,
        most_warps=64,
    )
    return Profile(
        device="cpu",
        case="c",
        launches=(),
        counts=(counts,),
        occupancy=(resident,),
        estimate=estimate((counts,), {"k": resident}, H200),
    )


profiles = st.builds(
    profile_of,
    sectors=st.integers(400, 3200),
    ideal=st.integers(1, 400),
    barriers=st.floats(0, 1000),
    share=st.floats(0, 1),
)


@given(profiles)
def test_compiling_beats_not_and_right_beats_compiling(profile):
    failed = reward(CompileResult(ok=False), False, None, None).total
    wrong = reward(COMPILED, False, profile, 100.0).total
    right = reward(COMPILED, True, profile, None).total
    assert failed < wrong < right


@given(profiles, profiles, st.sampled_from(Weights().milestones))
def test_structure_never_outweighs_a_milestone_of_speed(good, bad, milestone):
    slower = reward(COMPILED, True, good, milestone * 0.99)
    faster = reward(COMPILED, True, bad, milestone)
    assert faster.total > slower.total


@given(profiles)
def test_structure_earns_nothing_for_a_wrong_result(profile):
    assert reward(COMPILED, False, profile, None).structure is None


def test_better_coalescing_is_worth_more():
    good, bad = profile_of(400, 400, 0, 0.5), profile_of(3200, 400, 0, 0.5)
    assert reward(COMPILED, True, good, None).total > reward(COMPILED, True, bad, None).total


def test_returns_discount_what_comes_later():
    assert returns([0.0, 1.0, 2.0], gamma=0.5) == (1.0, 2.0, 2.0)


def test_occupancy_is_limited_by_what_runs_out_first():
    few_registers = occupancy("k", H200, threads=256, blocks=10**6, registers=32, shared_bytes=0)
    many_registers = occupancy("k", H200, threads=256, blocks=10**6, registers=128, shared_bytes=0)
    much_shared = occupancy("k", H200, threads=256, blocks=10**6, registers=32, shared_bytes=100 * 1024)
    small_grid = occupancy("k", H200, threads=256, blocks=132, registers=32, shared_bytes=0)
    assert (few_registers.occupancy, few_registers.limiter) == (1.0, "threads")
    assert (many_registers.active_blocks, many_registers.limiter) == (2, "registers")
    assert (much_shared.active_blocks, much_shared.limiter) == (2, "shared memory")
    assert (small_grid.active_blocks, small_grid.limiter) == (1, "grid")
