"""A team of threads for each iteration: rows, columns, sparse rows, several loops after one another."""

from __future__ import annotations

import numpy as np
import pytest
from porting import compare, kernels, ports

N, M = 37, 45
BODIES = {
    "rows": "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < m; j++) y[i] += a[i * m + j] * x[j]; }",
    "rows into a variable": """for (int i = 0; i < n; i++) { float s = 1; for (int j = 0; j < m; j++)
        s += a[i * m + j] * x[j]; y[i] = s * 2; }""",
    "columns": """for (int i = 0; i < n; i++) { float s = 0; for (int j = 0; j < n; j++) s += a[j * m + i]; y[i]
           += s; }""",
    "greatest and least": """for (int i = 0; i < n; i++) { float h = x[i], l = h; for (int j = 2; j < m; j++) {
        float v = a[i * m + j]; if (v > h) h = v; if (v < l) l = v; } y[i] = h - l; }""",
    "softmax": """for (int i = 0; i < n; i++) { float h = a[i * m]; for (int j = 1; j < m; j++)
        h = a[i * m + j] > h ? a[i * m + j] : h; float s = 0; for (int j = 0; j < m; j++) {
        a[i * m + j] = 1 / (1 + h - a[i * m + j]); s += a[i * m + j]; } for (int j = 0; j < m; j++) a[i * m + j]
           /= s; }""",
    "triangle": "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) y[i] += a[i * m + j];",
    "from the end, in threes": """for (int i = n - 1; i >= 0; i -= 2) { float s = 0;
        for (int j = m - 1; j >= 0; j -= 3) s += a[i * m + j]; y[i] = s; }""",
}


def arrays() -> dict:
    rng = np.random.default_rng(7)
    values = {
        k: (rng.integers(-8, 9, s) / 8).astype(np.float32) for k, s in (("a", N * M), ("x", M), ("y", M))
    }
    return {"n": N, "m": M, **values}


@pytest.mark.parametrize("name", BODIES)
def test_a_team_does_what_the_original_does(name):
    source = f"void f(int n, int m, float *a, const float *x, float *y) {{ {BODIES[name]} }}"
    compare(source, arrays(), strategies=("teams",), tolerance=1e-6)
    assert "teams" in ports(source)


def test_sparse_rows():
    source = """void f(int n, const int *p, const int *c, const float *v, const float *x, float *y) {
        for (int i = 0; i < n; i++) { float s = 0; for (int k = p[i]; k < p[i + 1]; k++) s += v[k] * x[c[k]];
           y[i] = s; } }"""
    rng = np.random.default_rng(3)
    p = np.concatenate([[0], np.cumsum(rng.integers(0, 70, 20))]).astype(np.int32)
    values = {"p": p, "c": rng.integers(0, 50, p[-1]).astype(np.int32), "v": np.ones(p[-1], np.float32)}
    x = rng.integers(0, 9, 50).astype(np.float32)
    compare(source, {"n": 20, **values, "x": x, "y": np.zeros(20, np.float32)}, strategies=("teams",))


def test_a_whole_warp_reads_a_row_and_a_part_of_one_reads_columns():
    def text(subscript: str) -> str:
        loop = f"for (int j = 0; j < n; j++) s += a[{subscript}];"
        body = f"for (int i = 0; i < n; i++) {{ double s = 0; {loop} y[i] = s; }}"
        return kernels(f"void f(int n, const double *a, double *y) {{ {body} }}", strategy="teams")

    assert "member = threadIdx.x % 32;" in text("i * n + j")
    assert "member = threadIdx.x % 32 / 4;" in text("j * n + i")


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) a[i * m + j] += a[i * m + j - 1];",
        "for (int i = 0; i < n; i++) y[i] = x[i];",
    ],
)
def test_no_team_where_there_is_nothing_to_share(body):
    assert "teams" not in ports(f"void f(int n, int m, float *a, const float *x, float *y) {{ {body} }}")
