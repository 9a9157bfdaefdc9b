"""Reductions: every operator, every shape of the loops, and the same bits in every run."""

import numpy as np
import pytest
from porting import compare, refusal

N = 1037
rng = np.random.default_rng(2)
DOUBLES = rng.random(N)
INTEGERS = rng.integers(-9, 10, N).astype(np.int32)

CASES = {
    "sum": (
        "double f(int n, const double *x) { double s = 1.5; for (int i = 0; i < n; i++) s += x[i]; return s; }",
        {},
    ),
    "difference": (
        "double f(int n, const double *x) { double s = 9; for (int i = 0; i < n; i++) s = s - x[i] * 2; return s; }",
        {},
    ),
    "product": (
        "double f(int n, const double *x) { double s = 1; for (int i = 0; i < 40; i++) s *= x[i] + 0.5; return s; }",
        {},
    ),
    "several at once": (
        """double f(int n, const double *x, double *low, double *high) { double s = 0, a = x[0], b = x[0];
           for (int i = 0; i < n; i++) { s += x[i]; if (x[i] < a) a = x[i]; b = x[i] > b ? x[i] : b; }
           *low = a; high[0] = b; return s; }""",
        {"low": np.zeros(1), "high": np.zeros(1)},
    ),
    "of a function's result": (
        """#include <math.h>
           double f(int n, const double *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i];
           return sqrt(s / n); }""",
        {},
    ),
    "fmax": (
        """#include <math.h>
           double f(int n, const double *x) { double m = 0; for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
           return m; }""",
        {},
    ),
    "conditional": (
        "int f(int n, const int *x) { int s = 7; for (int i = 0; i < n; i++) if (x[i] > 0) s += x[i]; return s; }",
        {"x": INTEGERS},
    ),
    "count": (
        "int f(int n, const int *x) { int c = 0; for (int i = 0; i < n; i++) { if (x[i] == 3) c++; } return c; }",
        {"x": INTEGERS},
    ),
    "flag": (
        "int f(int n, const int *x) { int c = 0; for (int i = 0; i < n; i++) { if (x[i] == 9) c = 1; } return c; }",
        {"x": INTEGERS},
    ),
    "all": (
        "int f(int n, const int *x) { int c = 1; for (int i = 0; i < n; i++) c = c && x[i] < 10; return c; }",
        {"x": INTEGERS},
    ),
    "bitwise": (
        """unsigned f(int n, const int *x) { unsigned a = 5u, b = 0, c = ~0u;
           for (int i = 0; i < n; i++) { a ^= x[i]; b |= x[i] & 6; c &= x[i] | 1; } return a + b + c; }""",
        {"x": INTEGERS},
    ),
    "in a narrow type": (
        """unsigned char f(int n, const int *x) { unsigned char s = 3; for (int i = 0; i < n; i++) s += x[i];
           return s; }""",
        {"x": INTEGERS},
    ),
    "two dimensions": (
        """double f(int n, const double *x) { double s = 0; for (int i = 0; i < 29; i++) for (int j = 0; j < 35; j++)
           s += x[i * 35 + j]; return s; }""",
        {},
    ),
    "three dimensions": (
        """double f(int n, const double *x) { double s = 0; for (int k = 0; k < 5; k++) for (int i = 0; i < 7; i++)
           for (int j = 0; j < 29; j++) s += x[(k * 7 + i) * 29 + j]; return s; }""",
        {},
    ),
    "triangle": (
        """double f(int n, const double *x) { double s = 0; for (int i = 0; i < 31; i++) for (int j = 0; j <= i; j++)
           s += x[i * 31 + j]; return s; }""",
        {},
    ),
    "no iteration": (
        """double f(int n, const double *x) { double s = 4; for (int i = 0; i < 3 - n; i++)
           for (int j = 0; j < 2 - n; j++) s += x[i]; return s; }""",
        {},
    ),
    "beside a map": (
        """double f(int n, const double *x, double *y) { double m = 0; for (int i = 1; i < n - 1; i++) {
           double v = 0.5 * (x[i - 1] + x[i + 1]), d = v - x[i]; if (d < 0) d = -d; y[i] = v; if (d > m) m = d; }
           return m; }""",
        {"y": np.zeros(N)},
    ),
    "until convergence": (
        """int f(int n, double *x, double *y) { double change = 1e9; int t = 0; while (change > 0.01 && t < 30) {
           change = 0; for (int i = 1; i < n - 1; i++) { y[i] = 0.5 * (x[i - 1] + x[i + 1]); double d = y[i] - x[i];
           if (d < 0) d = -d; if (d > change) change = d; } for (int i = 1; i < n - 1; i++) x[i] = y[i]; t++; }
           return t; }""",
        {"n": 65, "x": DOUBLES[:65], "y": np.zeros(65)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reduction_is_the_original_s(name):
    source, values = CASES[name]
    compare(source, {"n": N, "x": DOUBLES} | values, strategies=("naive",), tolerance=1e-12)


def test_what_reads_the_sum_inside_is_no_reduction():
    source = """float f(int n, float *x) { float s = 0; for (int i = 0; i < n; i++) { s += x[i]; if (s > 3) s = 0; }
        return s; }"""
    assert refusal(source).startswith("carried-scalar")


def test_mixed_operators_are_no_reduction():
    source = "float f(int n, float *x) { float s = 0; for (int i = 0; i < n; i++) { s += x[i]; s *= 2; } return s; }"
    assert refusal(source).startswith("carried-scalar")
