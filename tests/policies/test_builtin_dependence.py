"""What is parallel and what is not: every trap is refused by name, and its honest twin is ported."""

import pytest
from porting import kernels, refusal

REFUSED = {
    "recurrence": (
        "void f(int n, float *x) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i - 1] - 1; }",
        "loop-carried-dependence: loop at f.c:1 carries x[i - 1] -> x[i]",
    ),
    "reversal in place": (
        "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] = x[n - 1 - i]; }",
        "loop-carried-dependence: loop at f.c:1 carries x[n - 1 - i] -> x[i]",
    ),
    "overlapping writes": (
        "void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) y[i / 2] = x[i]; }",
        "loop-carried-dependence: loop at f.c:1 may write y[i / 2] in more than one iteration",
    ),
    "overlapping writes by a shift": (
        "void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) y[i >> 1] = x[i]; }",
        "may write y[i >> 1] in more than one iteration",
    ),
    "modular writes": (
        "void f(int n, float *x, float *y) { for (int i = 0; i < n; i++) y[i % 7] = x[i]; }",
        "may write y[i % 7] in more than one iteration",
    ),
    "scatter": (
        "void f(int n, const int *to, const float *x, float *y) { for (int i = 0; i < n; i++) y[to[i]] = x[i]; }",
        "may write y[to[i]] in more than one iteration",
    ),
    "carried temporary": (
        "void f(int n, float *x) { float t = 0; for (int i = 0; i < n; i++) { float s = x[i]; x[i] = t; t = s; } }",
        "carried-scalar: loop at f.c:1 carries t from one iteration to the next",
    ),
    "read after the loop": (
        "float f(int n, float *x) { float t = 0; for (int i = 0; i < n; i++) { t = x[i] * 2; x[i] = t; } return t; }",
        "scalar-live-out: t is read after the loop at f.c:1",
    ),
    "set in some iterations": (
        "void f(int n, float *x) { float t = 0; for (int i = 0; i < n; i++) { if (x[i] > 0) t = x[i]; x[i] = t; } }",
        "carried-scalar: loop at f.c:1 carries t",
    ),
    "integer sum of fractions": (
        "int f(int n, const float *x) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }",
        "carried-scalar: loop at f.c:1 carries s",
    ),
    "call of rand": (
        "#include <stdlib.h>\nvoid f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = rand(); }",
        "unknown-call: rand cannot be called on the device",
    ),
    "static local": (
        "void f(int n, int *x) { for (int i = 0; i < n; i++) { static int k; x[i] = k++; } }",
        "static-local: k keeps its value between calls",
    ),
    "bound that the loop changes": (
        "void f(int n, int *x) { for (int i = 0; i < n; i++) { x[i] = 1; n--; } }",
        "irregular-loop: loop at f.c:1 changes n",
    ),
    "rows through one pointer": (
        """void f(int n, float *a) { float *row = a + n; for (int i = 0; i < n; i++) row[i] = a[i + 1]; }""",
        "possible-overlap: loop at f.c:1 writes row[i], which may overlap a[i + 1]",
    ),
    "clamped neighbour in place": (
        """void f(int n, float *x) { for (int i = 0; i < n; i++) { int k = i > 0 ? i - 1 : 0; x[i] = x[k] + 1; } }""",
        "loop-carried-dependence: loop at f.c:1 carries x[k] -> x[i]",
    ),
    "unsigned comparison": (
        """void f(int n, float *x) { for (int i = 0; i < n; i++) { unsigned k = i - 5;
           if (k < 4u) x[i] = x[i - 2]; } }""",
        "loop-carried-dependence",
    ),
    "helper that writes a neighbour": (
        """static void put(float *x, int i, float v) { x[i + 1] = v; }
           void f(int n, float *x) { for (int i = 0; i < n; i++) put(x, i, x[i]); }""",
        "loop-carried-dependence: loop at f.c:2 carries x[i] -> x[i + 1]",
    ),
    "whole struct and its field": (
        """typedef struct { float a, b; } P;
           void f(int n, P *p) { for (int i = 0; i < n - 1; i++) p[i] = p[i + 1]; }""",
        "loop-carried-dependence",
    ),
    "global accumulator": (
        "float total; void f(int n, const float *x) { for (int i = 0; i < n; i++) total += x[i]; }",
        "carried-scalar",
    ),
    "hash wraps around": (
        """void f(unsigned n, int *x) { for (unsigned i = 0; i < 1000u; i++) x[i * 2654435761u % 1000u] = i; }""",
        "loop-carried-dependence",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_trap_is_refused(name):
    source, expected = REFUSED[name]
    assert expected in refusal(source)


PARALLEL = {
    "odd and even": ("void f(int n, float *a) { for (int i = 0; i < n; i++) a[2 * i] = a[2 * i + 1]; }", 1),
    "halves": ("void f(int n, float *a) { for (int i = 0; i < n; i++) a[i] = a[i + n]; }", 1),
    "halves of a swap": (
        """void f(int n, float *a) { for (int i = 0; i < n / 2; i++) {
           float t = a[i]; a[i] = a[n - 1 - i]; a[n - 1 - i] = t; } }""",
        1,
    ),
    "other field": (
        """typedef struct { float a, b; } P;
           void f(int n, P *p) { for (int i = 0; i < n - 1; i++) p[i].a = p[i + 1].b; }""",
        1,
    ),
    "upper triangle to lower": (
        """void f(int n, double *a) { for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++)
           a[j * n + i] = a[i * n + j]; }""",
        2,
    ),
    "temporary declared outside": (
        "void f(int n, float *x) { float t; for (int i = 0; i < n; i++) { t = x[i] * 2; x[i] = t + 1; } }",
        1,
    ),
    "index computed before": (
        """void f(int h, int w, float *x) { int i, j, k; for (i = 0; i < h; i++) for (j = 0; j < w; j++) {
           k = i * w + j; x[k] = x[k] + k; } }""",
        2,
    ),
    "index by a helper": (
        """static int at(int i, int j, int w) { return i * w + j; }
           void f(int h, int w, float *x) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           x[at(i, j, w)] += 1; }""",
        2,
    ),
    "three dimensions, flat": (
        """void f(int d, int h, int w, float *x) { for (int i = 0; i < d; i++) for (int j = 0; j < h; j++)
           for (int k = 0; k < w; k++) x[(i * h + j) * w + k] *= 2; }""",
        3,
    ),
    "rows that run into each other": (
        """void f(int h, int w, float *a) { for (int i = 0; i < h; i++) for (int j = 0; j <= w; j++)
           a[i * w + j] = i; }""",
        1,
    ),
    "guarded row end": (
        """void f(int h, int w, float *a) { for (int i = 0; i < h; i++) for (int j = 0; j <= w; j++)
           if (j < w) a[i * w + j] = i; }""",
        2,
    ),
    "skipped row end": (
        """void f(int h, int w, float *a) { for (int i = 0; i < h; i++) for (int j = 0; j <= w; j++) {
           if (j == w) continue; a[i * w + j] = i; } }""",
        2,
    ),
    "sums of rows": (
        """void f(int h, int w, const float *a, float *s) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           s[i] += a[i * w + j]; }""",
        1,
    ),
    "sums of columns": (
        """void f(int h, int w, const float *a, float *s) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           s[j] += a[i * w + j]; }""",
        1,
    ),
    "recurrence down the columns": (
        """void f(int h, int w, float *a) { for (int i = 1; i < h; i++) for (int j = 0; j < w; j++)
           a[i * w + j] += a[(i - 1) * w + j]; }""",
        1,
    ),
    "product with the sum outermost": (
        """void f(int n, const float *a, const float *b, float *c) { for (int k = 0; k < n; k++)
           for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j]; }""",
        2,
    ),
    "padded rows": (
        """void f(int h, int w, float *a) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           a[i * (w + 2) + j + 1] = i + j; }""",
        2,
    ),
    "counting down": ("void f(int n, float *x) { for (int i = n - 1; i >= 0; i--) x[i] += i; }", 1),
    "counting in threes": (
        "void f(int n, float *x) { for (int i = 1; i < n; i += 3) x[i] = x[i - 1] + x[i + 1]; }",
        1,
    ),
    "wide counter": (
        "void f(unsigned long n, float *x) { for (unsigned long i = 0; i < n; i++) x[i] += i; }",
        1,
    ),
}


@pytest.mark.parametrize("name", PARALLEL)
def test_honest_twin_is_parallel(name):
    source, dimensions = PARALLEL[name]
    text = kernels(source)
    assert [f"blockIdx.{a}" in text for a in "xyz"] == [True, dimensions > 1, dimensions > 2]


def test_what_is_overwritten_later_is_read_from_a_copy():
    source = """typedef struct { float a, b; } P;
        void f(int n, P *p) { for (int i = 0; i < n - 1; i++) p[i].a = p[i + 1].a; }"""
    assert "p[i].a = p_before[(long)i];" in kernels(source)
