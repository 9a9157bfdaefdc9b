"""What the comparison accepts and what it refuses, on arrays made by hand."""

import numpy as np
import pytest
from cudaperf_agent.tools.correctness import judge
from cudaperf_agent.tools.device import Case, Execution, Launch
from cudaperf_agent.tools.inputs import poison
from cudaperf_agent.tools.oracle import Expectation
from cudaperf_agent.tools.records import FunctionSpec, Parameter
from hypothesis import given
from hypothesis import strategies as st

LAUNCH = Launch(kernel="k", grid=(1, 1, 1), block=(32, 1, 1))


def function(dtype: str, role: str = "out") -> FunctionSpec:
    x = Parameter(name="x", declaration="float *x", dtype=dtype, role=role, shape=("n",), is_pointer=True)
    return FunctionSpec(name="f", line=1, returns="void", original_parameters="", parameters=(x,))


def judged(expected, got, *, before=None, variants=(), reference=None, role="out", launches=(LAUNCH,)):
    before = poison(expected.dtype, expected.shape, np.random.default_rng(1)) if before is None else before
    case = Case("c", {"x": before}, {})
    named = {str(i): {"x": v} for i, v in enumerate((expected, *variants))}
    exact = expected if reference is None else reference
    expectation = Expectation(case, {"x": expected}, {"x": exact}, named)
    execution = Execution("c", None, (), {"x": got}, (), launches, (), 0.0)
    return judge(function(str(expected.dtype), role), expectation, execution)[0]


def test_rounding_is_no_error():
    expected = np.linspace(1, 2, 100, dtype=np.float32)
    assert judged(expected, np.nextafter(expected, np.float32(9))).verdict == "right"


@given(st.integers(0, 99), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1.01]))
def test_one_wrong_float_is_found(index, value):
    expected = np.full(100, 1.0, np.float32)
    got = expected.copy()
    got[index] = value
    report = judged(expected, got)
    assert report.verdict == "wrong-result"
    assert report.wrong[0].index == (index,)


def test_single_precision_sum_in_double_output_is_refused():
    rng = np.random.default_rng(0)
    values = rng.uniform(0.1, 1.1, 1000)
    expected = np.array([values.sum()])
    got = np.array([float(values.astype(np.float32).sum(dtype=np.float32))])
    reordered = np.array([float(np.sort(values).sum())])
    assert judged(expected, got, variants=[reordered]).verdict == "wrong-result"


def test_what_the_original_leaves_alone_must_survive():
    before = np.arange(10, dtype=np.float32)
    expected = before.copy()
    expected[:5] = 7
    got = expected.copy()
    got[9] = 8
    assert judged(expected, got, before=before).verdict == "stray-write"


def test_a_written_value_may_round_to_what_stood_there():
    before = np.full(10, 4.0, np.float32)
    got = before.copy()
    got[5] = np.nextafter(np.float32(4.0), np.float32(0))
    assert judged(before, got, before=before, role="inout").verdict == "right"


def test_an_unwritten_output_has_its_own_name():
    expected = np.ones(10, np.float32)
    before = poison(expected.dtype, expected.shape, np.random.default_rng(1))
    got = expected.copy()
    got[3] = before[3]
    assert judged(expected, got, before=before).verdict == "unwritten-output"


def test_integers_are_exact_where_the_variants_agree():
    expected = np.arange(50, dtype=np.int32)
    got = expected.copy()
    got[7] += 1
    assert judged(expected, got).verdict == "wrong-result"


def test_integers_may_stray_as_often_as_the_variants_do():
    expected = np.zeros(50, np.int32)
    other = expected.copy()
    other[:3] = 1
    got = expected.copy()
    got[40:43] = 1
    assert judged(expected, got, variants=[other]).verdict == "right"
    got[43] = 1
    assert judged(expected, got, variants=[other]).verdict == "wrong-result"


def test_an_input_must_come_back_unchanged():
    before = np.zeros(8, np.float32)
    got = before.copy()
    got[0] = -0.0
    assert judged(before, got, before=before, role="in").verdict == "input-changed"


def test_work_without_a_kernel_is_refused():
    expected = np.ones(100, np.float32)
    assert judged(expected, expected, launches=()).verdict == "no-kernel"


def test_where_the_original_writes_nothing_no_kernel_is_needed():
    before = np.ones(100, np.float32)
    assert judged(before, before, before=before, role="inout", launches=()).verdict == "right"


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint8", "int64"])
def test_poison_shows(dtype):
    a, b = (poison(np.dtype(dtype), (1000,), np.random.default_rng(seed)) for seed in (1, 2))
    assert np.mean(a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")) < 0.05
    if a.dtype.kind == "f":
        assert np.isnan(a).all()
