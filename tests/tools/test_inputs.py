"""Configurations cover what kernels get wrong, and a seed repeats a case exactly."""

import numpy as np
from cudaperf_agent.tools.inputs import case, configurations, largest
from cudaperf_agent.tools.records import FunctionSpec, Parameter

N = Parameter(name="n", declaration="int n", dtype="int32", role="in", usage="size")
A = Parameter(name="a", declaration="float a", dtype="float32", role="in")
X = Parameter(
    name="x", declaration="const float *x", dtype="float32", role="in", shape=("n",), is_pointer=True
)
Y = Parameter(name="y", declaration="float *y", dtype="float32", role="out", shape=("n",), is_pointer=True)
SAXPY = FunctionSpec(name="saxpy", line=1, returns="void", original_parameters="", parameters=(N, A, X, Y))


def sizes(tier: str) -> set[int]:
    return {dict(c.sizes)["n"] for c in configurations(SAXPY) if c.tier == tier}


def test_edges_of_warps_and_blocks_are_covered():
    assert {0, 1, 31, 32, 33, 255} <= sizes("accept")
    assert len(sizes("screen")) >= 2


def test_a_seed_repeats_its_case_and_another_seed_does_not():
    config = configurations(SAXPY)[0]
    first, again, other = (case(SAXPY, config, seed, {}) for seed in (1, 1, 2))
    assert np.array_equal(first.arrays["x"], again.arrays["x"])
    assert first.arrays["y"].tobytes() == again.arrays["y"].tobytes()
    assert not np.array_equal(first.arrays["x"], other.arrays["x"])
    assert first.scalars["a"] != other.scalars["a"]


def test_ranges_are_kept():
    low = X.model_copy(update={"low": 2.0, "high": 3.0})
    ranged = SAXPY.model_copy(update={"parameters": (N, A, low, Y)})
    for config in configurations(ranged):
        values = case(ranged, config, 5, {}).arrays["x"]
        assert ((values >= 2.0) & (values <= 3.0)).all()


def test_the_largest_case_respects_time_and_memory():
    fits = largest(SAXPY, lambda config: dict(config.sizes)["n"] * 1e-6, seconds=0.01, limit_bytes=1 << 30)
    assert fits is not None and 5000 < dict(fits.sizes)["n"] <= 10_000
    small = largest(SAXPY, lambda config: 0.0, seconds=1.0, limit_bytes=8 * 1000)
    assert small is not None and dict(small.sizes)["n"] <= 1000


def test_sizes_with_a_greatest_value_stop_growing():
    bounded = SAXPY.model_copy(update={"parameters": (N.model_copy(update={"high": 20.0}), A, X, Y)})
    config = largest(bounded, lambda config: 0.0, seconds=1.0, limit_bytes=1 << 30)
    assert config is not None and dict(config.sizes)["n"] == 20
    assert max(dict(c.sizes)["n"] for c in configurations(bounded)) == 20


def test_indices_stay_inside_what_they_index():
    picked = X.model_copy(update={"name": "p", "dtype": "int32", "low": 0.0, "high_expr": "n - 1"})
    gather = SAXPY.model_copy(update={"parameters": (N, A, picked, Y)})
    for config in configurations(gather):
        made = case(gather, config, 5, {})
        assert ((made.arrays["p"] >= 0) & (made.arrays["p"] < max(made.scalars["n"], 1))).all()
