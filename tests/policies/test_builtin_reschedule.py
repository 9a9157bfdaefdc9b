"""Nests that are parallel only in another order: each port does what its original does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from porting import Refused, compare, kernels

REORDERED = {
    "stencil in place": """void f(int n, double a[24][24]) { for (int i = 1; i < n - 1; i++) for (int j = 1; j <
           n - 1; j++)
           a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]); }""",
    "flat stencil in place": """void f(int n, int w, double *a) { for (int i = 1; i < n - 1; i++) for (int j = 1;
           j < w - 1; j++)
           a[i * w + j] = 0.25 * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
           }""",
    "nine points in place, in a time loop": """void f(int n, double a[24][24]) { for (int t = 0; t < 3; t++) for
           (int i = 1; i < n - 1; i++)
           for (int j = 1; j < n - 1; j++) a[i][j] = (a[i-1][j-1] + a[i-1][j] + a[i-1][j+1] + a[i][j-1] + a[i][j]
           + a[i][j+1] + a[i+1][j-1] + a[i+1][j] + a[i+1][j+1]) / 9; }""",
    "time loop over a stencil in place": """void f(int n, double a[24][24]) { double *u = a[0]; for (int t = 0; t
           < 5; t++)
           for (int i = 1; i < n - 1; i++) u[i] = u[i - 1] + u[i + 1]; }""",
    "longest common subsequence": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 1; i
           < n; i++) for (int j = 1; j < n; j++)
           if (s[0][i] == s[1][j]) a[i][j] = a[i - 1][j - 1] + 1;
           else a[i][j] = a[i - 1][j] > a[i][j - 1] ? a[i - 1][j] : a[i][j - 1]; }""",
    "intervals from below": """void f(int n, double a[24][24]) { for (int i = n - 1; i >= 0; i--) for (int j = i
           + 1; j < n; j++)
           for (int k = i; k < j; k++) { double v = a[i][k] + a[k + 1][j]; if (v < a[i][j]) a[i][j] = v; } }""",
    "product with a vector and its transpose": """void f(int n, const double s[24][24], double a[24][24]) { for
           (int i = 0; i < n; i++) { a[0][i] = 0;
           for (int j = 0; j < n; j++) a[0][i] += s[i][j] * s[0][j];
           for (int j = 0; j < n; j++) a[1][j] += s[i][j] * a[0][i]; } }""",
    "two sums in one loop": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 0; i < n; i++)
           for (int j = 0; j < n; j++) { a[0][j] += s[i][j]; a[1][i] += s[i][j]; } }""",
    "forward substitution": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 0; i < n; i++) {
           for (int j = 0; j < i; j++) a[0][i] -= s[i][j] * a[0][j]; a[0][i] /= 2; } }""",
    "elimination": """void f(int n, double a[24][24]) { for (int i = 0; i < n; i++) {
           for (int j = 0; j < i; j++) { for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j]; a[i][j] /= 3; }
           for (int j = i; j < n; j++) for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j]; } }""",
    "elimination with a temporary": """void f(int n, double a[24][24]) { double w; for (int i = 0; i < n; i++) {
           for (int j = 0; j < i; j++) { w = a[i][j]; for (int k = 0; k < j; k++) w -= a[i][k] * a[k][j]; a[i][j]
           = w / 3; }
           for (int j = i; j < n; j++) { w = a[i][j]; for (int k = 0; k < i; k++) w -= a[i][k] * a[k][j]; a[i][j]
           = w; }
           } }""",
    "shortest paths": """void f(int n, double a[24][24]) { for (int k = 0; k < n; k++) for (int i = 0; i < n; i++)
           for (int j = 0; j < n; j++) if (a[i][k] + a[k][j] < a[i][j]) a[i][j] = a[i][k] + a[k][j]; }""",
    "shortest paths, flat": """void f(int n, double *a) { for (int k = 0; k < n; k++)
           for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
           if (a[i * n + k] + a[k * n + j] < a[i * n + j]) a[i * n + j] = a[i * n + k] + a[k * n + j]; }""",
    "elimination above and below": """void f(int n, double a[24][24]) { int i, j, k; for (k = 0; k < n; k++)
           for (i = 0; i < n; i++) for (j = 0; j < n; j++) a[i][j] -= a[i][k] * a[k][j] / 8; }""",
    "lower triangle": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 0; i < n; i++)
           for (int j = 0; j <= i; j++) a[i][j] = s[j][i] + i; }""",
    "triangle that counts down": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = n - 1;
           i >= 0; i--)
           for (int j = n - 1; j > i; j--) a[i][j] = s[j][i] - j; }""",
    "triangle by unsigned variables": """#include <stddef.h>
           void f(size_t n, const double s[24][24], double a[24][24]) { for (size_t i = 0; i < n; i++)
           for (size_t j = i; j < n; j++) a[i][j] = s[j][i] + i; }""",
    "tetrahedron": """void f(int n, double a[24][24]) { for (int i = 0; i < n; i++) for (int j = i; j < n; j++) {
           double s = 0; for (int k = i; k <= j; k++) s += k; a[i][j] = s; } }""",
    "neighbours from before": """void f(int n, double a[24][24]) { for (int i = 0; i < n - 1; i++) for (int j =
           0; j < n; j++)
           a[i][j] = a[i + 1][j] * 2 + a[i + 1][n - 1 - j]; }""",
    "flat neighbours from before": """void f(int n, int w, double *a) { for (int i = 1; i < n - 1; i++)
           for (int j = 0; j < w; j++) a[i * w + j] = a[(i + 1) * w + w - 1 - j] - a[i * w + j]; }""",
    "triangular product in place": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 0; i
           < n; i++)
           for (int j = 0; j < n; j++) { for (int k = i + 1; k < n; k++) a[i][j] += s[k][i] * a[k][j]; a[i][j] *=
           2; } }""",
    "symmetric product": """void f(int n, const double s[24][24], double a[24][24]) { for (int i = 0; i < n; i++)
           for (int j = 0; j < n; j++) { double t = 0; for (int k = 0; k < i; k++) { a[k][j] += s[i][j] * s[i][k];
           t += s[k][j] * s[i][k]; } a[i][j] = a[i][j] * 2 + s[i][j] + t; } }""",
    "rows that every iteration fills": """void f(int n, const double s[24][24], double a[24][24]) {
           double t[24] = {0}; for (int r = 1; r < n; r++) { for (int p = 0; p < n; p++) { t[p] = 0;
           for (int k = 0; k < n; k++) t[p] += a[r][k] * s[k][p]; } for (int p = 0; p < n; p++) a[r][p] = t[p]; } }""",
    "rows that some iterations fill": """void f(int n, const double s[24][24], double a[24][24]) {
           double t[24] = {0}; for (int r = 1; r < n; r++) { if (s[r][0] > 0)
           for (int p = 0; p < n; p++) t[p] = a[r][p];
           for (int p = 0; p < n; p++) a[r][p] = t[p] + 1; } }""",
    "element between the loops": """void f(int n, double a[24][24]) { for (int k = 0; k < n; k++) { a[k][k] =
           a[k][k] * 0.5;
           for (int j = k + 1; j < n; j++) a[k][j] -= a[k][k]; for (int i = k + 1; i < n; i++) a[i][k] +=
           a[k][k]; } }""",
}


@pytest.mark.parametrize("n", [0, 1, 2, 24])
@pytest.mark.parametrize("name", REORDERED)
def test_reordered_nest_does_what_the_original_does(name, n):
    source = REORDERED[name]
    rng = np.random.default_rng(3)
    values = {
        "n": n,
        "w": n,
        "a": rng.integers(-4, 5, (24, 24)) / 4.0,
        "s": rng.integers(0, 3, (24, 24)) / 2.0,
    }
    used = {k: v for k, v in values.items() if f" {k}[" in source or f"*{k}" in source or f" {k}," in source}
    compare(source, used, strategies=("naive",))


def test_shortest_paths_launch_a_few_kernels_a_step():
    text = kernels(REORDERED["shortest paths"])
    launcher = text[text.index('extern "C"') :]
    assert launcher.count("for (") == 1
    assert launcher.count("<<<") == 9


def test_a_recurrence_is_no_kernel_of_one_thread():
    with pytest.raises(Refused, match=r"carries x\[i - 1\] -> x\[i\]"):
        kernels("void f(int n, float *x) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1] - 1; }")


@st.composite
def nests(draw) -> str:
    """Imperfect nests over a matrix in place, with statements at every depth and subscripts near the diagonal."""
    names = ["i", "j", "k"][: draw(st.integers(2, 3))]

    def subscript(visible: list[str]) -> str:
        name = draw(st.sampled_from([*visible, *visible, "n"]))
        shift = draw(st.sampled_from(["", "", " - 1", " + 1"]))
        return f"{name}{shift}" if name != "n" else draw(st.sampled_from(["0", "1", "n"]))

    def statement(visible: list[str]) -> str:
        target, one, other = (f"a[{subscript(visible)}][{subscript(visible)}]" for _ in range(3))
        op = draw(st.sampled_from(["=", "+=", "-="]))
        return f"{target} {op} {one} * 0.5 + {other} * 0.25;"

    def level(depth: int) -> str:
        visible = names[: depth + 1]
        low = draw(st.sampled_from(["1", "1", *(f"{v} + 1" for v in names[:depth]), *names[:depth]]))
        high = draw(st.sampled_from(["n", "n", *names[:depth]]))
        body = [statement(visible) for _ in range(draw(st.integers(0 if depth + 1 < len(names) else 1, 2)))]
        if depth + 1 < len(names):
            body.insert(draw(st.integers(0, len(body))), level(depth + 1))
        name = names[depth]
        return f"for (int {name} = {low}; {name} < {high}; {name}++) {{ {' '.join(body)} }}"

    return f"void f(int n, double a[12][12]) {{ {level(0)} }}"


# A read that its own statement has written to just before.
WRITTEN_BEFORE = """void f(int n, double a[12][12]) { for (int i = 1; i < n; i++) {
    a[i][i + 1] += a[i][i] * 0.5; for (int j = i + 1; j < n; j++) a[1][i + 1] = a[j][j] * 0.5 + a[j - 1][j]; } }"""


@example(WRITTEN_BEFORE, 3)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(nests(), st.sampled_from([2, 3, 9]))
def test_random_nest_in_place_does_what_the_original_does(source, n):
    values = {"n": n, "a": np.random.default_rng(n).integers(-4, 5, (12, 12)) / 4.0}
    try:
        compare(source, values, strategies=("naive",))
    except Refused:
        return
