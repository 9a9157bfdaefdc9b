"""Each strategy writes complete code that is right, and that NVIDIA's compiler takes."""

import shutil
import subprocess

import numpy as np
import pytest
from porting import EXAMPLES, compare, entry_of, kernels, ports

rng = np.random.default_rng(3)


def floats(*shape: int) -> np.ndarray:
    return rng.random(shape, dtype=np.float32)


CROSS = """void f(int h, int w, const float *a, float *b) {
    for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++)
    b[i * w + j] = 0.25f * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]); }"""
BOX = """void f(int h, int w, const float *a, float *b) { const float k[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
    for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) { float s = 0; for (int di = -1; di <= 1; di++)
    for (int dj = -1; dj <= 1; dj++) s += k[di + 1][dj + 1] * a[(i + di) * w + j + dj]; b[i * w + j] = s / 16; } }"""
ROWS = """void f(float a[20][37], float b[20][37]) { for (int i = 2; i < 18; i++) for (int j = 0; j < 37; j++)
    b[i][j] = a[i - 2][j] + a[i - 1][j] + a[i][j] + a[i + 1][j]; }"""
LINE = """void f(int n, const float *a, float *b) { for (int i = 2; i < n - 3; i++)
    b[i] = a[i - 2] + a[i - 1] + a[i] + a[i + 1] + a[i + 3]; }"""
PRODUCT = """void f(int m, int n, int k, const float *a, const float *b, float *c) {
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { float s = 0; for (int p = 0; p < k; p++)
    s += a[i * k + p] * b[p * n + j]; c[i * n + j] = 0.5f * s + c[i * n + j]; } }"""
PRODUCT_IN_PLACE = """void f(int m, int n, int k, const float *a, const float *b, float *c) {
    for (int i = 0; i < m; i++) for (int p = 0; p < k; p++) for (int j = 0; j < n; j++)
    c[i * n + j] += a[i * k + p] * b[p * n + j]; }"""
PRODUCT_TRANSPOSED = """void f(int m, int n, int k, const float *a, const float *b, float *c) {
    for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { c[i * n + j] = 0; for (int p = 0; p < k; p++)
    c[i * n + j] += a[p * m + i] * b[j * k + p]; } }"""
PLANE = {"h": 21, "w": 75, "a": floats(21 * 75), "b": floats(21 * 75)}
FACTORS = {"m": 20, "n": 37, "k": 21, "a": floats(20 * 21), "b": floats(21 * 37), "c": floats(20 * 37)}

CASES = {
    "cross": ("tiled", CROSS, PLANE),
    "box": ("tiled", BOX, PLANE),
    "rows of constant length": ("tiled", ROWS, {"a": floats(20, 37), "b": floats(20, 37)}),
    "line": ("tiled", LINE, {"n": 600, "a": floats(600), "b": floats(600)}),
    "nothing inside the border": ("tiled", CROSS, PLANE | {"h": 2, "w": 9}),
    "product": ("tiled", PRODUCT, FACTORS),
    "product, sum in the middle": ("tiled", PRODUCT_IN_PLACE, FACTORS),
    "product, both transposed": ("tiled", PRODUCT_TRANSPOSED, FACTORS),
    "product of nothing": ("tiled", PRODUCT, FACTORS | {"k": 0}),
    "squares": ("squares", PRODUCT, FACTORS),
    "squares, sum in the middle": ("squares", PRODUCT_IN_PLACE, FACTORS),
    "squares, both transposed": ("squares", PRODUCT_TRANSPOSED, FACTORS),
    "squares of nothing": ("squares", PRODUCT, FACTORS | {"k": 0}),
    "squares of less than nothing": ("squares", PRODUCT, FACTORS | {"k": -3}),
    "squares, several blocks": (
        "squares",
        PRODUCT,
        {"m": 131, "n": 150, "k": 33, "a": floats(131 * 33), "b": floats(33 * 150), "c": floats(131 * 150)},
    ),
    "squares of doubles": (
        "squares",
        """void f(int m, int n, int k, double t, const double *a, const double *b, double *c) {
           for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) { c[i * n + j] *= t; for (int p = 0; p < k; p++)
           c[i * n + j] -= t * a[i * k + p] * b[j * k + p]; } }""",
        {
            "m": 70,
            "n": 67,
            "k": 20,
            "t": 0.5,
            "a": rng.random(1400),
            "b": rng.random(1340),
            "c": rng.random(4690),
        },
    ),
    "turned": (
        "turned",
        """void f(int h, int w, const float *a, float *b) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           b[j * h + i] = a[i * w + j]; }""",
        PLANE,
    ),
    "turned and added": (
        "turned",
        """void f(int h, int w, float t, const float *a, const double *c, float *b) { for (int i = 0; i < h; i++)
           for (int j = 1; j < w; j++) {
           float v = a[i * w + j] * t; if (v > 0.2f) b[j * h + i] += v - c[i * w + j - 1]; } }""",
        PLANE | {"t": 0.5, "c": rng.random(21 * 75)},
    ),
    "words": (
        "vectorized",
        """void f(int n, float a, const float *x, const int *k, double *y, unsigned char *z) {
           for (int i = 0; i < n; i++) { y[i] = a * x[i] + k[i] - y[i]; z[i] = k[i] & 15; } }""",
        {
            "n": 1037,
            "a": 0.5,
            "x": floats(1037),
            "k": rng.integers(0, 99, 1037).astype(np.int32),
            "y": rng.random(1037),
            "z": np.zeros(1037, np.uint8),
        },
    ),
    "words, reduced": (
        "vectorized",
        """double f(int n, const float *x) { double s = 0;
           for (int i = 0; i < n; i++) { if (x[i] > 0.5f) continue; s += x[i]; } return s; }""",
        {"n": 1037, "x": floats(1037)},
    ),
    "transposed": (
        "swapped",
        """void f(int h, int w, const float *a, float *b) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
           b[j * h + i] = a[i * w + j]; }""",
        PLANE,
    ),
    "words of a loop that begins behind their start": (
        "vectorized",
        """float f(int n, const float *x, float *y) { float m = x[0]; for (int i = 3; i < n; i++) {
           if (x[i] > m) m = x[i]; } return m; }""",
        {"n": 1037, "x": floats(1037), "y": floats(1)},
    ),
    "words that leave what stands before the loop": (
        "vectorized",
        "void f(int n, const float *x, float *y) { for (int i = 5; i < n; i++) y[i] = x[i] + y[i]; }",
        {"n": 1025, "x": floats(1025), "y": floats(1025)},
    ),
    "words of fewer elements than the loop skips": (
        "vectorized",
        "void f(int n, const float *x, float *y) { for (int i = 5; i < n; i++) y[i] = x[i]; }",
        {"n": 3, "x": floats(3), "y": floats(3)},
    ),
    "several elements a thread": ("coarsened", CROSS, PLANE),
    "several elements a thread, in a line": (
        "coarsened",
        LINE,
        {"n": 5000, "a": floats(5000), "b": floats(5000)},
    ),
    "several elements a thread, reduced": (
        "coarsened",
        "double f(int n, const float *x) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }",
        {"n": 5000, "x": floats(5000)},
    ),
    "smaller blocks": ("reshaped", CROSS, PLANE),
}


@pytest.mark.parametrize("name", CASES)
def test_strategy_is_right(name):
    strategy, source, values = CASES[name]
    assert strategy in ports(source)
    compare(source, values, strategies=(strategy,), tolerance=1e-6)


FIRST = """float f(int n, const float *x) { float m = x[0]; for (int i = 1; i < n; i++) if (x[i] > m) m = x[i];
    return 2 * m; }"""


@pytest.mark.parametrize("n", [1, 2, 5000])
def test_a_kernel_reads_itself_what_a_maximum_begins_with(n):
    assert all("load_value" not in c.source for c in ports(FIRST).values())
    compare(FIRST, {"n": n, "x": floats(n) - np.float32(2)})


def test_the_host_reads_what_a_maximum_begins_with_where_the_loop_changes_it():
    source = """float f(int n, float *x) { float m = x[0]; for (int i = 0; i < n; i++) { if (x[i] > m) m = x[i];
        x[i] = 0; } return m; }"""
    assert all("load_value" in c.source for c in ports(source).values())
    compare(source, {"n": 700, "x": floats(700)})


def test_a_tile_loads_no_corner_that_the_stencil_does_not_read():
    assert "row < h && column < w && ((row >= 1" in kernels(CROSS, strategy="tiled")


def test_guarded_neighbours_are_not_tiled():
    source = """void f(int h, int w, const float *a, float *b) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
        b[i * w + j] = a[i * w + j] + (i > 0 ? a[(i - 1) * w + j] : 0) + (j > 0 ? a[i * w + j - 1] : 0); }"""
    assert "tiled" not in ports(source)


def test_a_loop_that_may_end_early_is_not_tiled():
    source = """void f(int n, const float *a, float *b) { for (int i = 2; i < n - 2; i++) { float s = 0;
        for (int d = -2; d <= 2; d++) { s += a[i + d]; if (s > 2) break; } b[i] = s; } }"""
    assert "tiled" not in ports(source)


def test_conditional_writes_are_not_vectorized():
    source = (
        "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) if (x[i] > 0) y[i] = x[i]; }"
    )
    assert "vectorized" not in ports(source)


def test_threads_along_x_touch_neighbouring_elements():
    source = """void f(int h, int w, float *a) { for (int j = 0; j < w; j++) for (int i = 0; i < h; i++)
        a[i * w + j] = i; }"""
    assert "const int j = (int)tx;" in kernels(source)


def test_the_same_request_gives_the_same_text():
    assert [c.source for c in ports(BOX).values()] == [c.source for c in ports(BOX).values()]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_takes_every_candidate_of_the_examples(tmp_path):
    """One compilation for all: each candidate in a namespace of its own."""
    text = []
    for path in EXAMPLES:
        source = path.read_text()
        name = entry_of(source)
        if path.stem == "recurrence":
            continue
        for strategy, candidate in ports(source, name).items():
            body = candidate.source.replace('extern "C" ', "")
            text.append(f"namespace {name}_{strategy} {{\n{body}\n}}")
    (tmp_path / "all.cu").write_text("\n".join(text))
    done = subprocess.run(
        ["nvcc", "-c", "-arch=sm_90", "-o", "all.o", "all.cu"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_product_over_a_triangle_is_not_tiled():
    source = """void f(int n, const double *a, const double *b, double *c) { for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) for (int k = 0; k < i; k++) c[i * n + j] += a[i * n + k] * b[k * n + j]; }"""
    rng = np.random.default_rng(4)
    arrays = {k: rng.integers(-4, 5, 40 * 40) / 4.0 for k in "abc"}
    assert "tiled" not in ports(source)
    compare(source, {"n": 40, **arrays})
