"""What is assumed of extents and sizes, what a person can tell of them, and what is refused."""

from __future__ import annotations

import pytest
from cudaperf_agent.tools.c.parse import SourceError
from extents import used


def test_integers_are_sizes_counts_or_values() -> None:
    found = used(
        "void f(int n, int steps, int seed, float *x) {"
        "  int last = steps - 1; for (int t = 0; t <= last; t++) for (int i = 0; i < n; i++) x[i] += seed; }"
    )
    assert found.usage == {"n": "size", "steps": "count"}


def test_limits_keep_subscripts_inside_arrays_of_fixed_size() -> None:
    source = (
        "float table[64];"
        "void f(int n, int m, int k, float *y) { float t[16]; for (int i = 0; i < n; i++) t[i] = i;"
        "  for (int i = 0; i < n; i++) y[i] = t[n - 1 - i]; for (int i = 0; i + 1 < m; i++) y[0] += table[i];"
        "  y[k - 3] = 1; }"
    )
    assert used(source).limits == {"n": (None, 16), "m": (None, 65), "k": (3, None)}


def test_subscripts_that_are_data_are_kept_in_range_not_refused() -> None:
    source = (
        "int digits[10], last[8];"
        "void f(int n, int place, const int *a, const unsigned short *b, const int *p, float *x, int m) {"
        "  for (int i = 0; i < n; i++) { digits[a[i] / place % 10]++; last[b[i]] = i; x[p[i] + 1] = 1; }"
        "  // cudaperf: x[m]\n }"
    )
    assert used(source).indices == {"a": (0, None), "b": (0, "7"), "p": (-1, "m - 2")}


def test_globals_are_found_through_helpers() -> None:
    source = (
        "int n = 8; double total; float A[4][8]; static const float w[2] = {1, 2};"
        "static float h(int i, int j) { return A[i][j] * w[j & 1]; }"
        "void f(float *x) { for (int i = 0; i < 4; i++) for (int j = 0; j < n; j++) total += x[j] = h(i, j); }"
    )
    found = used(source)
    assert {a.name: (a.role, a.shape) for a in found.arrays.values()} == {
        "x": ("out", ("n",)),
        "A": ("in", ("4", "8")),
        "w": ("in", ("2",)),
    }
    assert set(found.globals_read) == {"n", "total"} and set(found.globals_written) == {"total"}
    assert found.usage["n"] == "size" and found.limits["n"] == (None, 8)


SPMV = """\
void f(int n, const int *row, const int *col, const float *val, const float *x, float *y) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = row[i]; j < row[i + 1]; j++) y[i] += val[j] * x[col[j]];
  }
}
"""


def test_what_cannot_be_known_is_asked_for_with_the_line_to_add() -> None:
    with pytest.raises(SourceError) as caught:
        used(SPMV)
    said = str(caught.value)
    assert said.startswith("f.c:4:") and "\n" not in said
    assert "cannot tell how many elements of 'col' f() uses (subscript col[j] at f.c:4)" in said
    assert "// cudaperf: col[n], val[n], x[n]" in said


def test_extents_told_in_a_comment_are_taken() -> None:
    told = used("int nnz;\n// cudaperf: col[8 * n], val[8 * n], x[n]\n" + SPMV).arrays
    assert told["col"].shape == ("8 * n",) and told["x"].shape == ("n",) and told["row"].shape == ("n + 1",)


def test_ranges_told_of_an_index_give_the_extents_it_reaches() -> None:
    told = used("// cudaperf: row in 0..8*n, col in 0..n-1\n" + SPMV).arrays
    assert told["val"].shape == ("8 * n",) and told["x"].shape == ("n",)


def test_the_answer_to_the_question_is_enough() -> None:
    source = "void f(int n, const int *p, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[p[i]]; }"
    with pytest.raises(SourceError) as caught:
        used(source)
    line = str(caught.value).rpartition(": ")[2]
    assert used(f"// cudaperf: {line}\n{source}").arrays["x"].shape == ("n",)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] = x[i - 1]; }",
            "the subscript x[i - 1] reaches element -1, before the start of 'x'",
        ),
        (
            "float g[4]; void f(int n, float *x) { for (int i = 0; i < 5; i++) x[i] = g[i]; }",
            "the subscript g[i] reaches element 4, after the end of 'g'",
        ),
        ("void f(int n, float *x) { if (n > 1) f(n - 1, x); x[n] = 1; }", "f() calls itself"),
        (
            "int g(int); void f(int n, float *x) { x[g(n)] = 1; }",
            "calls g(), which this file does not define",
        ),
        (
            "void f(int n, float *x) { static int k; x[k++] = n; }",
            "'k' is static and keeps its value between calls",
        ),
        (
            "void f(int n, float *x) { short *s = (short *)x; s[n] = 1; }",
            "the pointer 'x' is cast to 'short *'",
        ),
        (
            "void f(int n, char *s) { int i = 0; while (s[i]) s[i++] = 'a'; }",
            "cannot tell how many elements of 's'",
        ),
        (
            "void f(char *s) { while (*s) *s++ = 'a'; }",
            "'s' is not supported yet: string that ends at its NUL",
        ),
        ("void g(int n) { goto a; a:; } void f(int n, float *x) { g(n); x[0] = 1; }", "not supported: goto"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_its_place(source: str, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        used(source)
    assert said in str(caught.value) and caught.value.line == 1
