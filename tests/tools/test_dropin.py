"""What is delivered: everything on the caller's stream, the original's signature, a header for C and C++."""

import re
import subprocess
from pathlib import Path

import pytest
from cudaperf_agent.tools.c.build import build_objects
from cudaperf_agent.tools.c.load import load
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.dropin import files, needs_host_file, on_stream, without_name
from cudaperf_agent.tools.records import Candidate, File

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("k<<<g, b>>>(x);", "k<<<g, b, 0, S>>>(x);"),
        ("k<T><<<g, b, bytes>>>(x);", "k<T><<<g, b, bytes, S>>>(x);"),
        ("k<<<g, b, 0, mine>>>(x);", "k<<<g, b, 0, mine>>>(x);"),
        ("cudaMalloc(&p, n);", "cudaMallocAsync(&p, n, S);"),
        ("cudaFree(p);", "cudaFreeAsync(p, S);"),
        ("cudaMemset(p, 0, n);", "cudaMemsetAsync(p, 0, n, S);"),
        ("cudaDeviceSynchronize();", "cudaStreamSynchronize(S);"),
        (
            "cudaMemcpy(a, b, n, cudaMemcpyDeviceToDevice);",
            "cudaMemcpyAsync(a, b, n, cudaMemcpyDeviceToDevice, S);",
        ),
        (
            "cudaMemcpy(&e, p, 4, cudaMemcpyDeviceToHost);",
            "(cudaMemcpyAsync(&e, p, 4, cudaMemcpyDeviceToHost, S), cudaStreamSynchronize(S));",
        ),
        (
            "cudaMemcpyToSymbol(c, &v, 4);",
            "(cudaMemcpyToSymbolAsync(c, &v, 4, 0, cudaMemcpyHostToDevice, S), cudaStreamSynchronize(S));",
        ),
    ],
)
def test_every_launch_and_copy_goes_to_the_stream(written, expected):
    assert on_stream(f"void f() {{ {written} }}", "S") == f"void f() {{ {expected} }}"


def test_a_kernel_may_have_the_functions_name():
    source = "__global__ void f(int n) {} void launch_f(int n) { f<<<1, n>>>(n); } // f_kernel"
    expected = (
        "__global__ void f_kernel_(int n) {} void launch_f(int n) { f_kernel_<<<1, n>>>(n); } // f_kernel"
    )
    assert without_name(source, "f") == expected


def delivered(source: str, tmp_path: Path, function: str | None = None) -> dict[str, str]:
    (tmp_path / "in.c").write_text(source)
    task = load(tmp_path / "in.c", function)
    text = f"__global__ void k() {{}}\n{task.function.launcher_prototype} {{ k<<<1, 1>>>(); }}\n"
    candidate = Candidate(
        files=(File(name="k.cu", language="cuda", text=text),), entry=task.function.launcher
    )
    return files(task, candidate, "sm_90")


@pytest.mark.parametrize("compiler", [["cc", "-std=c99", "-x", "c"], ["c++", "-x", "c++"]])
@pytest.mark.parametrize("name", ["saxpy", "dot", "nbody", "sobel", "histogram"])
def test_the_header_is_valid_c_and_cpp(name, compiler, tmp_path):
    header = delivered((EXAMPLES / "c" / f"{name}.c").read_text(), tmp_path)
    (text,) = (t for n, t in header.items() if n.endswith(".h"))
    command = [*compiler, "-fsyntax-only", "-Wall", "-Werror", "-"]
    done = subprocess.run(command, input=text + text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_static_function_with_globals_is_forwarded(tmp_path):
    source = (
        "static float weight[2] = {1, 2};\n"
        "static void f(int n, float *x) { for (int i = 0; i < n; i++) x[i] *= weight[i & 1]; }\n"
        "int main(void) { float x[4] = {1, 1, 1, 1}; f(4, x); return (int)x[1]; }\n"
    )
    host = delivered(source, tmp_path, "f")["f.host.c"]
    assert re.search(r"extern void f_cuda\(int n, float \*x, (const )?float \*weight\);", host)
    assert "static void f(int n, float *x)" in host
    done = subprocess.run(
        ["cc", "-fsyntax-only", "-Wall", "-Werror", "-x", "c", "-"], input=host, text=True, check=False
    )
    assert done.returncode == 0


def test_a_host_file_is_needed_only_where_there_is_other_code():
    assert needs_host_file(load(EXAMPLES / "c" / "heat2d.c", None))
    assert not needs_host_file(load(EXAMPLES / "c" / "saxpy.c", None))


def test_sizes_are_computed_in_64_bits(tmp_path):
    source = "void f(int h, int w, float *x) { for (int i = 0; i < h * w; i++) x[i] = 1; }\n"
    assert "(long long)h * (long long)w" in delivered(source, tmp_path)["f.cu"]


MATRIX = "typedef struct { int n, sum; float **rows; } M;\n"
OVERLAPS = {
    "one row twice": (
        "void f(int n, float **a) { for (int i = 0; i < n; i++) a[i][0] = i; }\n",
        "float x[1]; float *a[2] = {x, x}; f(2, a);",
        "rows overlap",
    ),
    "a row and an array": (
        "void f(int n, const float *x, float **a) { for (int i = 0; i < n; i++) a[i][0] = x[i]; }\n",
        "float x[2] = {1, 2}, y; float *a[2] = {&y, x}; f(2, x, a);",
        "rows overlap",
    ),
    "one struct twice": (
        f"{MATRIX}void f(const M *a, M *b) {{ b->sum = 0; for (int i = 0; i < a->n; i++) b->sum += i; }}\n",
        "M m = {3, 4}; f(&m, &m);",
        "a and b overlap",
    ),
    "a member": (
        "typedef struct { int n; } P;\nvoid f(const P *p, int *x) { for (int i = 0; i < p->n; i++) x[i] = i; }\n",
        "P p = {1}; f(&p, &p.n);",
        "x and p overlap",
    ),
}


@pytest.mark.parametrize(("source", "call", "said"), OVERLAPS.values(), ids=OVERLAPS)
def test_what_overlaps_ends_in_words(source, call, said, tmp_path):
    text = delivered(source, tmp_path)
    objects = build_objects(
        [("main.c", f"{text['f.host.c']}int main(void) {{ {call} return 0; }}\n")], [], []
    )
    types = load(tmp_path / "in.c", None).function.prelude
    program = text["f.cu"].replace('#include "f.h"', f"{types}\nstruct CUstream_st;")
    ran = CpuDevice().run_program(program, objects, [], 10.0, [])
    assert said in ran.stderr, (ran, text["f.cu"])
