"""Small functions as people write them, one for each thing that C has, from the file to the drop-in that is called.

What is refused stands in a table of its own, with the words in which it is.
"""

import pytest
from porting import translated

PORTED = {
    "long long": """
        void f(int n, const long long *a, long long *b) { for (int i = 0; i < n; i++)
          b[i] = a[i] * a[i] % 1000003LL + (a[i] >> 3); }""",
    "unsigned char wraps": """
        void f(int n, const unsigned char *a, const unsigned char *b, unsigned char *c)
        { for (int i = 0; i < n; i++) c[i] = a[i] + b[i] * 3; }""",
    "clamped to unsigned char": """
        void f(int n, const unsigned char *a, unsigned char *c) { for (int i = 0; i < n; i++) {
          int v = a[i] * 3 - 100; c[i] = v < 0 ? 0 : v > 255 ? 255 : v; } }""",
    "unsigned short products": """
        void f(int n, const unsigned short *a, unsigned *b) { for (int i = 0; i < n; i++)
          b[i] = a[i] * 1000u + (unsigned short)(a[i] * 77); }""",
    "typedefs of typedefs": """#include <stdint.h>
        typedef uint8_t u8; typedef u8 pixel; void f(int n, const pixel *a, uint32_t *b, int64_t *c)
        { for (int i = 0; i < n; i++) { b[i] = (uint32_t)a[i] << 24 | a[i]; c[i] = (int64_t)a[i] << 40; } }""",
    "enum that chooses": """
        typedef enum { ADD, SUB, MUL } Op; void f(int n, Op op, const float *a, float *b)
        { for (int i = 0; i < n; i++) { if (op == ADD) b[i] = a[i] + 1; else if (op == SUB) b[i] = a[i] - 1;
          else b[i] = a[i] * 2; } }""",
    "bool": """#include <stdbool.h>
        void f(int n, bool flip, const float *a, bool *m)
        { for (int i = 0; i < n; i++) { bool big = a[i] > 0.5f; m[i] = big ^ flip; } }""",
    "ternaries in ternaries": """
        void f(int n, const int *a, int *b) { for (int i = 0; i < n; i++)
          b[i] = a[i] < 0 ? -1 : a[i] > 10 ? a[i] % 2 ? 3 : 4 : 0; }""",
    "switch": """
        enum Mode { ADD, MUL, SCREEN };
        static int blend(enum Mode m, int a, int b) { int r; switch (m) { case ADD: r = a + b; break;
          case MUL: r = a * b / 255; break; case SCREEN: r = 255 - (255 - a) * (255 - b) / 255; break;
          default: r = a; } return r > 255 ? 255 : r; }
        void f(int n, enum Mode m, const unsigned char *a, unsigned char *b)
        { for (int i = 0; i < n; i++) b[i] = blend(m, a[i], b[i]); }""",
    "switch that falls through, default inside": """
        void f(int n, const int *k, int *b) { for (int i = 0; i < n; i++) { int s = 0;
          switch (k[i] & 7) { case 3: s = 1; default: s += 2; case 5: s += 10; break; case 6: s = 7; } b[i] = s; } }""",
    "switch in a switch": """
        void f(int n, const int *k, int *b) { for (int i = 0; i < n; i++) { int s = 0; switch (k[i] & 3) {
          case 0: switch (k[i] & 4) { case 4: s++; case 0: s += 2; } case 1: s += 100; break; case 2: s = -1; }
          b[i] = s; } }""",
    "switch around loops": """
        void f(int mode, int n, float *b) { switch (mode & 3) { case 0: for (int i = 0; i < n; i++) b[i] = 1;
          case 1: for (int i = 0; i < n; i++) b[i] *= 2; } }""",
    "two counters and commas": """
        void f(int n, float *a) { int i, j; for (i = 0, j = n - 1; i < n; i++, j--) a[i] += j; }""",
    "a counter of its own for the output": """
        void f(int n, const float *a, float *b) { int j = 0; for (int i = 0; i < n; i++) { b[j] = a[i] * 2; j++; } }""",
    "compound literal": """
        typedef struct { float x, y; } P; static float length(P p) { return p.x * p.x + p.y * p.y; }
        void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++) b[i] = length((P){a[i], 1.0f}); }""",
    "designated initializers": """
        typedef struct { float x, y, z; int k[3]; } P; static const int t[8] = {[1] = 5, [6] = 7, 8};
        void f(int n, P *p) { for (int i = 0; i < n; i++) { P q = {.z = 1.0f, .x = i, .k[1] = 4};
          p[i].x += q.x + q.y; p[i].z += q.z; p[i].k[0] = t[i & 7] + q.k[1]; } }""",
    "static table": """
        void f(int n, const int *a, int *b) { static const int t[4] = {1, 10, 100, 1000};
          for (int i = 0; i < n; i++) b[i] = t[a[i] & 3]; }""",
    "length of a table": """
        static const int t[] = {2, 3, 5, 7, 11};
        void f(int n, int *b) { for (int i = 0; i < n; i++) b[i] = t[i % (int)(sizeof(t) / sizeof(t[0]))]; }""",
    "globals": """
        float scale = 2.5f; int bias;
        void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++) b[i] = a[i] * scale + bias; }""",
    "global arrays": """
        #define N 100
        float A[N][N], B[N][N];
        void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[j][i] = A[i][j]; }""",
    "macros": """
        #define SQ(x) ((x) * (x))
        #define IDX(i, j) ((i) * w + (j))
        #define FOR(i, n) for (int i = 0; i < (n); i++)
        void f(int h, int w, const float *a, float *b) { FOR(y, h) FOR(x, w) b[IDX(y, x)] = SQ(a[IDX(y, x)] - 1); }""",
    "conditional compilation": """
        #ifdef USE_DOUBLE
        typedef double real;
        #else
        typedef float real;
        #endif
        #if defined(FAST) && FAST > 1
        #define OP(x) (x)
        #else
        #define OP(x) ((x) + 1)
        #endif
        void f(int n, const real *a, real *b) { for (int i = 0; i < n; i++) b[i] = OP(a[i]); }""",
    "local array of variable length": """
        void f(int n, const float *a, float *b) { float t[n]; for (int i = 0; i < n; i++) t[i] = a[i] * 2;
          for (int i = 0; i < n; i++) b[i] = t[n - 1 - i]; }""",
    "rows of variable length": """
        void f(int n, int m, float a[n][m], float b[m][n])
        { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) b[j][i] = a[i][j]; }""",
    "do while in a thread": """
        void f(int n, const int *a, int *b) { for (int i = 0; i < n; i++) { int v = a[i] & 255, c = 0;
          do { c += v & 1; v >>= 1; } while (v); b[i] = c; } }""",
    "while": "void f(int n, const float *a, float *b) { int i = 0; while (i < n) { b[i] = a[i] + 1; i++; } }",
    "while n--": "#include <stddef.h>\nvoid f(size_t n, float *a) { while (n-- > 0) a[n] *= 2; }",
    "while n-- and pointers": "void f(int n, const float *s, float *d) { while (n--) *d++ = *s++ * 2; }",
    "until equal": "void f(int n, float *a) { for (int i = 0; i != n; i++) a[i] += 1; }",
    "size_t counting down": """#include <stddef.h>
        void f(size_t n, float *a) { for (size_t i = n; i-- > 0;) a[i] *= 2; }""",
    "int counting down": "void f(int n, float *a) { for (int i = n - 1; i >= 0; --i) a[i] *= 2; }",
    "short counter": "void f(short n, float *a) { for (short i = 0; i < n; i++) a[i] += i; }",
    "pointer to the end": """
        void f(int n, float *a) { float *e = a + n; for (float *p = a; p < e; p++) *p *= 2;
          for (float *p = a, *q = a + n; p != q; ++p) *p += 1; }""",
    "row pointers that walk": """
        void f(int n, int m, const float *a, float *b) { for (int i = 0; i < n; i++) { const float *r = &a[i * m];
          float s = 0; for (int j = 0; j < m; j++) s += *r++; b[i] = s; } }""",
    "helpers that set through pointers": """
        static void range(const float *a, int n, float *lo, float *hi) { *lo = *hi = a[0];
          for (int i = 1; i < n; i++) { if (a[i] < *lo) *lo = a[i]; if (a[i] > *hi) *hi = a[i]; } }
        void f(int n, int m, const float *a, float *b) { for (int i = 0; i < n; i++) { float lo, hi;
          range(a + i * m, m, &lo, &hi); b[i] = hi - lo; } }""",
    "helpers of helpers": """
        static inline float sq(float x) { return x * x; }
        static float d(const float *a, const float *b, int k)
        { float s = 0; for (int i = 0; i < k; i++) s += sq(a[i] - b[i]); return s; }
        void f(int n, int k, const float *a, const float *c, float *o)
        { for (int i = 0; i < n; i++) o[i] = d(a + i * k, c, k); }""",
    "helpers that return early": """
        static int find(const int *t, int m, int v) { for (int i = 0; i < m; i++) if (t[i] == v) return i; return -1; }
        void f(int n, int m, const int *a, const int *t, int *b)
        { for (int i = 0; i < n; i++) b[i] = find(t, m, a[i]); }""",
    "structs as results": """
        typedef struct { float x, y; } V; static V add(V a, V b) { V r = {a.x + b.x, a.y + b.y}; return r; }
        void f(int n, const V *a, const V *b, V *c) { for (int i = 0; i < n; i++) c[i] = add(a[i], b[i]); }""",
    "structs copied": """
        typedef struct { int id; float w[4]; } S;
        void f(int n, const S *a, S *b) { for (int i = 0; i < n; i++) { b[i] = a[n - 1 - i]; b[i].w[0] = i; } }""",
    "local tables": """
        void f(int h, int w, const float *a, float *b) { const float k[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
          for (int y = 1; y < h - 1; y++) for (int x = 1; x < w - 1; x++) { float s = 0;
          for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++)
          s += k[dy + 1][dx + 1] * a[(y + dy) * w + x + dx]; b[y * w + x] = s / 16; } }""",
    "casts": """
        void f(int n, const double *a, int *b, float *c, unsigned char *d) { for (int i = 0; i < n; i++) {
          b[i] = (int)a[i] + (short)(a[i] * 10); c[i] = (float)a[i] / (float)3;
          d[i] = (unsigned char)(a[i] > 0 && a[i] < 1 ? a[i] * 200.0 + 0.5 : 0); } }""",
    "division of negative numbers": """
        void f(int n, const int *a, int *b)
        { for (int i = 0; i < n; i++) b[i] = a[i] / 3 + a[i] % 7 + (a[i] >> 1); }""",
    "restrict and register": """
        void f(int n, const float *restrict a, float *restrict b) { register int i;
          for (i = 0; i < n; i++) { register float t = a[i]; b[i] = t * t; } }""",
    "characters": """
        void f(int n, char *s) { for (int i = 0; i < n; i++) if (s[i] >= 'a' && s[i] <= 'z') s[i] -= 'a' - 'A'; }""",
    "math": """
        #include <math.h>
        void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++)
          b[i] = fminf(fmaxf(a[i], 0.2f), 0.8f) + fmodf(a[i], 0.3f) + truncf(a[i] * 10) + fabs(a[i]); }""",
    "assertions": """
        #include <assert.h>
        void f(int n, const float *a, float *b)
        { assert(n >= 0); for (int i = 0; i < n; i++) { assert(i < n); b[i] = a[i]; } }""",
    "memory of its own": """
        #include <stdlib.h>
        int f(int n, const float *a, float *b) { float *t = (float *)malloc(sizeof(float) * n); if (!t) return -1;
          for (int i = 0; i < n; i++) t[i] = a[i] * 2; for (int i = 0; i < n; i++) b[i] = t[n - 1 - i];
          free(t); return 0; }""",
    "tests of arguments": """
        #include <stddef.h>
        int f(int n, const float *a, float *b) { if (!a || b == NULL || n <= 0) return -1;
          for (int i = 0; i < n; i++) b[i] = a[i]; return 0; }""",
    "bits of a number through a pointer": """
        void f(int n, const float *a, float *b) { for (int i = 0; i < n; i++) { float y = a[i]; int k = *(int *)&y;
          k = 0x3f3759df - (k >> 8); y = *(float *)&k; *(unsigned *)&b[i] = *(unsigned *)&y & 0x7fffff00u;
          *(unsigned *)&b[i] |= 1u; } }""",
    "bits of a number by a copy": """
        #include <stdint.h>
        #include <string.h>
        static double made(uint64_t u) { double d; memcpy(&d, &u, sizeof(d)); return d; }
        void f(int n, const double *a, double *b) { for (int i = 0; i < n; i++) {
          uint64_t u; memcpy(&u, &a[i], 8); b[i] = made(u & 0x7fffffffffffffffULL); } }""",
    "errors that are told": """
        #include <stdio.h>
        #include <stdlib.h>
        int f(int n, const float *a, float *b) { if (n < 0) { fprintf(stderr, "bad n\\n"); return -1; }
          float *t = malloc(n * sizeof *t); if (t == NULL) { fprintf(stderr, "no memory\\n"); exit(1); }
          for (int i = 0; i < n; i++) t[i] = a[i]; for (int i = 0; i < n; i++) b[i] = t[n - 1 - i];
          free(t); return 0; }""",
    "printing between nests": """
        #include <stdio.h>
        void f(int steps, int n, float *a) { for (int t = 0; t < steps; t++) {
          for (int i = 0; i < n; i++) a[i] *= 0.5f; if (t % 10 == 0) printf("step %d: %g\\n", t, a[0]); } }""",
    "text in an array": """
        void f(int n, const int *a, char *b) { static const char t[] = "0123456789abcdef";
          for (int i = 0; i < n; i++) b[i] = t[a[i] & 15]; }""",
    "a step by a variable": """
        void f(int n, int s, float *a, const float *b) { for (int i = 1; i <= n; i += s) a[i] = b[i - 1] + a[i];
          for (int i = n - 1; i >= 0; i -= s) a[i] += 1; }""",
    "a stride in each thread": """
        void f(int t, int n, const float *a, float *s) { for (int k = 0; k < t; k++) { float v = 0;
          for (int i = k; i < n; i += t) v += a[i]; s[k] = v; } }""",
    "sieve": """
        void f(int n, unsigned char *p) { for (int i = 0; i <= n; i++) p[i] = 1; for (int i = 2; i * i <= n; i++)
          if (p[i]) for (int j = i * i; j <= n; j += i) p[j] = 0; }""",
    "steps that double": """
        // cudaperf: a[n]
        void f(int n, float *a) { for (int len = 1; len < n; len *= 2) for (int i = 0; i + len < n; i += 2 * len)
          a[i] += a[i + len]; }""",
    "tiles of a variable size": """
        #define MIN(a, b) ((a) < (b) ? (a) : (b))
        void f(int n, int t, const float *a, float *b)
        { for (int ii = 0; ii < n; ii += t) for (int i = ii; i < MIN(ii + t, n); i++) b[i] = a[i]; }""",
}


@pytest.mark.parametrize("source", PORTED.values(), ids=PORTED)
def test_ported_and_right(source, tmp_path):
    assert translated(source, tmp_path) == "right"


EACH = "for (int i = 0; i < n; i++)"
REFUSED = {
    "goto": (
        f"void f(int n, float *a) {{ {EACH} {{ if (a[i] < 0) goto skip; a[i] = 1; skip: ; }} }}",
        "goto",
    ),
    "union": (f"union U {{ float f; int i; }}; void f(int n, union U *a) {{ {EACH} a[i].i = 1; }}", "union"),
    "bit-field": (
        f"struct B {{ int a : 3; }}; void f(int n, struct B *x) {{ {EACH} x[i].a = 1; }}",
        "bit-field",
    ),
    "continue in a switch that falls through": (
        f"void f(int n, int *b) {{ {EACH} {{\n"
        "switch (b[i]) { case 0: continue; case 1: b[i] = 4; case 2: b[i]++; } b[i]--; } }",
        "switch statement that falls through with a range, a continue or a variable of two arms",
    ),
    "carried over a variable step": (
        "void f(int n, int s, float *a) { for (int i = s; i < n; i += s) a[i] += a[i - s]; }",
        "does not step i by a constant",
    ),
    "array literal": (
        f"void f(int n, int *b) {{ {EACH} {{ const int *t = (const int[]){{3, 1}}; b[i] = t[i & 1]; }} }}",
        "compound literal of an array",
    ),
    "function pointer": (
        f"void f(int n, int *b, int (*g)(int)) {{ {EACH} b[i] = g(i); }}",
        "function pointer",
    ),
    "inline assembly": (
        f'void f(int n, int *b) {{ {EACH} {{ __asm__("nop"); b[i] = 1; }} }}',
        "inline assembly",
    ),
    "old definition": (
        f"void f(n, b) int n; int *b; {{ {EACH} b[i] = 1; }}",
        "definition without a prototype",
    ),
    "long double": (f"void f(int n, long double *b) {{ {EACH} b[i] = 1; }}", "long double"),
    "static local": (
        f"void f(int n, int *b) {{ static int c; {EACH} b[i] = c++; }}",
        "keeps its value between calls",
    ),
    "one byte of a number": (
        f"void f(int n, const int *a, unsigned char *b) {{ {EACH} b[i] = *(unsigned char *)&a[i]; }}",
        "the pointer '&a[i]' is cast to 'unsigned char *'",
    ),
    "random numbers": (
        f"#include <stdlib.h>\nvoid f(int n, int *b) {{ {EACH} b[i] = rand(); }}",
        "f.c:2:60: f() calls rand(), which keeps its state from call to call",
    ),
    "files": (
        f'#include <stdio.h>\nvoid f(int n, int *b) {{ FILE *o = fopen("x", "w"); {EACH} b[i] = 1; }}',
        "f() calls fopen(), which reads or writes files",
    ),
    "printing in every thread": (
        "#include <stdio.h>\nvoid f(int n, float *b)\n"
        '{ for (int i = 0; i < n; i++) { if (b[i] < 0) printf("%s", b); b[i] = 1; } }',
        "f.c:3:60: cannot tell how much printf() reads of 'b'",
    ),
    "recursion": (
        f"static int g(int k) {{ return k > 0 ? g(k - 1) : 0; }} void f(int n, int *b) {{ {EACH} b[i] = g(i); }}",
        "calls itself",
    ),
}


@pytest.mark.parametrize(("source", "said"), REFUSED.values(), ids=REFUSED)
def test_refused_by_name(source, said, tmp_path):
    assert said in translated(source, tmp_path)
