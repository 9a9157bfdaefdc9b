"""Complex numbers and classes of characters, from the file to the drop-in that is called with C's own types."""

import pytest
from porting import translated

HEADERS = "#include <complex.h>\n#include <ctype.h>\n#include <math.h>\n"

PORTED = {
    "arithmetic": """
        void f(int n, const double complex *a, const double complex *b, double complex *c, double *d)
        { for (int i = 0; i < n; i++) { c[i] = (a[i] + b[i]) * 2.0 - a[i] / b[i] + conj(a[i]) - 1.0 + 3 / b[i];
          d[i] = cabs(a[i]) + creal(b[i]) * cimag(a[i]); c[i] *= a[i]; c[i] += d[i]; c[i] = -c[i] - I; } }""",
    "float complex": """
        void f(int n, const float complex *a, float complex *b)
        { for (int i = 0; i < n; i++) b[i] = a[i] * a[i] + I; }""",
    "complex arguments": """
        void f(int n, double complex w, float complex u, double complex *a)
        { for (int i = 0; i < n; i++) a[i] = a[i] * w + u; }""",
    "mixed types": """
        void f(int n, const float complex *a, double complex *b, float *r) { for (int i = 0; i < n; i++) {
          b[i] = a[i] * 2.5 + 1; r[i] = a[i]; if (a[i] == b[i]) r[i] = 0; if (a[i] != 0) r[i] += 1; if (!a[i]) r[i] = 9;
          b[i] = CMPLX(creal(b[i]), r[i]) + (double complex)r[i] + __imag__ b[i]; } }""",
    "functions": """
        void f(int n, double complex *a) { for (int i = 0; i < n; i++)
          a[i] = cpow(a[i], 2.5) + carg(a[i]) + csqrt(a[i]) + clog(a[i] + 2.0); }""",
    "sums over all": """
        void f(int n, const double complex *a, const double complex *b, double complex *s, double *m) {
          double complex t = 1; double k = 0;
          for (int i = 0; i < n; i++) { if (i % 3) t -= a[i] * conj(b[i]); k += cabs(a[i]); } *s = t; *m = k; }""",
    "Fourier sums": """
        void f(int n, const double complex *x, double complex *y) { for (int k = 0; k < n; k++) { double complex s = 0;
          for (int j = 0; j < n; j++) s += x[j] * cexp(-2.0 * M_PI * I * j * k / n); y[k] = s; } }""",
    "butterflies": """
        // cudaperf: a[n]
        void f(int n, double complex *a) { for (int len = 1; len < n; len *= 2) {
          double complex w = cexp(-M_PI * I / len); for (int i = 0; i + 2 * len <= n; i += 2 * len) {
          double complex t = 1; for (int j = 0; j < len; j++) { double complex u = a[i + j], v = a[i + j + len] * t;
          a[i + j] = u + v; a[i + j + len] = u - v; t *= w; } } } }""",
    "until they leave a circle": """
        void f(int h, int w, int *it) { for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
          double complex c = (x * 3.0 / w - 2) + (y * 2.0 / h - 1) * I, z = 0; int k = 0;
          while (k < 50 && cabs(z) <= 2) { z = z * z + c; k++; } it[y * w + x] = k; } }""",
    "rows and structs": """
        typedef struct { double complex z; int k; } S;
        void f(int n, int m, double complex **a, S *s)
        { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] *= I;
          for (int i = 0; i < n; i++) s[i].z = s[i].z * s[i].k; }""",
    "a static function": """
        static void f(int n, double complex w, double complex *a) { for (int i = 0; i < n; i++) a[i] *= w; }
        void g(int n, double complex *a) { f(n, I, a); }""",
    "helpers": """
        static float complex turned(float complex z, float a) { return z * (cosf(a) + sinf(a) * I); }
        void f(int n, float complex *z, float a) { for (int i = 0; i < n; i++) z[i] = turned(z[i], a * i); }""",
    "classes of characters": """
        int f(int n, const char *s) { int c = 0; for (int i = 0; i < n; i++) { int k = (unsigned char)s[i];
          if (isalpha(k) || isdigit(k) || isspace(k) || ispunct(k)) c++; } return c; }""",
    "letters moved on": """
        void f(int n, int k, char *s) { for (int i = 0; i < n; i++) { char c = s[i]; int by = k % 26 + 26;
          if (isupper(c)) s[i] = 'A' + (c - 'A' + by) % 26; else s[i] = tolower(c); } }""",
}


@pytest.mark.parametrize("source", PORTED.values(), ids=PORTED)
def test_ported_and_right(source, tmp_path):
    assert translated(f"{HEADERS}{source}", tmp_path) == "right"


def test_functions_of_the_user_s_own_win(tmp_path):
    source = """static int isdigit(int c) { return c == 7; }
        void f(int n, int *s) { for (int i = 0; i < n; i++) s[i] = isdigit(s[i]); }"""
    assert translated(source, tmp_path) == "right"


EACH = "for (int i = 0; i < n; i++)"
REFUSED = {
    "complex result": (
        f"double complex f(int n, double complex *a) {{ {EACH} a[i] = 1; return a[0]; }}",
        "result that is no number",
    ),
    "complex integers": (
        f"void f(int n, int _Complex *a) {{ {EACH} a[i] = 1; }}",
        "complex number of integers",
    ),
    "running sums": (
        f"void f(int n, double complex *a) {{ double complex t = 0; {EACH} {{ t += a[i]; a[i] = t; }} }}",
        "carries t from one iteration to the next",
    ),
    "missing functions": (
        f"void f(int n, double complex *a) {{ {EACH} a[i] = ctanh(a[i]); }}",
        "f() calls ctanh()",
    ),
}


@pytest.mark.parametrize(("source", "said"), REFUSED.values(), ids=REFUSED)
def test_refused_by_name(source, said, tmp_path):
    assert said in translated(f"{HEADERS}{source}", tmp_path)
