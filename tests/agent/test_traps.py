"""Code that is easily ported wrong, through the product's own command: each is ported right, or refused by name."""

import re

import pytest

RIGHT = {
    "stencil in place, by wavefronts": """void f(int n, float *x) { for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) x[i * n + j] = 0.25f * (x[(i - 1) * n + j] + x[(i + 1) * n + j]
        + x[i * n + j - 1] + x[i * n + j + 1]); }""",
    "sum in a variable of all iterations": """float f(int n, const float *x) { float s = 1;
        for (int i = 0; i < n; i++) s += x[i] * x[i]; return s; }""",
    "ties of an argmax": """int f(int n, const int *x) { int k = 0; for (int i = 1; i < n; i++)
        if (x[i] % 3 > x[k] % 3) k = i; return k; }""",
    "ties of an argmax, the last one": """int f(int n, const int *x) { int k = 0; for (int i = 1; i < n; i++)
        if (x[i] % 3 >= x[k] % 3) k = i; return k; }""",
    "prefix sum": """void f(int n, const int *x, int *y) { int s = 0;
        for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; } }""",
    "compaction keeps the order": """int f(int n, const float *x, float *y) { int k = 0;
        for (int i = 0; i < n; i++) if (x[i] > 0) y[k++] = x[i]; return k; }""",
    "border and elements between that must survive": """void f(int n, const float *x, float *y) {
        for (int i = 2; i < n - 3; i += 2) y[i] = x[i]; }""",
    "argument that is read and written": """void f(int n, float *x, float *total) {
        for (int i = 0; i < n; i++) x[i] = x[i] * 0.5f + total[0]; }""",
    "fields that do not meet": """struct P { float a, b; }; void f(int n, struct P *p) {
        for (int i = 0; i < n - 1; i++) p[i].a = p[i + 1].b * 2; }""",
    "early exit": """int f(int n, const float *x, float *y) { int i; for (i = 0; i < n; i++) { if (x[i] < 0) break;
        y[i] = x[i]; } return i; }""",
    "buffers swapped in a time loop": """void f(int n, int steps, float *a, float *b) {
        for (int t = 0; t < steps; t++) { for (int i = 1; i < n - 1; i++) b[i] = (a[i - 1] + a[i + 1]) / 2;
        float *c = a; a = b; b = c; } }""",
    "large local array": """void f(int n, const double *x, double *y) { double t[100000];
        for (int i = 0; i < n && i < 100000; i++) t[i] = x[i] * x[i];
        for (int i = 1; i < n && i < 100000; i++) y[i] = t[i] - t[i - 1]; }""",
    "temporary shared by iterations": """void f(int n, float *x) { float t; int k;
        for (int i = 0; i < n; i++) { t = x[i]; k = i % 3; x[i] = t * k; } }""",
    "both partners of a pair": """void f(int n, const float *x, float *force) { for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) { float d = x[i] - x[j]; force[i] += d; force[j] -= d; } }""",
    "counting down to zero": """void f(unsigned n, float *x) { for (unsigned i = n; i-- > 0;) x[i] += i; }""",
    "bytes that wrap": """void f(int n, const unsigned char *x, unsigned char *y) {
        for (int i = 0; i < n; i++) { y[i] += x[i] * 3; y[i] = (unsigned char)(y[i] << 1) | (y[i] >> 7); } }""",
    "sum of bytes that wraps": """unsigned char f(int n, const unsigned char *x) { unsigned char s = 0;
        for (int i = 0; i < n; i++) s += x[i]; return s; }""",
    "maximum among values that may be NaN": """float f(int n, const float *x) { float m = -1e30f;
        for (int i = 0; i < n; i++) { float v = sqrtf(x[i]); if (v > m) m = v; } return m; }""",
    "guard that keeps from reading outside": """void f(int n, const float *x, float *y) {
        for (int i = 0; i < n; i++) y[i] = i > 0 && x[i - 1] > 0 ? x[i - 1] : i < n - 1 ? x[i + 1] : 0; }""",
    "negative remainders": """void f(int n, const int *x, int *y) {
        for (int i = 0; i < n; i++) y[i] = x[i] % 5 + x[i] / 3 + (x[i] >> 1); }""",
    "unsigned difference": """void f(int n, const unsigned *x, unsigned *y) {
        for (int i = 0; i < n; i++) y[i] = x[i] - 7u < 3u ? 1 : x[i] / 2 - 5; }""",
    "float and double constants": """void f(int n, const float *x, float *y) {
        for (int i = 0; i < n; i++) y[i] = x[i] * 0.1 + 1 / 3 + 1.0f / 3; }""",
    "triangle": """void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) b[j * n + i] = a[i * n + j]; }""",
    "rows and columns added up in one loop": """void f(int n, const float *a, float *r, float *c) {
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { r[i] += a[i * n + j]; c[j] += a[i * n + j]; } }""",
    "values overwritten later": """void f(int n, float *x) { for (int i = 0; i < n - 1; i++) x[i] = x[i + 1] * 2; }""",
    "reversal in place": """void f(int n, float *x) { for (int i = 0; i < n / 2; i++) {
        float t = x[i]; x[i] = x[n - 1 - i]; x[n - 1 - i] = t; } }""",
    "value of the iteration before": """void f(int n, const float *x, float *y) { float p = 0;
        for (int i = 0; i < n; i++) { y[i] = x[i] - p; p = x[i]; } }""",
    "counter read after its loop": """int f(int n, const float *x, float *y) { int i;
        for (i = 0; i < n - 3; i += 4) y[i] = x[i]; return i; }""",
    "histogram": """void f(int n, const unsigned char *x, int h[256]) { for (int i = 0; i < n; i++) h[x[i]]++; }""",
    "shortest paths, whose row and column change": """void f(int n, float *d) { for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        if (d[i * n + k] + d[k * n + j] < d[i * n + j]) d[i * n + j] = d[i * n + k] + d[k * n + j]; }""",
    "bubble sort, whose steps pass one another": """void f(int n, int *x) { for (int i = 0; i < n; i++)
        for (int j = 0; j + 1 < n - i; j++) if (x[j] > x[j + 1]) {
        int t = x[j]; x[j] = x[j + 1]; x[j + 1] = t; } }""",
    "loop until it converges": """int f(int n, float *a, float *b) { int steps = 0; float change = 1;
        while (change > 0.01f && steps < 50) { change = 0; for (int i = 1; i < n - 1; i++) {
        b[i] = (a[i - 1] + a[i + 1]) / 2; float d = fabsf(b[i] - a[i]); if (d > change) change = d; }
        for (int i = 1; i < n - 1; i++) a[i] = b[i]; steps++; } return steps; }""",
}
REFUSED = {
    "recurrence": (
        "void f(int n, float *x) { for (int i = 1; i < n; i++) x[i] = x[i - 1] * x[i] - 1; }",
        "carries x",
    ),
    "scatter that may meet": (
        "// cudaperf: y[n], k in 0..n-1\n"
        "void f(int n, const int *k, const float *x, float *y) { for (int i = 0; i < n; i++) y[k[i]] = x[i]; }",
        r"y\[k\[i\]\] in more than one iteration",
    ),
    "two iterations an element": (
        "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i / 2] = x[i]; }",
        r"y\[i / 2\] in more than one iteration",
    ),
    "last positive value so far": (
        """void f(int n, const float *x, float *y) { float t = 0; for (int i = 0; i < n; i++) {
        if (x[i] > 0) t = x[i]; y[i] = t; } }""",
        "carries t",
    ),
    "integer sum of fractions": (
        "int f(int n, const float *x) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }",
        "carries s",
    ),
    "static local": (
        "void f(int n, int *x) { for (int i = 0; i < n; i++) { static int k; x[i] = k++; } }",
        "k is static|k. is static|keeps its value between calls",
    ),
    "rand in the loop": ("void f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = rand(); }", "rand"),
    "printf in the loop": (
        'void f(int n, int *x) { for (int i = 0; i < n; i++) printf("%d", x[i]++); }',
        "string|printf",
    ),
    "helper that writes the neighbour": (
        """static void put(float *x, int i, float v) { x[i + 1] = v; }
        void f(int n, float *x) { for (int i = 0; i < n - 1; i++) put(x, i, x[i] + 1); }""",
        "carries x",
    ),
    "bound that the loop changes": (
        "void f(int n, int *x) { for (int i = 0; i < n; i++) { if (x[i] == 3) n--; x[i] = 1; } }",
        "changes n|cannot tell",
    ),
    "recursion": (
        "void f(int n, float *x) { if (n > 1) f(n - 1, x); for (int i = 0; i < n; i++) x[i]++; }",
        "calls itself",
    ),
    "goto": (
        "void f(int n, float *x) { for (int i = 0; i < n; i++) { if (x[i] < 0) goto out; x[i] = 1; } out:; }",
        "goto",
    ),
    "volatile": ("void f(int n, volatile int *x) { for (int i = 0; i < n; i++) x[i] = i; }", "volatile"),
    "call through a pointer": (
        "void f(int n, float *x, float (*g)(float)) { for (int i = 0; i < n; i++) x[i] = g(x[i]); }",
        "function pointer",
    ),
}
HEAD = "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"


@pytest.mark.parametrize("name", RIGHT)
def test_trap_is_ported_right(name, command, tmp_path):
    (tmp_path / "trap.c").write_text(HEAD + RIGHT[name])
    answer = command("translate", "trap.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status == 0, answer.err
    assert (tmp_path / "out" / "f.cu").is_file()


@pytest.mark.parametrize("name", REFUSED)
def test_trap_is_refused(name, command, tmp_path):
    source, reason = REFUSED[name]
    (tmp_path / "trap.c").write_text(HEAD + source)
    answer = command("translate", "trap.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status in (1, 2), answer.err
    assert re.search(reason, " ".join(answer.err.split())), answer.err
    assert re.search(r"trap\.c:\d+", answer.err), answer.err
    assert not list(tmp_path.glob("out/*.cu"))


def test_arguments_that_overlap_are_noticed_when_the_program_runs(command, tmp_path):
    (tmp_path / "trap.c").write_text(
        HEAD + "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i] + 1; }\n"
        'int main(void) { float a[9] = {0}; f(8, a, a + 1); printf("%g\\n", a[8]); return 0; }\n'
    )
    answer = command("translate", "trap.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status == 1 and "x and y overlap" in " ".join(answer.err.split()), answer.err


def test_a_port_that_costs_more_than_it_saves_says_so(command, tmp_path):
    (tmp_path / "trap.c").write_text(
        """void f(int n, const double *l, double *x) { for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) x[i] -= l[i * n + j] * x[j]; x[i] /= l[i * n + i] + 8; } }"""
    )
    answer = command("translate", "trap.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status == 0 and "slower than the original at this size" in " ".join(answer.err.split()), (
        answer.err
    )
    assert "launches follow one another" in " ".join(answer.err.split())
    assert "slower than the original" in (tmp_path / "out" / "report.md").read_text()
