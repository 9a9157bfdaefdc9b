"""The C that the built-in policy translates: each port does what the original does, bit for bit where integers are."""

import numpy as np
import pytest
from porting import compare

N = 1037
rng = np.random.default_rng(1)


def floats(*shape: int) -> np.ndarray:
    return rng.random(shape, dtype=np.float32)


def doubles(*shape: int) -> np.ndarray:
    return rng.random(shape)


def integers(n: int, dtype=np.int32) -> np.ndarray:
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -1000), min(info.max, 1000), n).astype(dtype)


CASES = {
    "single elements on the host": (
        """void f(int n, float *u) { u[0] = u[1]; u[n - 1] = u[n - 2] = 3; u[1] += 2;
           for (int i = 2; i < n - 2; i++) u[i] *= u[0]; u[0]++; }""",
        {"n": 65, "u": floats(65)},
    ),
    "steps of three": (
        "void f(int n, float *x) { for (int i = 1; i < n; i += 3) x[i] = x[i - 1] + x[i + 1]; }",
        {"n": 64, "x": floats(66)},
    ),
    "counting down": (
        "void f(int n, float *x) { for (int i = n - 1; i >= 2; i -= 2) x[i] += i; }",
        {"n": 64, "x": floats(64)},
    ),
    "counting down, unsigned": (
        "void f(unsigned n, float *x) { for (unsigned i = n - 1; i > 2; i--) x[i] += i; }",
        {"n": 64, "x": floats(64)},
    ),
    "wide counter": (
        "#include <stddef.h>\nvoid f(size_t n, float *x) { for (size_t i = 0; i < n; i++) x[i] += i; }",
        {"n": 64, "x": floats(64)},
    ),
    "no iteration": (
        "void f(int h, int w, float *x) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) x[i * w + j] = 0; }",
        {"h": -2, "w": -3, "x": floats(8)},
    ),
    "rows of constant length": (
        """void f(float a[20][30], float b[20][30]) { a[0][0] = a[1][1] + 1; for (int i = 1; i < 19; i++)
           for (int j = 1; j < 29; j++) b[i][j] = a[i - 1][j] + a[i][j + 1]; b[2][2]++; }""",
        {"a": floats(20, 30), "b": floats(20, 30)},
    ),
    "rows of variable length": (
        """void f(int h, int w, float a[h][w], float b[h][w]) { float t[h][w];
           for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) t[i][j] = a[i - 1][j] + a[i][j + 1];
           for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) b[i][j] = t[i][j]; b[0][0] = a[1][1]; }""",
        {"h": 20, "w": 33, "a": floats(660), "b": floats(660)},
    ),
    "three dimensions": (
        """void f(int d, int h, int w, const float *a, float *b) { for (int k = 1; k < d - 1; k++)
           for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) b[(k * h + i) * w + j] =
           a[((k - 1) * h + i) * w + j] + a[((k + 1) * h + i) * w + j] - a[(k * h + i) * w + j]; }""",
        {"d": 7, "h": 9, "w": 35, "a": floats(7 * 9 * 35), "b": floats(7 * 9 * 35)},
    ),
    "local tables and globals": (
        """static const int table[4] = {3, 1, 4, 1}; static const int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
           static int at(int i, int j) { return rows[i][j] * 2; }
           void f(int n, int *x) { const int k[2][2] = {{1, 2}, {3, 4}};
           for (int i = 0; i < n; i++) x[i] += table[i & 3] + rows[i % 2][i % 3] + at(i % 2, 1) + k[i % 2][1]; }""",
        {
            "n": N,
            "x": integers(N),
            "table": np.array([3, 1, 4, 1], np.int32),
            "rows": np.arange(1, 7, dtype=np.int32).reshape(2, 3),
        },
    ),
    "arrays of the function's own": (
        """void f(int n, const float *x, float *y) { float t[128] = {0}, s[n];
           for (int i = 0; i < 100; i++) if (i < n) t[i] = x[i] * 2; for (int i = 0; i < n; i++) s[i] = x[i];
           for (int i = 0; i < n; i++) y[i] = t[127 - i] + s[n - 1 - i]; }""",
        {"n": 101, "x": floats(101), "y": floats(101)},
    ),
    "arrays of an iteration's own": (
        """void f(int n, const int *x, int *y) { for (int i = 1; i < n - 1; i++) {
           int v[3] = {x[i - 1], x[i], x[i + 1]}; for (int a = 0; a < 2; a++) for (int b = 0; b < 2 - a; b++)
           if (v[b] > v[b + 1]) { int t = v[b]; v[b] = v[b + 1]; v[b + 1] = t; } y[i] = v[1]; } }""",
        {"n": N, "x": integers(N), "y": integers(N)},
    ),
    "small types wrap": (
        """void f(int n, const unsigned char *x, signed char *y, unsigned short *z) { for (int i = 0; i < n; i++) {
           y[i] = (x[i] << 1) - 200 + 'a'; z[i] += x[i] * x[i] * 3; z[i]--; } }""",
        {"n": N, "x": integers(N, np.uint8), "y": integers(N, np.int8), "z": integers(N, np.uint16)},
    ),
    "unsigned arithmetic wraps": (
        """void f(int n, unsigned *x) { for (int i = 0; i < n; i++) { unsigned h = x[i] * 2654435761u; h ^= h >> 13;
           x[i] = h * 3266489917u - i; } }""",
        {"n": N, "x": integers(N, np.uint32)},
    ),
    "doubles of floats": (
        """#include <math.h>
           void f(int n, const float *x, float *y, double *z) { for (int i = 0; i < n; i++) {
           y[i] = sqrt(x[i]) + fabs(x[i] - 1) * 0.1; z[i] = pow(x[i], 2) - floor(x[i] * 10) + abs(-3); } }""",
        {"n": N, "x": floats(N), "y": floats(N), "z": doubles(N)},
    ),
    "endless and broken loops": (
        """void f(int n, int *x) { for (int i = 0; i < n; i++) { long c = i + 1; int k = 0;
           do { if (c % 2) c = 3 * c + 1; else c /= 2; k++; if (k > 100) break; } while (c != 1);
           for (;;) { if (k < 50) break; k -= 7; } x[i] = k; } }""",
        {"n": N, "x": integers(N)},
    ),
    "commas, ternaries, steps": (
        """void f(int n, int *x) { for (int i = 0; i < n; i++) { int a, b;
           for (a = 0, b = i; a < b; a++, b--) x[i] += a > 2 ? b-- : (a, -b); x[i] <<= 1, x[i] |= a == b; } }""",
        {"n": 70, "x": integers(70)},
    ),
    "names that hide others": (
        """void f(int n, int *x) { int t = 5; for (int i = 0; i < n; i++) { int t = i * 2; { int t = 1; x[i] += t; }
           x[i] += t; } x[0] += t; }""",
        {"n": N, "x": integers(N)},
    ),
    "names of C++ and of CUDA": (
        """static int min(int a, int b) { int class = a < b; return class ? a : b; }
           void f(int n, int *new, int block, int grid, int *tx) { for (int i = 0; i < n; i++) {
           int template = min(new[i], i), max = block; new[i] = template + max; tx[i] = grid; } }""",
        {"n": N, "new_": integers(N), "block": 3, "grid": 4, "tx": integers(N)},
    ),
    "helpers with results through pointers": (
        """typedef struct { int lo, hi; } Range;
           static void widen(Range *r, int by) { r->lo -= by; r->hi += by; }
           static int inside(Range r, int v) { return r.lo <= v && v < r.hi; }
           void f(int n, int *x) { for (int i = 0; i < n; i++) { Range r = {i, i + 5}; widen(&r, 2);
           x[i] = inside(r, x[i]) ? r.hi : -r.lo; } }""",
        {"n": N, "x": integers(N)},
    ),
    "enums": (
        """enum Kind { SMALL, LARGE = 7 };
           static enum Kind kind(int v) { enum Kind k = v > 0; if (k) k = LARGE; return k; }
           void f(int n, int *x) { for (int i = 0; i < n; i++) x[i] = kind(x[i]) == LARGE ? LARGE : SMALL + 1; }""",
        {"n": N, "x": integers(N)},
    ),
    "swap from both ends": (
        """void f(int n, float *a) { for (int i = 0; i < n / 2; i++) { float t = a[i]; a[i] = a[n - 1 - i];
           a[n - 1 - i] = t; } }""",
        {"n": 101, "a": floats(101)},
    ),
    "rows one after the other, columns in parallel": (
        """void f(int h, int w, int *a) { for (int i = 1; i < h; i++) for (int j = 1; j < w; j++)
           a[i * w + j] += a[(i - 1) * w + j - 1]; }""",
        {"h": 17, "w": 33, "a": integers(17 * 33)},
    ),
    "triangle": (
        """void f(int n, int *a) { for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++)
           a[j * n + i] = a[i * n + j]; }""",
        {"n": 21, "a": integers(441)},
    ),
    "time loop with swap": (
        """void f(int n, int steps, float *u, float *v) { float *a = u, *b = v; for (int t = 0; t < steps; t++) {
           b[0] = a[0]; b[n - 1] = a[n - 1]; for (int i = 1; i < n - 1; i++) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
           float *s = a; a = b; b = s; } if (a != u) for (int i = 0; i < n; i++) u[i] = a[i]; }""",
        {"n": 65, "steps": 5, "u": floats(65), "v": floats(65)},
    ),
    "elimination": (
        """void f(int n, double *a) { for (int k = 0; k < n; k++) { double p = a[k * n + k];
           for (int i = k + 1; i < n; i++) a[i * n + k] /= p; for (int i = k + 1; i < n; i++)
           for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j]; } }""",
        {"n": 9, "a": doubles(81) + 10 * np.eye(9).ravel()},
    ),
    "functions that hold the loops": (
        """#include <math.h>
           static void step(int n, float k, const float *a, float *b) { for (int i = 1; i < n - 1; i++)
           b[i] = a[i] + k * (a[i - 1] + a[i + 1] - 2 * a[i]); }
           static double norm(int n, const float *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * x[i];
           return s; }
           double f(int n, int steps, float *u, float *v) { double last = 0; for (int t = 0; t < steps; t++) {
           step(n, 0.1f, u, v); float *s = u; u = v; v = s; last = norm(n - 1, u); if (last < 1) break; }
           return sqrt(norm(n, v) + last); }""",
        {"n": 65, "steps": 5, "u": floats(65), "v": floats(65)},
    ),
    "copies and fills": (
        """#include <string.h>
           void f(int n, int *x, int *y) { memset(y, 0, n * sizeof *y); for (int i = 1; i < n; i++) y[i] += x[i - 1];
           memcpy(x + 1, y + 1, (n - 2) * sizeof(int)); }""",
        {"n": N, "x": integers(N), "y": integers(N)},
    ),
    "histogram": (
        """void f(int h, int w, const unsigned char *x, int *bins) { for (int i = 0; i < h; i++)
           for (int j = 0; j < w; j++) bins[x[i * w + j] / 16] += i - 3; }""",
        {"h": 20, "w": 31, "x": integers(620, np.uint8), "bins": integers(16)},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_port_does_what_the_original_does(name):
    source, values = CASES[name]
    compare(source, values, strategies=("naive",), tolerance=1e-6)


def test_switch():
    source = """enum K { A, B, C };
        static float g(int k, float v) { switch (k) { case 0: return v; case 1: { v = v * 2; break; }
        case 7: case 8: v -= 1; break; default: return -v; } return v + 1; }
        void f(int n, const int *op, float *x) { for (int i = 0; i < n; i++) { x[i] = g(op[i], x[i]); int k = op[i] % 3;
        switch (k++) { case A: x[i] += k; break; case B: x[i] *= 2; break; case C: break; } } }"""
    op = np.arange(40, dtype=np.int32) % 10
    compare(source, {"n": 40, "op": op, "x": np.arange(40, dtype=np.float32)}, strategies=("naive",))


@pytest.mark.parametrize(
    "arm", ["x[i] = 1;", "if (x[i] > 0.5f) break; x[i] = 2; break;", "x[i] = 5; default: x[i] += 2;"]
)
def test_switch_that_is_no_choice_runs_from_its_arm_on(arm):
    source = f"""void f(int n, const int *op, float *x) {{ for (int i = 0; i < n; i++)
        switch (op[i] % 5) {{ case 1: {arm} case 2: x[i] += 3; break; case 4: x[i] = 7; }} }}"""
    compare(source, {"n": 64, "op": integers(64), "x": floats(64)}, strategies=("naive",))
