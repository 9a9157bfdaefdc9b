"""Extents: the original, run on buffers of exactly that size, stays inside them, and fills them to the last element."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from cudaperf_agent.tools.c.expression import evaluate
from cudaperf_agent.tools.c.parse import parse
from extents import used

HEAD = """\
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define IDX(i, j) ((i) * w + (j))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
typedef struct { float x, y; } vec2;
typedef struct { vec2 position, velocity; float mass, history[4]; } body;
static int at(int i, int j, int w) { return i * w + j; }
static float guarded(const float *x, int i, int n) { if (i < 0) return 0; if (i >= n) return 0; return x[i]; }
static void axpy(int n, float a, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] += a * x[i]; }
"""


@dataclass(frozen=True)
class Example:
    """A function's parameters and body, and the roles and extents that it has.

    `loose` names arrays whose last element is not touched with zeros as inputs, or that are rounded up to rows.
    """

    parameters: str
    body: str
    arrays: dict[str, str]
    loose: tuple[str, ...] = ()


EXAMPLES = {
    "saxpy": Example(
        "int n, float a, const float *x, float *y",
        "for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];",
        {"x": "in n", "y": "inout n"},
    ),
    "dot_down": Example(
        "size_t n, const float *x, const float *y, float *s",
        "*s = 0; for (size_t i = n; i-- > 0;) *s += x[i] * y[i];",
        {"x": "in n", "y": "in n", "s": "out 1"},
    ),
    "heat": Example(
        "int h, int w, int steps, float *u, float *v",
        """for (int t = 0; t < steps; t++) {
             for (int i = 1; i < h - 1; i++)
               for (int j = 1; j < w - 1; j++)
                 v[i*w+j] = 0.25f * (u[(i-1)*w+j] + u[(i+1)*w+j] + u[i*w+j-1] + u[i*w+j+1]);
             float *swap = u; u = v; v = swap;
           }""",
        {"u": "inout h * w", "v": "inout h * w"},
        loose=("u", "v"),
    ),
    "stencil3": Example(
        "int d, int h, int w, const float *u, float *v",
        """for (int k = 1; k < d - 1; k++) for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
             v[(k*h+i)*w+j] = u[((k-1)*h+i)*w+j] + u[((k+1)*h+i)*w+j] + u[(k*h+i)*w+j+1];""",
        {"u": "in d * h * w", "v": "out d * h * w - h * w"},
        loose=("u", "v"),
    ),
    "sobel": Example(
        "int h, int w, const unsigned char *in, unsigned char *out",
        """for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) {
             int sum = 0;
             for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
               int yy = y + dy < 0 ? 0 : y + dy >= h ? h - 1 : y + dy;
               int xx = x + dx; if (xx < 0) xx = 0; if (xx > w - 1) xx = w - 1;
               sum += in[yy * w + xx];
             }
             out[y * w + x] = sum > 255 ? 255 : sum;
           }""",
        {"in": "in h * w", "out": "out h * w"},
    ),
    "mandelbrot": Example(
        "int h, int w, int limit, int *out",
        """for (int py = 0; py < h; py++) for (int px = 0; px < w; px++) {
             float x = 0, y = 0; int it = 0;
             while (x * x + y * y <= 4 && it < limit) { float t = x * x - y * y; y = 2 * x * y; x = t + px; it++; }
             out[py * w + px] = it;
           }""",
        {"out": "out h * w"},
    ),
    "histogram": Example(
        "int n, const unsigned char *data, int *bins",
        "for (int i = 0; i < n; i++) bins[data[i]]++;",
        {"data": "in n", "bins": "inout 256"},
        loose=("bins",),
    ),
    "clamped_bins": Example(
        "int n, int bins, const float *x, int *count",
        """for (int i = 0; i < n; i++) { int b = (int)(x[i] * bins); if (b < 0) b = 0;
             if (b >= bins) b = bins - 1; count[b]++; }""",
        {"x": "in n", "count": "inout bins"},
        loose=("count",),
    ),
    "matmul": Example(
        "int n, int m, int k, const float *A, const float *B, float *C",
        """for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {
             C[i*m+j] = 0; for (int p = 0; p < k; p++) C[i*m+j] += A[i*k+p] * B[p*m+j]; }""",
        {"A": "in k * n", "B": "in k * m", "C": "out m * n"},
    ),
    "matmul_2d": Example(
        "int n, int m, float a[n][m], float b[restrict m][n], float (*c)[n]",
        """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float s = 0;
             for (int k = 0; k < m; k++) s += a[i][k] * b[k][j]; c[i][j] = s; }""",
        {"a": "in n, m", "b": "in m, n", "c": "out n, n"},
    ),
    "fixed_rows": Example(
        "int n, float a[][8], float *first",
        """for (int i = 0; i < n; i++) { float *row = a[i]; for (int j = 0; j < 8; j++) row[j] = 1; }
           first[0] = a[0][0];""",
        {"a": "inout n, 8", "first": "out 1"},
    ),
    "jacobi": Example(
        "int n, double *u",
        "for (int i = 1; i < n - 1; i++) u[i] = 0.5 * (u[i-1] + u[i+1]);",
        {"u": "inout n"},
    ),
    "lu": Example(
        "int n, double *a",
        """for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) { a[i*n+k] /= a[k*n+k] + 1;
             for (int j = k + 1; j < n; j++) a[i*n+j] -= a[i*n+k] * a[k*n+j]; }""",
        {"a": "inout n * n"},
    ),
    "packed": Example(
        "int n, const float *L, float *x",
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) x[i] += L[i*(i+1)/2 + j];",
        {"L": "in (n * n + n) / 2", "x": "inout n"},
    ),
    "unrolled": Example(
        "int n, float *x",
        "int i; for (i = 0; i + 3 < n; i += 4) { x[i] = x[i+1] = x[i+2] = x[i+3] = 1; } for (; i < n; i++) x[i] = 2;",
        {"x": "out n"},
    ),
    "strided": Example(
        "int n, float *x", "for (int i = 0; i < n; i += 4) x[i + 3] = 1;", {"x": "out 4 * ((n + 3) / 4)"}
    ),
    "pointers": Example(
        "int n, const float *x, float *y",
        "const float *end = x + n; while (x < end) *y++ = 2 * *x++;",
        {"x": "in n", "y": "out n"},
    ),
    "counted": Example(
        "int h, int w, float *o",
        "int k = 0; for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) o[k++] = j;",
        {"o": "out h * w"},
    ),
    "compact": Example(
        "int n, const float *x, float *o, int *m",
        "int k = 0; for (int i = 0; i < n; i++) if (x[i] > 0) o[k++] = x[i]; *m = k;",
        {"x": "in n", "o": "out n", "m": "out 1"},
        loose=("o",),
    ),
    "tree_sum": Example(
        "int n, float *x",
        "for (int s = n / 2; s > 0; s >>= 1) for (int i = 0; i < s; i++) x[i] += x[i + s];",
        {"x": "inout 2 * (n / 2)"},
    ),
    "scan": Example(
        "int n, float *x",
        "for (int d = 1; d < n; d *= 2) for (int i = n - 1; i >= d; i--) x[i] += x[i - d];",
        {"x": "inout n"},
    ),
    "periodic": Example(
        "int n, const float *x, float *y",
        "for (int i = 0; i < n; i++) y[i] = x[(i + 1) % n] + x[(i - 1 + n) % n];",
        {"x": "in n", "y": "out n"},
    ),
    "helpers": Example(
        "int h, int w, const float *x, float *y",
        """for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) y[at(i, j, w)] = guarded(x + i * w, j, w);
           for (int i = 0; i < h; i++) axpy(w, 2, &x[IDX(i, 0)], y + i * w);""",
        {"x": "in h * w", "y": "inout h * w"},
    ),
    "tiled": Example(
        "int n, float *x",
        "for (int t = 0; t < n; t += 32) for (int i = t; i < MIN(t + 32, n); i++) x[i] = 1;",
        {"x": "out n"},
    ),
    "copied": Example(
        "int n, const double *x, double *y",
        "memcpy(y, x, n * sizeof(double)); memset(y, 0, sizeof *y);",
        {"x": "in n", "y": "out n"},
    ),
    "narrowed": Example(
        "int n, int m, float *x",
        "for (int i = 0; i < n; i++) if (i < m && i > 0) x[i - 1] = 0;",
        {"x": "out (m - 1 < n - 1 ? m - 1 : n - 1)"},
    ),
    "convolution": Example(
        "int C, int H, int W, int R, const float *in, const float *weight, float *out",
        """int P = H - R + 1, Q = W - R + 1;
           for (int c = 0; c < C; c++) for (int p = 0; p < P; p++) for (int q = 0; q < Q; q++) { float s = 0;
             for (int r = 0; r < R; r++) for (int t = 0; t < R; t++)
               s += in[(c*H + p + r)*W + q + t] * weight[(c*R + r)*R + t];
             out[(c*P + p)*Q + q] = s; }""",
        {"in": "in C * H * W", "weight": "in C * R * R", "out": "out C * (W - R + 1) * (H - R + 1)"},
    ),
    "bodies": Example(
        "int n, body *b, float dt",
        """for (int i = 0; i < n; i++) { vec2 f = {0, 0};
             for (int j = 0; j < n; j++) { if (i == j) continue; f.x += b[j].position.x * b[j].mass; }
             b[i].velocity.x += dt * f.x; b[i].history[3] = f.x; }""",
        {"b": "inout n"},
    ),
    "argmax": Example(
        "int n, const float *x, int *best",
        "int b = 0; for (int i = 1; i < n; i++) if (x[i] > x[b]) b = i; *best = b;",
        {"x": "in n", "best": "out 1"},
    ),
    "early": Example(
        "int n, const float *x, int *y",
        "for (int i = 0; i < n; i++) { if (x[i] < 0) { *y = i; return; } if (x[i] > 1) break; } *y = -1;",
        {"x": "in n", "y": "out 1"},
    ),
    "pyramid": Example(
        "int h, int w, float *out",
        "for (int y = 0; y < h/2; y++) for (int x = 0; x < w/2; x++) out[y*(w/2)+x] = x;",
        {"out": "out (h / 2) * (w / 2)"},
    ),
    "odd_even": Example(
        "int n, float *x",
        "for (int p = 0; p < n; p++) for (int i = p & 1; i + 1 < n; i += 2) x[i] = x[i + 1];",
        {"x": "inout n"},
    ),
    "window": Example(
        "int n, int k, const float *x, float *y",
        "for (int i = 0; i <= n - k; i++) { float s = 0; for (int j = 0; j < k; j++) s += x[i + j]; y[i] = s; }",
        {"x": "in n", "y": "out n - k + 1"},
    ),
    "life": Example(
        "int h, int w, const unsigned char *a, unsigned char *b",
        """for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) { int s = 0;
             for (int di = -1; di <= 1; di++) for (int dj = -1; dj <= 1; dj++) { if (di == 0 && dj == 0) continue;
               s += a[((i + di + h) % h) * w + (j + dj + w) % w]; }
             b[i * w + j] = s == 3 || (s == 2 && a[i * w + j]); }""",
        {"a": "in h * w", "b": "out h * w"},
    ),
    "do_while": Example("int n, int *x", "int i = n - 1; do { x[i] = i; } while (--i >= 0);", {"x": "out n"}),
    "not_equal": Example("int n, int *x", "for (int i = 0; i != n; ++i) x[i] = i;", {"x": "out n"}),
    "while_true": Example(
        "int n, int *x", "int i = 0; while (1) { if (i >= n) break; x[i] = i; i++; }", {"x": "out n"}
    ),
    "scratch": Example(
        "int n, float *x",
        """float *t = malloc(n * sizeof *t); for (int i = 0; i < n; i++) t[i] = x[i];
           for (int i = 0; i < n; i++) x[i] = t[n - 1 - i]; free(t);""",
        {"x": "inout n"},
    ),
    "unrolled_by_mask": Example(
        "int n, float *x",
        """int i = 0; for (; i < (n & ~3); i += 4) { x[i] = x[i+1] = x[i+2] = x[i+3] = 1; }
           for (; i < n; ++i) x[i] = 2;""",
        {"x": "out n"},
    ),
    "tile_of_any_size": Example(
        "int n, int b, float *x",
        "for (int t = 0; t < n; t += b) for (int i = t; i < t + b; i++) x[i] = 1;",
        {"x": "out b * ((n - 1) / b + 1)"},
    ),
    "two_buffers": Example(
        "int n, int steps, float *u",
        """int now = 0; for (int t = 0; t < steps; t++) { int next = 1 - now;
             for (int i = 0; i < n; i++) u[next * n + i] = u[now * n + i]; now = next; }""",
        {"u": "inout 2 * n"},
    ),
    "bisected": Example(
        "int n, const int *a, int key, int *found",
        """int low = 0, high = n - 1; *found = -1;
           while (low <= high) { int middle = low + (high - low) / 2;
             if (a[middle] == key) *found = middle;
             if (a[middle] < key) low = middle + 1; else high = middle - 1; }""",
        {"a": "in n", "found": "out 1"},
    ),
    "subsequence": Example(
        "int n, int m, const short *a, const short *b, int *t",
        """for (int i = 1; i <= n; i++) for (int j = 1; j <= m; j++)
             t[i*(m+1)+j] = a[i-1] == b[j-1] ? t[(i-1)*(m+1)+j-1] + 1 : t[i*(m+1)+j-1];""",
        {"a": "in n", "b": "in m", "t": "inout (n + 1) * (m + 1)"},
    ),
    "wrapped_hash": Example(
        "int n, const unsigned *key, int *count",
        "for (int i = 0; i < n; i++) count[(key[i] * 2654435761u) >> 24]++;",
        {"key": "in n", "count": "inout 256"},
        loose=("count",),
    ),
    "swapped_ends": Example(
        "int n, float *x",
        """for (int i = 0, j = n - 1; i < j; i++, j--)
             do { float t = x[i]; x[i] = x[j]; x[j] = t; } while (0);""",
        {"x": "inout n"},
    ),
    "shrinking": Example(
        "int n, float *x, float *t",
        """while (n > 1) { n /= 2; for (int i = 0; i < n; i++) { t[i] = x[2*i]; t[n+i] = x[2*i+1]; }
             for (int i = 0; i < 2 * n; i++) x[i] = t[i]; }""",
        {"x": "inout 2 * (n / 2)", "t": "inout 2 * (n / 2)"},
    ),
    "rows_by_addition": Example(
        "int h, int w, float *a",
        "float *row = a; for (int i = 0; i < h; i++) { for (int j = 0; j < w; j++) row[j] = 1; row = row + w; }",
        {"a": "out h * w"},
    ),
    "pixels": Example(
        "int n, const uint8_t *rgb, uint8_t *gray",
        "for (int i = 0; i < n; i++) { const uint8_t *p = rgb + 3 * i; gray[i] = (p[0] * 77 + p[2] * 29) >> 8; }",
        {"rgb": "in 3 * n", "gray": "out n"},
    ),
    "divisible": Example(
        "int n, float *x",
        """if (n % 4 != 0) { for (int i = 0; i < n; i++) x[i] = 0; return; }
           for (int i = 0; i < n; i += 4) for (int j = 0; j < 4; j++) x[i + j] = 1;""",
        {"x": "out n"},
    ),
    "heap": Example(
        "int n, int *a",
        """for (int i = n / 2; i >= 1; i--) { int top = a[i], j = 2 * i;
             while (j <= n) { if (j < n && a[j + 1] > a[j]) j = j + 1; if (top > a[j]) break;
               a[j / 2] = a[j]; j = 2 * j; }
             a[j / 2] = top; }""",
        {"a": "inout n + 1"},
    ),
    "row_pitch": Example(
        "int h, int w, int pitch, float *a",
        "for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) a[(size_t)i * pitch + j] = 0;",
        {"a": "out h * pitch + w - pitch"},
    ),
}


@cache
def program() -> str:
    return HEAD + "".join(f"void {name}({e.parameters}) {{\n{e.body}\n}}\n" for name, e in EXAMPLES.items())


@pytest.mark.parametrize("name", EXAMPLES)
def test_roles_and_extents(name: str) -> None:
    found = used(program(), name).arrays
    said = {array.name: f"{array.role} {', '.join(array.shape)}" for array in found.values()}
    assert said == EXAMPLES[name].arrays


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that calls one of the examples on buffers of the given numbers of elements."""
    calls = []
    unit = parse("f.c", program())
    for name, example in EXAMPLES.items():
        arguments = []
        for position, parameter in enumerate(unit.functions[name].parameters):
            value = f"atol(argv[{position + 2}])"
            if parameter.name in example.arrays:
                element = parameter.type.element
                while element is not None and element.kind == "array":
                    element = element.element
                assert element is not None
                value = f"(void *)calloc({value}, sizeof({element.spelling}))"
            arguments.append(value)
        calls.append(f'if (!strcmp(argv[1], "{name}")) {name}({", ".join(arguments)});')
    folder = tmp_path_factory.mktemp("extents")
    text = (
        program() + "int main(int argc, char **argv) { (void)argc;\n" + "\n".join(calls) + "\nreturn 0; }\n"
    )
    (folder / "f.c").write_text(text)
    command = ["cc", "-O1", "-g", "-w", "-fsanitize=address", "f.c", "-o", "run", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "run"


def overruns(runner: Path, name: str, sizes: dict[str, int], short: str = "") -> bool:
    """Whether the example leaves buffers of its extents, the one named `short` without its last element."""
    unit = parse("f.c", program())
    found = used(program(), name).arrays
    arguments = []
    for parameter in unit.functions[name].parameters:
        if parameter.name in found:
            count = 1
            for extent in found[parameter.name].shape:
                count *= evaluate(extent, sizes)
            arguments.append(count - (parameter.name == short))
        else:
            arguments.append(sizes.get(parameter.name, 3))
    environment = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    done = subprocess.run(
        [runner, name, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or "AddressSanitizer" in done.stderr, done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_original_fills_its_extents_and_stays_inside(runner: Path, name: str) -> None:
    usage = used(program(), name).usage
    sizes = dict(zip([s for s in usage if usage[s] == "size"], (13, 8, 6, 3), strict=False))
    sizes |= {
        parameter: value for parameter, value in {"k": 2, "R": 2, "pitch": 21}.items() if parameter in sizes
    }
    assert not overruns(runner, name, sizes)
    for array in EXAMPLES[name].arrays.keys() - EXAMPLES[name].loose:
        assert overruns(runner, name, sizes, short=array), f"{array} has more than it needs for {sizes}"


def test_whole_rows_are_assumed_and_said() -> None:
    (first, _) = used(program(), "heat").assumptions
    assert first == "'u' is taken to hold whole rows: h * w elements, of which the loops reach h * w - 1"
