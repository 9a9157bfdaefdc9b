"""Compiling: messages at the candidate's lines, attacks on the compiler that end in a message, whole programs."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cudaperf_agent.tools.c.build import build_objects
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.nvcc import compile_for_target, demangle, find_nvcc
from kernels import candidate, execute, function, refused

FLOATS = "int n, float *x"
LAUNCHER = 'extern "C" void launch_f(int n, float *x) { k<<<1, 32>>>(n, x); }\n'


def device(line: str) -> str:
    return "__global__ void k(int n, float *x) {\n" + line + "\n}\n" + LAUNCHER


def host(line: str) -> str:
    return "__global__ void k(int n, float *x) { x[0] = n; }\n" + LAUNCHER.replace("{ ", "{\n" + line + "\n")


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (device("y[0] = n;"), "candidate.cu:2:1", "'y' was not declared"),
        (device("    x[0] = missing(n);"), "candidate.cu:2:12", "missing"),
        (device("int i = x;"), "candidate.cu:2:9", "invalid conversion"),
        (device("__shfl_sync(1, n);"), "candidate.cu:2", "__shfl_sync"),
        (host("undeclared = 1;"), "candidate.cu:3:1", "undeclared"),
        (host("k<<<1, blockDim.x>>>(n, x);"), "candidate.cu:3", "blockDim"),
        (host("std::vector<float> v;"), "candidate.cu:3", "vector"),
        (host("extern int nowhere(int); n = nowhere(n);"), "candidate.cu:3", "nowhere"),
        (device("x[0] = n;").replace("(n, x)", "(x, n)"), "candidate.cu:4", "invalid conversion"),
        (
            device("x[0] = n;").replace("launch_f(int n, float *x)", "launch_f(long n, float *x)"),
            "candidate.cu:4", "launch_f",
        ),
        (device("fopen(\"a\", \"r\");"), "candidate.cu:2", "fopen"),
        (device('FILE *f; x[0] = system("ls");').replace("FILE *f; ", ""), "candidate.cu:2", "system"),
    ],
)  # fmt: skip
def test_errors_are_told_at_the_candidates_lines(text, place, words):
    first = refused(FLOATS, text)[0].replace("‘", "'").replace("’", "'")
    assert first.startswith(place) and words in first, first


def test_messages_show_nothing_of_ours():
    few = device("x[0] = n;").replace("(n, x)", "(n)")
    for text in (device("x[0] = k2(n);"), host("launch_h<<<1, 1>>>(n);"), few):
        for message in refused(FLOATS, text):
            assert not any(word in message for word in ("cudaperf", "CUDAPERF", "uint3", "/runtime/")), (
                message
            )


@pytest.mark.parametrize(
    "text",
    [
        "template <int N> struct Deep { static constexpr long v = Deep<N + 1>::v + Deep<N + 2>::v; };\n"
        + host("n += Deep<0>::v;"),
        "#include <random>\n#include </etc/passwd>\n" + host(""),
        "#define A x x x x x x x x\n#define x A A A A A A A A\n" + host("int y;"),
        '#pragma GCC dependency "/etc/passwd"\n#include <no_such_header>\n' + host(""),
        host("static char big[1ull << 40] = {1}; n = big[n];"),
    ],
)
def test_attacks_on_the_compiler_end_in_a_message(text):
    begin = time.monotonic()
    messages = refused(FLOATS, text)
    assert messages and time.monotonic() - begin < 60
    assert not any("root:" in m for m in messages)


def test_a_second_build_comes_from_the_cache():
    text = device(f"x[0] = n + {time.time()}f;")
    first = CpuDevice().build(function(FLOATS), candidate(text), checked=False)
    second = CpuDevice().build(function(FLOATS), candidate(text), checked=False)
    assert first.libraries == second.libraries and second.result.seconds < first.result.seconds


def test_concurrent_builds_of_one_candidate_agree():
    text = device(f"x[0] = n - {time.time()}f;")
    with ThreadPoolExecutor(4) as pool:
        builds = list(
            pool.map(lambda _: CpuDevice().build(function(FLOATS), candidate(text), checked=False), range(4))
        )
    assert {b.libraries.folder for b in builds} == {builds[0].libraries.folder} and all(
        b.result.ok for b in builds
    )


def test_math_functions_take_the_types_that_cuda_takes():
    text = (
        """
__global__ void k(int n, float *x) {
    int i = threadIdx.x;
    double d = sqrt(2) + pow(2, 3) + fabs(-1.5f) + std::exp(0.0f) + max(1, n) + min(2.0f, 3.0f) + abs(-2);
    d += rsqrtf(4.0f) + __expf(0.0f) + __fdividef(1.0f, 2.0f) + __popc(255) + isnan(x[i]) + floorf(2.5f);
    x[i] = d + fmaxf(1.0f, i);
}
"""
        + LAUNCHER
    )
    result = execute(FLOATS, text, {"n": 4, "x": np.zeros(32, np.float32)})
    total = 2**0.5 + 8 + 1.5 + 1 + 4 + 2 + 2 + 0.5 + 1 + 0.5 + 8 + 2
    np.testing.assert_allclose(result.arrays["x"], total + np.maximum(1, np.arange(32)), rtol=1e-6)


PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
void scale(int n, double *x);
int main(int argc, char **argv) {
    double x[5] = {1, 2, 3, 4, 5};
    scale(5, x);
    for (int i = 0; i < 5; i++) printf("%g ", x[i]);
    printf("%s\\n", argc > 1 ? argv[1] : "none");
    fprintf(stderr, "done\\n");
    return argc;
}
"""
SCALE = """
__global__ void k(int n, double *x) { int i = threadIdx.x; if (i < n) x[i] *= 2; }
extern "C" void scale(int n, double *x) {
    double *d;
    cudaMalloc(&d, n * sizeof(double));
    cudaMemcpy(d, x, n * sizeof(double), cudaMemcpyHostToDevice);
    k<<<1, 32>>>(n, d);
    cudaMemcpy(x, d, n * sizeof(double), cudaMemcpyDeviceToHost);
    if (cudaGetLastError() != cudaSuccess) exit(9);
    cudaFree(d);
}
"""


@pytest.fixture(scope="module")
def objects():
    return build_objects([("main.c", PROGRAM)], ["-O1", "-Dmain=cudaperf_program_main"])


def test_a_whole_program_runs(objects):
    ran = CpuDevice().run_program(SCALE, objects, ["first"], 10)
    assert (ran.failure, ran.stdout, ran.stderr, ran.status) == (None, "2 4 6 8 10 first\n", "done\n", 2)


@pytest.mark.parametrize(
    ("before", "after", "failure"),
    [
        ("k<<<1, 32>>>(n, d);", "k<<<1, 32>>>(n, x);", "crash"),
        ("k<<<1, 32>>>(n, d);", "k<<<1, 4096>>>(n, d);", "launch-error"),
        ("k<<<1, 32>>>(n, d);", "for (;;) ;", "timeout"),
        ("k<<<1, 32>>>(n, d);", "d[0] = 1;", "host-access"),
        ("cudaFree(d);", "abort();", "crash"),
        ("cudaFree(d);", "syntax error", "compile"),
    ],
)
def test_a_program_fails_by_name(objects, before, after, failure):
    ran = CpuDevice().run_program(SCALE.replace(before, after), objects, [], 2)
    assert ran.failure == failure and (ran.findings or failure in ("timeout",))


@pytest.mark.skipif(find_nvcc() is None, reason="no nvcc here")
def test_nvcc_tells_resources_and_errors():
    good = "template <int N, typename T> __global__ void k(int n, T *x) { __shared__ T s[N]; "
    good += "s[threadIdx.x] = x[n]; x[0] = s[n]; }\n"
    good += 'extern "C" void launch_f(int n, float *x) { k<64, float><<<1, 64>>>(n, x); }\n'
    result = compile_for_target(function(FLOATS), candidate(good), "sm_90")
    assert result.ok and result.arch == "sm_90"
    (resources,) = result.resources
    assert (resources.kernel, resources.shared_bytes) == ("k<64, float>", 256) and resources.registers > 0
    result = compile_for_target(function(FLOATS), candidate(good.replace("x[n];", "y[n];")), "sm_90")
    assert not result.ok
    assert [(f.file, f.line) for f in result.diagnostics if f.severity == "error"] == [("candidate.cu", 1)]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("plain", "plain"),
        ("_Z1kPfi", "k"),
        ("_ZN2ns5plainEPfi", "ns::plain"),
        ("_Z1kILi16EfEvPKT0_PS0_", "k<16, float>"),
        ("_ZN12_GLOBAL__N_11kEv", "k"),
        ("_Z1kILb1EdEvi", "k<true, double>"),
    ],
)
def test_demangling(symbol, name):
    assert demangle(symbol) == name
