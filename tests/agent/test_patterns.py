"""A row for each pattern and each piece of C that the translator's page promises, through the product's own
command."""

import json

import pytest

PATTERNS = {
    "map of three dimensions": """void f(int d, int h, int w, const float *x, float *y) { for (int i = 0; i < d; i++)
        for (int j = 0; j < h; j++) for (int k = 0; k < w; k++) y[(i * h + j) * w + k] = sqrtf(x[(i * h + j) * w +
        k] + i); }""",
    "stencil of three dimensions": """void f(int n, const double *x, double *y) { for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++) for (int k = 1; k < n - 1; k++) y[(i * n + j) * n + k] = (x[((i - 1) * n +
        j) * n + k]
        + x[((i + 1) * n + j) * n + k] + x[(i * n + j - 1) * n + k] + x[(i * n + j + 1) * n + k] + x[(i * n + j) *
        n + k - 1]
        + x[(i * n + j) * n + k + 1]) / 6; }""",
    "several reductions in one loop": """void f(int n, const float *x, float *out) { float s = 0, m = x[0], p = 1;
        int all = 1, any = 0; for (int i = 0; i < n; i++) { s += x[i]; if (x[i] < m) m = x[i]; p *= 1 + x[i] / 4096;
        all = all && x[i] > -9; any |= x[i] > 0.5f; } out[0] = s; out[1] = m; out[2] = p; out[3] = all; out[4] =
        any; }""",
    "sums over an axis": """void f(int h, int w, const float *x, float *s) { for (int j = 0; j < w; j++) { s[j] = 0;
        for (int i = 0; i < h; i++) s[j] += x[i * w + j]; } }""",
    "histogram with weights": """// cudaperf: bin in 0..63
        void f(int n, const int *bin, const double *w, double h[64]) { for (int i = 0; i < n; i++) h[bin[i]] +=
        w[i]; }""",
    "product with both factors transposed": """void f(int m, int n, int k, const float *a, const float *b, float *c) {
        for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { float s = 0; for (int p = 0; p < k; p++)
        s += a[p * m + i] * b[j * k + p]; c[i * n + j] = 0.5f * s + c[i * n + j]; } }""",
    "convolution": """void f(int h, int w, const float *x, const float k[25], float *y) { for (int i = 2; i < h -
        2; i++)
        for (int j = 2; j < w - 2; j++) { float s = 0; for (int a = -2; a <= 2; a++) for (int b = -2; b <= 2; b++)
        s += k[(a + 2) * 5 + b + 2] * x[(i + a) * w + j + b]; y[i * w + j] = s; } }""",
    "bodies that attract": """typedef struct { float x, y, m; } Body; void f(int n, const Body *b, float *ax, float
        *ay) {
        for (int i = 0; i < n; i++) { float sx = 0, sy = 0; for (int j = 0; j < n; j++) { float dx = b[j].x - b[i].x,
        dy = b[j].y - b[i].y, r = 1 / sqrtf(dx * dx + dy * dy + 0.01f); sx += b[j].m * dx * r * r * r;
        sy += b[j].m * dy * r * r * r; } ax[i] = sx; ay[i] = sy; } }""",
    "sparse rows": """// cudaperf: start[n + 1], start in 0..4*n, column[4*n], column in 0..n-1, value[4*n], x[n]
        void f(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
        for (int i = 0; i < n; i++) { double s = 0; for (int k = start[i]; k < start[i + 1]; k++)
        s += value[k] * x[column[k]]; y[i] = s; } }""",
    "a generator for each iteration": """int f(int n) { int hits = 0; for (int i = 0; i < n; i++) {
        unsigned r = 2463534242u ^ (unsigned)i * 2654435761u; float p[2]; for (int k = 0; k < 2; k++) {
        r ^= r << 13; r ^= r >> 17; r ^= r << 5; p[k] = (r >> 8) / 16777216.0f; }
        if (p[0] * p[0] + p[1] * p[1] < 1) hits++; } return hits; }""",
    "edit distance": """void f(int n, const char *a, const char *b, int *d) { for (int i = 0; i <= n; i++) { d[i] = i;
        d[i * (n + 1)] = i; } for (int i = 1; i <= n; i++) for (int j = 1; j <= n; j++) {
        int s = d[(i - 1) * (n + 1) + j - 1] + (a[i - 1] != b[j - 1]), u = d[(i - 1) * (n + 1) + j] + 1,
        l = d[i * (n + 1) + j - 1] + 1; d[i * (n + 1) + j] = s < u ? (s < l ? s : l) : (u < l ? u : l); } }""",
    "bits": """void f(int n, const unsigned *x, unsigned *y) { for (int i = 0; i < n; i++) { unsigned v = x[i];
        v = v - ((v >> 1) & 0x55555555u); v = (v & 0x33333333u) + ((v >> 2) & 0x33333333u);
        y[i] = (((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u) >> 24; } }""",
    "bytes of a text": """void f(int n, const char *x, char *y) { for (int i = 0; i < n; i++)
        y[i] = x[i] >= 'a' && x[i] <= 'z' ? x[i] - 'a' + 'A' : x[i] == '\\n' ? ' ' : x[i]; }""",
    "first match": """int f(int n, const int *x, int wanted) { for (int i = 0; i < n; i++) if (x[i] == wanted)
        return i;
        return -1; }""",
    "an alignment with its traceback": """void f(int n, const int *s, int *m, char *path) { for (int i = 1; i < n;
        i++)
        for (int j = 1; j < n; j++) { int a = m[(i - 1) * n + j], b = m[i * n + j - 1]; m[i * n + j] = s[i * n + j]
        + (a > b ? a : b); }
        int i = n - 1, j = n - 1; while (i > 0 && j > 0) { if (m[(i - 1) * n + j] > m[i * n + j - 1]) { path[i + j]
        = 1; i--; }
        else { path[i + j] = 2; j--; } } }""",
}
LANGUAGE = {
    "helper functions, one with a loop": """static float power(float x, int n) { float r = 1; while (n-- > 0) r *=
        x; return r; }
        static inline float poly(float x) { return power(x, 3) - 2 * power(x, 2); }
        void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = poly(x[i]); }""",
    "tables, globals, enums, bool": """#include <stdbool.h>
        enum Kind { FLAT, STEEP = 3 }; static const float weights[4] = {0.5f, 1, 2, 4}; float scale = 1.5f;
        void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) { bool steep = x[i] > 0.5f;
        enum Kind k = steep ? STEEP : FLAT; y[i] = scale * weights[k] * x[i]; } }""",
    "structs by value and by pointer, nested": """typedef struct { struct { float x, y; } at; int kind; } Point;
        typedef struct { float a, b; int n; } Params; void f(const Params *p, Params q, Point *points) {
        for (int i = 0; i < p->n; i++) { points[i].at.x = p->a * points[i].at.y + q.b; points[i].kind++; } }""",
    "a struct with pointers": """typedef struct { int rows, cols; double *data; } Matrix;
        void f(Matrix *m, double t) { for (int i = 0; i < m->rows; i++) for (int j = 0; j < m->cols; j++)
        m->data[i * m->cols + j] *= t; }""",
    "rows of pointers": """void f(int h, int w, float **a, float **b) { for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++) b[i][j] = 2 * a[i][j]; }""",
    "planes of rows of pointers": """void f(int d, int h, int w, double ***a) { for (int i = 0; i < d; i++)
        for (int j = 0; j < h; j++) for (int k = 0; k < w; k++) a[i][j][k] += i + j * k; }""",
    "arrays of variable length": """void f(int n, int m, const float a[n][m], float b[m][n]) { float t[n];
        for (int i = 0; i < n; i++) t[i] = a[i][0]; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
        b[j][i] = a[i][j] - t[i]; }""",
    "pointers that walk": "void f(size_t n, const float *x, float *y) { while (n--) *y++ = *x++ * 2; }",
    "loops that step and count down": """void f(unsigned long n, long m, float *x) { for (unsigned long i = 3; i <
        n; i += 5) x[i] = 1;
        for (long i = m - 1; i >= 0; i -= 2) x[i] += 2; }""",
    "macros and branches of the preprocessor": """#define AT(i, j) ((i) * w + (j))
        #define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))
        #ifdef FAST
        #define TYPE float
        #else
        #define TYPE double
        #endif
        void f(int h, int w, const TYPE *x, TYPE *y) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
        y[AT(i, j)] = CLAMP(x[AT(CLAMP(i - 1, 0, h - 1), j)], -0.5, 0.5); }""",
    "complex numbers": """#include <complex.h>
        void f(int n, const double complex *x, double complex *y, double *r) { for (int i = 0; i < n; i++) {
        y[i] = x[i] * x[i] + 2.0 * I; r[i] = creal(conj(x[i]) * x[i]); } }""",
    "wide and narrow integers": """void f(int n, const long long *x, unsigned char *y, short *z) { for (int i = 0;
        i < n; i++) {
        y[i] += (unsigned char)(x[i] * 1000003LL >> 7); z[i] = (short)(z[i] * 3 - y[i]); } }""",
    "switch": """void f(int n, const int *op, float *x) { for (int i = 0; i < n; i++) switch (op[i] & 3) { case 0:
        x[i] += 1; break;
        case 1: x[i] *= 2; case 2: x[i] -= 3; break; default: x[i] = 0; } }""",
    "continue and break inside": """void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) { if
        (x[i] < 0) continue;
        float v = x[i]; for (int k = 0; k < 20; k++) { v = v * v - 0.5f; if (v > 2) break; } y[i] = v; } }""",
    "a loop that prints": """void f(int n, int steps, float *x, float *y) { for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) y[i] = (x[i - 1] + x[i + 1]) / 2; for (int i = 1; i < n - 1; i++) x[i] = y[i];
        printf("step %d\\n", t); } }""",
}
HEAD = "#include <math.h>\n#include <stddef.h>\n#include <stdio.h>\n"


@pytest.mark.parametrize("name", [*PATTERNS, *LANGUAGE])
def test_is_ported_and_right(name, command, tmp_path):
    body = (PATTERNS | LANGUAGE)[name]
    (tmp_path / "f.c").write_text(HEAD + "\n".join(line.strip() for line in body.splitlines()) + "\n")
    answer = command("translate", "f.c", "--function", "f", "--max-turns", "1", "-o", "out")
    assert answer.status == 0, answer.err
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["best"]["evidence"]["test"]["kernels"], "a kernel was seen to launch"
