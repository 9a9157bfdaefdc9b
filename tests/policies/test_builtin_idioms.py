"""Loops that look sequential and are not: each port does what its original does, at the edges too."""

from __future__ import annotations

import numpy as np
import pytest
from porting import compare, kernels, refusal

NAN = float("nan")
TIES = [3.0, -1.0, 3.0, 7.5, 2.0, 7.5, -1.0, 0.0, 7.5, -4.0, -4.0, 1.0]

DECISIVE = {
    "first maximum": """{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (x[i] > m) { m = x[i]; at =
           i; } return at; }""",
    "last maximum": """{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (x[i] >= m) { m = x[i]; at =
           i; } return at; }""",
    "first minimum": """{ float m = x[0]; int at = 0; for (int i = 1; i < n; i++) if (m > x[i]) { at = i; m =
           x[i]; } return at; }""",
    "index alone": "{ int at = 0; for (int i = 1; i < n; i++) if (x[i] < x[at]) at = i; return at; }",
    "counting down": "{ int at = n - 1; for (int i = n - 1; i >= 0; i--) if (x[i] < x[at]) at = i; return at; }",
    "bounded from the start": """{ float m = 3; int at = -7; for (int i = 0; i < n; i++) if (x[i] > m) { m =
           x[i]; at = i; } return at; }""",
    "of a computed value": """{ float m = -1; int at = -1; for (int i = 0; i < n; i++) { float d = x[i] - 2;
           float q = d * d;
        if (q > m) { m = q; at = i * 2; } } return at; }""",
    "behind a guard": """{ float m = -9; int at = -1; for (int i = 0; i < n; i++) if (i % 3 && x[i] > m) { m =
           x[i]; at = i; } return at; }""",
    "break": "{ int i; for (i = 0; i < n; i++) if (x[i] == 7.5f) break; return i; }",
    "return": "{ for (int i = 0; i < n; i++) if (x[i] > 3) return i * 10; return -1; }",
    "return from below": "{ for (int i = n - 1; i >= 0; i--) if (x[i] > 3) return i; return -1; }",
    "never": "{ int i; for (i = 2; i <= n - 1; i++) if (x[i] > 99) break; return i; }",
    "all alike": "{ for (int i = 1; i < n; i++) if (x[i] != x[0]) return 0; return 1; }",
    "work until then": """{ int i; for (i = 0; i < n; i++) { float v = x[i]; if (v > 7) break; y[i] = v * 2; }
           return i; }""",
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


MOVING = {
    "two pointers": "{ for (int i = 0; i < n; i++) *y++ = *x++ * 2; }",
    "moved before": "{ y--; for (int i = 0; i < n; i++) *++y = x[i]; }",
    "counting down to zero": "{ while (n--) *y++ = *x++; }",
    "counting down above zero": "{ for (int i = n; i-- > 0;) y[i] = x[i] + i; }",
    "to the end of an array": "{ const float *e = x + n; while (x < e) *y++ = *x++ + 1; }",
    "until they meet": "{ const float *e = x + n; float *o = y; for (; x != e; ++x, ++o) *o = *x; }",
    "counter set before": "{ int i = 0; while (i < n) { y[i] = x[i]; i++; } }",
    "a second counter": "{ int k = 0; for (int i = 0; i < n; i++) { y[i] = x[k]; k += 2; } }",
    "second counter read after": "{ int k = 3; for (int i = 0; i < n; i++) { y[i] = x[i] + k; k -= 2; } y[0] += k; }",
    "used before and after": "{ int k = 0; for (int i = 0; i < n; i++) { y[k] = x[k]; k++; y[k + 11] = k; } }",
    "counter read after": "{ int i; for (i = 0; i < n; i += 5) y[i] = x[i]; y[1] = i; }",
    "counter read after, inclusive": "{ int i; for (i = 2; i <= n; i += 3) y[i] = x[i]; y[1] = i; }",
    "counter read after, downward": "{ int i; for (i = n - 1; i >= 0; i -= 2) y[i] = x[i]; y[1] = i; }",
    "unrolled, then the rest": """{ int i; for (i = 0; i < n - 3; i += 4) { y[i] = x[i]; y[i + 1] = x[i + 1];
        y[i + 2] = x[i + 2]; y[i + 3] = x[i + 3]; } for (; i < n; i++) y[i] = x[i]; }""",
    "no trip, counter read after": "{ int i = 5; while (i < n) { y[i] = 1; i++; } y[0] = i; }",
    "counter of eight bits": "{ for (unsigned char c = 0; c < 12; c++) y[c] = x[c] + c; }",
    "downward twin": "{ int k = 0; for (int i = n - 1; i >= 0; i--) { y[i] = x[k]; k++; } }",
    "pointer read after": "{ float *o = y; for (int i = 0; i < n; i++) *o++ = x[i]; o[0] = 5; }",
    "moved twice a trip": "{ while (n > 0) { float a = *x++, b = *x++; *y++ = a - b; *y++ = b; n -= 1; } }",
    "sum through a pointer": "{ *y = 0; for (int i = 0; i < n; i++) *y += x[i]; }",
    "sum in an element": "{ for (int i = 0; i < n; i++) y[n] += x[i] * x[i]; }",
    "product in an element": "{ y[1] = 1; for (int i = 0; i < n; i++) y[1] *= 1 + x[i] / 64; }",
}


@pytest.mark.parametrize("n", [0, 1, 12])
@pytest.mark.parametrize("name", MOVING)
def test_moving_pointers_and_counters(name, n):
    source = f"void f(int n, const float *x, float *y) {MOVING[name]}"
    x = np.resize(np.array(TIES, np.float32), 24)
    compare(source, {"n": n, "x": x, "y": np.ones(24, np.float32)}, strategies=("naive",), tolerance=1e-6)


CARRIED = {
    "the element before": "{ float p = x[n - 1]; for (int i = 0; i < n; i++) { y[i] = (x[i] + p) / 2; p = x[i]; } }",
    "two before": """{ float p = x[11], q = x[10]; for (int i = 0; i < n; i++) { y[i] = x[i] + p + q; q = p;
        p = x[i]; } y[13] = p - q; }""",
    "shifted before it is used": """{ float p = 3, q = 2; for (int i = 1; i < n; i++) { q = p; p = x[i] * i;
        y[i] = p - q; } }""",
    "downward, through a temporary": """{ float p = 1; for (int i = n - 1; i >= 0; i--) { float v = x[i] * x[i];
        y[i] = v - p; p = v; } y[13] = p; }""",
    "rounded on the way": "{ int k = 7; for (int i = 0; i < n; i++) { y[i] = k; k = x[i] * 1.5f; } y[13] = k; }",
}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 12])
@pytest.mark.parametrize("name", CARRIED)
def test_values_of_iterations_before(name, n):
    source = f"void f(int n, const float *x, float *y) {CARRIED[name]}"
    x = np.arange(24, dtype=np.float32) % 7 - 2
    compare(
        source, {"n": n, "x": x[1:].copy() if n else x, "y": np.ones(24, np.float32)}, strategies=("naive",)
    )


@pytest.mark.parametrize(
    "body", ["y[i] = p; p = y[i + 1];", "y[i] = p; p = p * p + x[i];", "y[i] = p; if (x[i] > 0) p = x[i];"]
)
def test_values_that_the_loop_changes_are_not_computed_again(body):
    source = (
        f"void f(int n, const float *x, float *y) {{ float p = 0; for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    assert "loop at f.c:1" in refusal(source)


LEFT = {
    "a recurrence beside a map": """{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        y[i * 24 + j] = x[j] - i;
        float s = 0; for (int i = 0; i < n; i++) s = s * 0.5f + y[i * 24]; y[1] = s; }""",
    "a walk that leaves two numbers": """{ for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        y[i * 24 + j] = x[j] - i; int k = 0, t = 0;
        while (k < n && t < 99) { if (y[k * 24] > 0) k++; else k += 2; t++; } y[0] = k; y[1] = t; }""",
}


@pytest.mark.parametrize("n", [0, 1, 24])
@pytest.mark.parametrize("name", LEFT)
def test_the_lesser_part_runs_in_order_on_one_thread(name, n):
    source = f"void f(int n, const float *x, float *y) {LEFT[name]}"
    x = np.arange(24, dtype=np.float32) % 7 - 2
    compare(source, {"n": n, "x": x, "y": np.ones(576, np.float32)}, strategies=("naive",))
    assert "<<<1, 1>>>" in kernels(source)


def test_a_part_as_deep_as_the_rest_is_refused():
    body = "for (int i = 0; i < n; i++) y[i] = x[i]; for (int i = 1; i < n; i++) y[i] = y[i - 1] * y[i] - 1;"
    assert "carries y[i - 1] -> y[i]" in refusal(f"void f(int n, const float *x, float *y) {{ {body} }}")


SCANS = {
    "inclusive": "{ int s = 2; for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; } return s; }",
    "exclusive": "{ int s = 0; for (int i = 0; i < n; i++) { y[i] = s; s += x[i]; } return 0; }",
    "from the end": "{ int s = 0; for (int i = n - 1; i >= 0; i--) { s += x[i]; y[i] = s; } return s; }",
    "of elements": "{ y[0] = x[0]; for (int i = 1; i < n; i++) y[i] = y[i - 1] + x[i]; return 0; }",
    "in place": "{ for (int i = 1; i < n; i++) y[i] += y[i - 1]; return 0; }",
    "running maximum": "{ int m = 1; for (int i = 0; i < n; i++) { if (x[i] > m) m = x[i]; y[i] = m; } return m; }",
    "running product": "{ unsigned p = 1; for (int i = 0; i < n; i++) { p *= x[i] | 1; y[i] = p; } return p; }",
    "running parity": "{ int p = 0; for (int i = 0; i < n; i++) { p ^= x[i]; y[i] = p & 1; } return p; }",
    "compaction": "{ int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0) y[k++] = x[i]; return k; }",
    "places": "{ int k = 0; for (int i = 0; i < n; i++) { if (x[i] % 3 == 0) { y[k] = i; k++; } } return k; }",
    "two parts": """{ int a = 0, b = 0; for (int i = 0; i < n; i++) {
        if (x[i] % 2) y[a++] = x[i]; else b++; } return a * 1000 + b; }""",
    "with a temporary from outside": """{ int s = 0, v; for (int i = 0; i < n; i++) { v = 2 * i; s += x[v];
        y[i] = s; } return s; }""",
    "with a temporary": """{ long s = 0; for (int i = 0; i < n; i++) { int v = x[i] * 2; if (v < 0) v = -v;
        s += v; y[i] = (int)(s % 100) + v; } return (int)s; }""",
}


@pytest.mark.parametrize("n", [0, 1, 33, 700])
@pytest.mark.parametrize("name", SCANS)
def test_scans(name, n):
    source = f"int f(int n, const int *x, int *y) {SCANS[name]}"
    x = np.random.default_rng(n).integers(-9, 10, 1500).astype(np.int32)
    strategies = None if name == "inclusive" else ("naive",)
    compare(source, {"n": n, "x": x, "y": x[::-1].copy()}, strategies=strategies)


def test_a_scan_of_floats_keeps_to_their_rounding():
    body = "float s = 0; for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; }"
    source = f"void f(int n, const float *x, float *y) {{ {body} }}"
    x = np.random.default_rng(2).random(5000).astype(np.float32)
    compare(
        source, {"n": 5000, "x": x, "y": np.zeros(5000, np.float32)}, strategies=("naive",), tolerance=1e-5
    )


@pytest.mark.parametrize(
    "body",
    [
        "s = s * 0.5f + x[i]; y[i] = s;",
        "y[i] = x[i] + s; s += y[i];",
        "if (s < 9) s += x[i]; y[i] = s;",
        "s += x[(int)s & 3]; y[i] = s;",
        "float v = x[(int)s & 3]; if (v > 0) s += x[i]; y[i] = s;",
        "s += x[i]; if (x[i] > 0) continue; y[i] = s;",
    ],
)
def test_what_is_no_scan_is_refused(body):
    source = (
        f"void f(int n, const float *x, float *y) {{ float s = 0; for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
    assert "carries s from one iteration to the next" in refusal(source)


@pytest.mark.parametrize(
    "body",
    [
        "if (x[i] > 0) y[k++] = x[i]; if (x[i] > 3) k--;",
        "y[k] = x[i]; if (x[i] > 0) k++;",
        "if (x[i] > 0) y[k++] = y[i];",
        "if (x[i] > 0) { k++; y[k] = x[i]; } else y[k++] = 0;",
    ],
)
def test_places_that_may_be_taken_twice_are_refused(body):
    loop = f"int k = 0; for (int i = 0; i < n; i++) {{ {body} }} return k;"
    source = f"int f(int n, const int *x, int *y) {{ {loop} }}"
    assert "loop at f.c:1" in refusal(source)


@pytest.mark.parametrize("body", ["Y[i*INCY] += a*X[i*INCX];", "Y[i*INCY] = X[i*INCX];", "Y[i*INCY] *= a;"])
@pytest.mark.parametrize("steps", [(1, 1), (2, 3), (1, 0), (0, 2)])
def test_steps_that_may_be_zero_are_tested_when_the_program_runs(body, steps):
    source = f"""void f(int n, float a, const float *X, int INCX, float *Y, int INCY)
        {{ int i; for (i = 0; i < n; ++i) {body} }}"""
    x = np.arange(100, dtype=np.float32)
    values = {"n": 20, "a": 2.0, "X": x, "INCX": steps[0], "Y": x[::-1] / 64, "INCY": steps[1]}
    compare(source, {k: v for k, v in values.items()}, strategies=("naive",))
    assert "INCY > 0" in kernels(source)


def test_memory_that_the_function_allocates():
    source = """#include <stdlib.h>
        void f(int n, float *x) { float *t = malloc(n * sizeof(float)), *z = (float *)calloc(n, sizeof *z);
        for (int i = 0; i < n; i++) { t[i] = x[n - 1 - i]; z[i] += t[i]; }
        for (int i = 0; i < n; i++) x[i] = t[i] + z[i]; free(t); free(z); }"""
    compare(source, {"n": 50, "x": np.arange(50, dtype=np.float32)}, strategies=("naive",))


def test_a_value_that_other_functions_compute_in_loops():
    source = """static float sum(const float *a, int n) {
        float s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
        static float mean(const float *a, int n) { return sum(a, n) / n; }
        float f(int n, const float *x) { float m = mean(x, n); float v = 0;
        for (int i = 0; i < n; i++) v += (x[i] - m) * (x[i] - m); return v / n; }"""
    compare(source, {"n": 64, "x": np.arange(64, dtype=np.float32)}, strategies=("naive",), tolerance=1e-5)
