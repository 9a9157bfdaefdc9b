"""Comparing the outputs of two programs."""

import pytest
from cudaperf_agent.tools.output import difference


@pytest.mark.parametrize(
    ("first", "second", "ported"),
    [
        ("sum 1.50000", "sum 1.50000", "sum 1.50001"),
        ("took 0.12 s", "took 0.34 s", "took 9.99 s"),
        ("n=3 x=2.5,", "n=3 x=2.5,", "n=3 x=2.5,"),
    ],
)
def test_rounding_and_timings_are_no_difference(first, second, ported):
    assert difference([first, second], ported) is None


@pytest.mark.parametrize(
    ("first", "second", "ported"),
    [
        ("sum 1.5000", "sum 1.5000", "sum 1.6000"),
        ("count 10", "count 10", "count 11"),
        ("a b", "a b", "a"),
        ("ok", "ok", "OK"),
        ("1.0", "1.0", "nan"),
    ],
)
def test_a_wrong_word_is_found(first, second, ported):
    assert difference([first, second], ported) is not None
