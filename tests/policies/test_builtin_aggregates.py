"""Structs and rows of pointers, from the file to the drop-in that is called with the original's signature."""

import pytest
from porting import translated

MATRIX = "typedef struct { int rows, cols; double **data; } Matrix;\n"
PARTICLES = "typedef struct { float *x, *vx; int n; } Particles;\n"
IMAGE = "typedef struct { int width, height, channels; unsigned char *data; } Image;\n"

PORTED = {
    "members of unnamed types": """
        typedef struct { struct { float x, y; } at; struct { float v[2]; }; struct in { int k; } q[2]; } B;
        void f(int n, B *b) { for (int i = 0; i < n; i++) { b[i].at.x += b[i].v[0]; b[i].q[1].k++; } }""",
    "struct by value": """
        typedef struct { int w, h; float k; } P;
        void f(P p, const float *a, float *b) { for (int y = 0; y < p.h; y++) for (int x = 0; x < p.w; x++)
          b[y * p.w + x] = a[y * p.w + x] * p.k; }""",
    "settings behind a pointer, passed on": """
        typedef struct { int w, h; float k, shift[3]; } P;
        static float get(const P *p, const float *a, int x, int y) { return a[y * p->w + x] + p->shift[x % 3]; }
        void f(const P *p, const float *a, float *b) { for (int y = 0; y < p->h; y++) for (int x = 0; x < p->w; x++)
          b[y * p->w + x] = get(p, a, x, y) * p->k; }""",
    "a struct of structs passed on by value": """
        typedef struct { float x, y; } V; typedef struct { V lo, hi; int n; } Box;
        static int inside(V p, Box b) { return p.x >= b.lo.x && p.x < b.hi.x && p.y >= b.lo.y && p.y < b.hi.y; }
        void f(Box b, const V *p, int *o) { for (int i = 0; i < b.n; i++) o[i] = inside(p[i], b); }""",
    "arrays of a struct": f"""{PARTICLES}
        void f(Particles *p, float dt) {{ for (int i = 0; i < p->n; i++) p->x[i] += p->vx[i] * dt; }}""",
    "arrays of a struct by value": f"""{PARTICLES}
        void f(Particles p, float dt) {{ for (int i = 0; i < p.n; i++) p.x[i] += p.vx[i] * dt; }}""",
    "arrays of inner structs": """
        typedef struct { float *d; int n; } V; typedef struct { V x, y; float a; } S;
        void f(S *s) { for (int i = 0; i < s->x.n; i++) s->y.d[i] += s->a * s->x.d[i]; }""",
    "results in a struct": """
        typedef struct { int n; double sum, most; const float *x; int above; } S;
        void f(S *s) { s->sum = 0; for (int i = 0; i < s->n; i++) s->sum += s->x[i]; s->most = s->x[0];
          for (int i = 0; i < s->n; i++) if (s->x[i] > s->most) s->most = s->x[i];
          int c = 0; for (int i = 0; i < s->n; i++) if (s->x[i] > 0.5f) c++; s->above = c; }""",
    "an array inside of a struct": """
        typedef struct { int n; float w[16]; } P;
        void f(P *p, const float *x) { for (int i = 0; i < 16; i++) p->w[i] = x[i] * p->n; }""",
    "an image": f"""{IMAGE}
        void f(const Image *in, Image *out) {{ for (int y = 0; y < in->height; y++)
          for (int x = 0; x < in->width; x++) {{ int g = 0; for (int c = 0; c < in->channels; c++)
          g += in->data[(y * in->width + x) * in->channels + c];
          out->data[y * in->width + x] = g / in->channels; }} }}""",
    "names that C++ reserves": """
        typedef struct { int n; float *d; } A;
        void f(A *new, int class) { for (int i = 0; i < new->n; i++) new->d[i] *= class; }""",
    "tests for NULL": """#include <stddef.h>
        typedef struct { int n; float *d; } A; int f(A *a) { if (!a || a->d == NULL) return -1;
          for (int i = 0; i < a->n; i++) a->d[i] *= 2; return 0; }""",
    "lengths by members": """
        typedef struct { int n; } P; void f(P p, int m, float a[p.n][m]) { float t[p.n];
          for (int i = 0; i < p.n; i++) t[i] = i;
          for (int i = 0; i < p.n; i++) for (int j = 0; j < m; j++) a[i][j] += t[i]; }""",
    "rows": """
        void f(int n, int m, const float *const *a, float **b) { for (int i = 1; i < n - 1; i++)
          for (int j = 1; j < m - 1; j++) b[i][j] = a[i - 1][j] + a[i][j + 1] - *(a[i] + j); }""",
    "rows exchanged from step to step": """
        void f(int n, int m, int steps, double **u, double **v) { for (int t = 0; t < steps; t++) {
          for (int i = 1; i < n - 1; i++) for (int j = 1; j < m - 1; j++)
          v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
          double **s = u; u = v; v = s; } }""",
    "rows under another name": """
        void f(int n, int m, float **a) { float **s = a; for (int i = 0; i < n; i++)
          for (int j = 0; j < m; j++) s[i][j] *= 2; }""",
    "rows as long as a global says": """
        int N = 30; static const int M = 7;
        void f(float **this) { for (int i = 0; i < M; i++) for (int j = 0; j < N + 1; j++) this[i][j] += 1; }""",
    "members that are constant or not used": """
        typedef struct { const int n; const float *const d; float *o; void (*call)(int); char **names; } A;
        void f(const A *a) { for (int i = 0; i < a->n; i++) a->o[i] = a->d[i] * 2; }""",
    "rows of rows": """
        void f(int d, int n, int m, double ***a) { for (int k = 0; k < d; k++) for (int i = 0; i < n; i++)
          for (int j = 0; j < m; j++) a[k][i][j] += k * i + j; }""",
    "products of rows": """
        static double dot(const double *a, const double *b, int n)
        { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
        void f(int n, int m, double **a, double **b, double *c[]) { for (int i = 0; i < n; i++) { double *r = c[i];
          for (int j = 0; j < n; j++) r[j] = dot(a[i], b[j], m); } }""",
    "a static function of rows": """
        static void f(int n, int m, int **a) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j]++; }
        void other(int n, int m, int **a) { f(n, m, a); }""",
    "rows of a struct": f"""{MATRIX}
        void f(const Matrix *a, const Matrix *b, Matrix *c) {{ for (int i = 0; i < a->rows; i++)
          for (int j = 0; j < b->cols; j++) {{ double s = 0;
          for (int k = 0; k < a->cols; k++) s += a->data[i][k] * b->data[k][j]; c->data[i][j] = s; }} }}""",
}


@pytest.mark.parametrize("source", PORTED.values(), ids=PORTED)
def test_ported_and_right(source, tmp_path):
    assert translated(source, tmp_path) == "right"


REFUSED = {
    "swap of rows": (
        "void f(int n, float **a) {\nfor (int i = 0; i < n; i++) { float *t = a[i]; a[i] = a[0]; a[0] = t; } }",
        "f.c:2:48: 'a' is not supported yet: pointer to a pointer, where the pointer a[i] is set",
    ),
    "rows passed on": (
        "void g(float **a, int n) { a[n][0] = 1; } void f(int n, float **a) { for (int i = 0; i < n; i++) g(a, i); }",
        "where a is used as a whole",
    ),
    "exchanged rows of two lengths": (
        "void f(int n, float **a, float **b) {\n"
        "for (int i = 0; i < n; i++) a[i][n] = b[i][0]; float **s = a; a = b; b = s; }",
        "where a and b take each other's place, and their rows differ in length",
    ),
    "swap of a struct's arrays": (
        f"{PARTICLES}void f(Particles *p) {{ float *t = p->x; p->x = p->vx; p->vx = t;\n"
        "for (int i = 0; i < p->n; i++) p->x[i] = 0; }",
        "f.c:2:44: 'Particles.x' is not supported yet: pointer inside a struct, where p->x is set",
    ),
    "structs with arrays in an array": (
        f"{PARTICLES}void f(int n, Particles *p) {{ for (int i = 0; i < n; i++) p[i].x[0] = 0; }}",
        "where p is used as a whole",
    ),
    "a struct's own copy of an array": (
        "typedef struct { int n; float w[4]; } P;\n"
        "void f(P p, float *x) { for (int i = 0; i < 4; i++) p.w[i] = i;\n"
        "for (int i = 0; i < p.n; i++) x[i] = p.w[i & 3]; }",
        "change of an array in a struct passed by value",
    ),
    "elements of an unnamed type": (
        "typedef struct { int n; struct { float x, y; } *at; } C;\n"
        "void f(C *c) { for (int i = 0; i < c->n; i++) c->at[i].x += c->at[i].y; }",
        "struct type without a name",
    ),
}


@pytest.mark.parametrize(("source", "said"), REFUSED.values(), ids=REFUSED)
def test_refused_by_name(source, said, tmp_path):
    assert said in translated(source, tmp_path)
