"""Loops that look sequential and are not: each port does what its original does, at the edges too."""

from __future__ import annotations

import numpy as np
import pytest
from porting import compare, kernels, refusal

NAN = float("nan")
TIES = [3.0, -1.0, 3.0, 7.5, 2.0, 7.5, -1.0, 0.0, 7.5, -4.0, -4.0, 1.0]

DECISIVE = {
    "first maximum": "{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (x[i] > m) { m = x[i]; at = i; } return at; }",
    "last maximum": "{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (x[i] >= m) { m = x[i]; at = i; } return at; }",
    "first minimum": "{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (m > x[i]) { at = i; m = x[i]; } return at; }",
    "index alone": "{ int at = 0; for (int i = 1; i < n; i++) if (x[i] < x[at]) at = i; return at; }",
    "counting down": "{ int at = n - 1; for (int i = n - 1; i >= 0; i--) if (x[i] < x[at]) at = i; return at; }",
    "bounded from the start": "{ float m = 3; int at = -7; for (int i = 0; i < n; i++) if (x[i] > m) { m = x[i]; at = i; } return at; }",
    "of a computed value": """{ float m = -1; int at = -1; for (int i = 0; i < n; i++) { float d = x[i] - 2; float q = d * d;
        if (q > m) { m = q; at = i * 2; } } return at; }""",
    "behind a guard": "{ float m = -9; int at = -1; for (int i = 0; i < n; i++) if (i % 3 && x[i] > m) { m = x[i]; at = i; } return at; }",
    "break": "{ int i; for (i = 0; i < n; i++) if (x[i] == 7.5f) break; return i; }",
    "return": "{ for (int i = 0; i < n; i++) if (x[i] > 3) return i * 10; return -1; }",
    "return from below": "{ for (int i = n - 1; i >= 0; i--) if (x[i] > 3) return i; return -1; }",
    "never": "{ int i; for (i = 2; i <= n - 1; i++) if (x[i] > 99) break; return i; }",
    "all alike": "{ for (int i = 1; i < n; i++) if (x[i] != x[0]) return 0; return 1; }",
    "work until then": """{ int i; for (i = 0; i < n; i++) { float v = x[i]; if (v > 7) break; y[i] = v * 2; } return i; }""",
    "last of a kind": "{ int at = -1; for (int i = 0; i < n; i++) if (x[i] < 0) at = i; return at; }",
    "what it held": "{ float v = 9; for (int i = 0; i < n; i++) if (x[i] < 0) v = x[i] - i; return (int)v; }",
}


@pytest.mark.parametrize("n", [1, 2, 12])
@pytest.mark.parametrize("name", DECISIVE)
def test_the_decisive_iteration(name, n):
    source = f"int f(int n, const float *x, float *y) {DECISIVE[name]}"
    compare(
        source,
        {"n": n, "x": np.array(TIES, np.float32), "y": np.zeros(12, np.float32)},
        strategies=("naive",),
    )


@pytest.mark.parametrize("name", ["first maximum", "last maximum", "index alone", "bounded from the start"])
@pytest.mark.parametrize("at", [0, 3])
def test_comparisons_with_nan_decide_nothing(name, at):
    x = np.array(TIES, np.float32)
    x[at] = NAN
    source = f"int f(int n, const float *x) {DECISIVE[name]}"
    compare(source, {"n": 12, "x": x}, strategies=("naive",))


def test_a_search_that_changes_what_it_looks_at_is_refused():
    assert "may end early" in refusal(
        "void f(int n, int *x) { for (int i = 0; i < n - 1; i++) { if (x[i] == 3) break; x[i + 1] = 3; } }"
    )


def test_a_sum_of_floats_by_index_is_atomic():
    source = "void f(int n, const int *k, const float *w, float *h) { for (int i = 0; i < n; i++) h[k[i]] += w[i]; }"
    assert "atomicAdd(&h[k[i]], (float)w[i])" in kernels(source)
    rng = np.random.default_rng(1)
    values = {
        "n": 300,
        "k": rng.integers(0, 5, 300).astype(np.int32),
        "w": rng.integers(-4, 5, 300).astype(np.float32),
    }
    compare(source, {**values, "h": np.zeros(5, np.float32)})
