"""Higher precision: the rewritten original compiles, computes the same thing, and computes it more exactly."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cudaperf_agent.tools.c.load import load
from cudaperf_agent.tools.c.precision import Wide, in_higher_precision
from cudaperf_agent.tools.records import Task

N = 257


def task_of(folder: Path, source: str, function: str | None = "f", flags: tuple[str, ...] = ()) -> Task:
    (folder / "f.c").write_text(source)
    return load(folder / "f.c", function, flags)


def wide_of(folder: Path, source: str, flags: tuple[str, ...] = ()) -> Wide:
    wide = in_higher_precision(task_of(folder, source, flags=flags))
    assert wide is not None
    return wide


def library(folder: Path, source: str, flags: tuple[str, ...] = ()) -> ctypes.CDLL:
    path = folder / f"{abs(hash(source))}"
    path.with_suffix(".c").write_text(source)
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-Wno-unused", f"-iquote{folder}", *flags]
    subprocess.run([*command, path.with_suffix(".c"), "-o", path.with_suffix(".so"), "-lm"], check=True)
    return ctypes.CDLL(str(path.with_suffix(".so")))


def called(
    folder: Path, source: str, arrays: list[np.ndarray], flags: tuple[str, ...] = ()
) -> list[np.ndarray]:
    copies = [array.copy() for array in arrays]
    pointers = [copy.ctypes.data_as(ctypes.c_void_p) for copy in copies]
    library(folder, source, flags).f(ctypes.c_int(N), *pointers)
    return copies


def both(
    folder: Path, source: str, arrays: list[np.ndarray], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The last array as the original and as the wide original leave it."""
    wide = wide_of(folder, source)
    narrow = called(folder, source, arrays)[-1]
    widened = [
        array.astype(wide.dtypes.get(name, array.dtype)) for name, array in zip(names, arrays, strict=True)
    ]
    return narrow, called(folder, wide.source, widened)[-1]


X = np.linspace(0.1, 2.0, N, dtype=np.float32)
EMPTY = np.zeros(N, np.float32)

FLOATS = """\
#include <math.h>
#include <stdio.h>
#define TENTH 0.1f
#define ROOT sqrtf
#define NORM(a) ROOT((a) * (a) + 1.0f)
typedef float real;
static const real weights[2] = {0.3f, 1.5};
static real helper(real j0) { return fmaxf(j0, TENTH) * NORM(j0) + expf(-j0) * weights[0] + sinf(j0) / 3; }
void f(int n, const real *x, float *y) { for (int i = 0; i < n; i++) y[i] = helper(x[i]) * 1e-1f; }
union punned { float f; int i; };
int main(void) { union punned p; p.f = 1.0f; printf("0.1f %f %d\\n", p.f, p.i); return 0; }
""".replace("static real y1(real);\n", "")


def test_floats_become_doubles_and_constants_keep_their_value(tmp_path: Path) -> None:
    narrow, wide = both(tmp_path, FLOATS, [X, EMPTY], ["x", "y"])
    x = X.astype(np.float64)
    tenth, third = np.float64(np.float32(0.1)), np.float64(np.float32(0.3))
    exact = (np.maximum(x, tenth) * np.sqrt(x * x + 1) + np.exp(-x) * third + np.sin(x) / 3) * tenth
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, exact, rtol=4e-16 * 8)
    np.testing.assert_allclose(narrow, exact, rtol=1e-6)
    assert np.abs(narrow - exact).max() > 1e-9


def test_strings_comments_and_own_names_stay(tmp_path: Path) -> None:
    source = (
        "/* float 1.0f */ // double sqrtf\n"
        "static float sinf_of(float y0) { float cos = y0 + 1.0f; return cos; }\n"
        "void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] = sinf_of(x[i]); }\n"
    )
    wide = wide_of(tmp_path, source).source
    assert wide.startswith("/* float 1.0f */ // double sqrtf\n")
    assert "static double sinf_of(double y0) { double cos = y0 + 1.0; return cos; }" in wide


def test_doubles_become_long_doubles(tmp_path: Path) -> None:
    source = (
        "#include <math.h>\nvoid f(int n, const double *x, double *y) {\n"
        "  for (int i = 0; i < n; i++) y[i] = sqrt(x[i]) * 0.1 + fabs(x[i]) / 3.0; }\n"
    )
    x = X.astype(np.float64)
    narrow, wide = both(tmp_path, source, [x, EMPTY.astype(np.float64)], ["x", "y"])
    long = x.astype(np.longdouble)
    exact = np.sqrt(long) * np.longdouble(0.1) + np.abs(long) / np.longdouble(3)
    assert wide.dtype == np.longdouble
    np.testing.assert_array_equal(wide, exact)
    assert 0 < np.abs(narrow - exact).max() < 1e-15


def test_structs_widen_with_their_layout(tmp_path: Path) -> None:
    source = (
        "typedef struct { float x; char tag; float v[2]; } part;\n"
        "typedef struct { int id; part p[2]; double m; } body;\n"
        "void f(int n, body *b) { for (int i = 0; i < n; i++) { b[i].p[1].v[1] += b[i].p[0].x * 0.5f;\n"
        "  b[i].m += b[i].id; } }\n"
    )
    wide = wide_of(tmp_path, source)
    dtype = wide.dtypes["b"]
    assert isinstance(dtype, np.dtype)
    bodies = np.zeros(N, dtype)
    bodies["id"], bodies["p[0].x"], bodies["p[1].v"] = np.arange(N), 3, 1
    (after,) = called(tmp_path, wide.source, [bodies])
    np.testing.assert_array_equal(after["p[1].v"], np.tile([1, 2.5], (N, 1)))
    np.testing.assert_array_equal(after["m"], np.arange(N))


def test_own_headers_and_macros_of_the_command_line_are_rewritten_too(tmp_path: Path) -> None:
    header = "#pragma once\ntypedef REAL real;\nstatic inline real half(real v) { return v * 0.5f; }\n"
    (tmp_path / "real.h").write_text(header)
    source = '#include "real.h"\n#include "real.h"\n'
    source += "void f(int n, real *x) { for (int i = 0; i < n; i++) x[i] = half(x[i]); }\n"
    flags = ("-DREAL=float",)
    wide = wide_of(tmp_path, source, flags)
    (after,) = called(tmp_path, wide.source.replace("#pragma once\n", "\n"), [X.astype(np.float64)], flags)
    np.testing.assert_array_equal(after, X.astype(np.float64) / 2)
    assert wide.dtypes == {"x": "float64"}


def test_a_global_that_callers_set_keeps_its_type(tmp_path: Path) -> None:
    source = "float knob, other; void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= knob; }"
    wide = wide_of(tmp_path, source)
    assert wide.source.startswith("float knob, other; void f(int n, double *x)")
    assert wide.dtypes == {"x": "float64"}


def test_results_widen(tmp_path: Path) -> None:
    source = (
        "float f(int n, const float *x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }"
    )
    assert wide_of(tmp_path, source).dtypes == {"x": "float64", "result": "float64"}


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { int bits = *(int *)&x[i]; x[i] = bits; }",
        "for (int i = 0; i < n; i++) y[i] = 1; memcpy(y, x, n * 4);",
    ],
)
def test_what_looks_at_bits_or_counts_bytes_is_left_alone(tmp_path: Path, body: str) -> None:
    source = f"#include <string.h>\nvoid f(int n, float *x, float *y) {{ {body} }}"
    assert in_higher_precision(task_of(tmp_path, source)) is None


def test_bytes_counted_with_sizeof_widen(tmp_path: Path) -> None:
    source = (
        "#include <string.h>\nvoid f(int n, const float *x, float *y) { memcpy(y, x, n * sizeof(float)); }"
    )
    _, wide = both(tmp_path, source, [X, EMPTY], ["x", "y"])
    np.testing.assert_array_equal(wide, X.astype(np.float64))
