"""Kernels taken apart at their barriers do what fibers do; what is not of that shape stays with fibers."""

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.rewrite import rewrite
from cudaperf_agent.tools.device import Checks
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import execute

PARAMETERS = "int n, const float *x, float *y"
LAUNCH = 'extern "C" void launch_f(int n, const float *x, float *y) { k<<<4, %s>>>(n, x, y); }'
HEAD = "__global__ void k(int n, const float *x, float *y) { int t = threadIdx.x, i = blockIdx.x * 64 + t;\n"

FISSIONED = {
    "tree": "__shared__ float s[64]; s[t] = x[i];\nfor (int h = 32; h > 0; h /= 2) { __syncthreads();\n"
    "if (t < h) s[t] += s[t + h]; } if (t == 0) y[blockIdx.x] = s[0]; }",
    "variables across barriers": "__shared__ float s[64]; float a[3] = {1, 2, 3}, v = x[i]; const int u = t ^ 1;\n"
    "const float *p = x + i; s[t] = v; __syncthreads(); for (int j = 0; j < 3; j++) a[j] += s[u]; __syncthreads();\n"
    "s[t] = a[0] + a[1]; __syncthreads(); y[i] = s[u] + v + *p + a[2]; }",
    "nested loops": "__shared__ float s[64]; float sum = 0; const int rounds = n / 64;\n"
    "for (int a = 0; a < rounds; a++) { s[t] = x[i] * a; __syncthreads();\n"
    "for (int b = 1; b < 4; b++) { float v = s[(t + b) % 64]; __syncthreads(); s[t] = v + b; __syncthreads(); }\n"
    "sum += s[63 - t]; __syncthreads(); } y[i] = sum; }",
    "loops without barriers inside": "__shared__ float s[64]; s[t] = 0; for (int j = 0; j < t; j++) {\n"
    "if (j == 5) continue; s[t] += x[j]; if (j > 20) break; } __syncthreads(); y[i] = s[63 - t]; }",
    "dynamic shared memory": "extern __shared__ float d[]; d[t] = x[i]; __syncthreads(); y[i] = d[63 - t]; }",
    "switch": "__shared__ float s[64]; switch (t % 3) { case 0: s[t] = 1; break; case 1: s[t] = x[i]; break;\n"
    "default: s[t] = -1; } __syncthreads(); y[i] = s[63 - t]; }",
}
FIBERS = {
    "early return": "__shared__ float s[64]; if (i >= n) return; s[t] = x[i]; __syncthreads(); y[i] = s[t ^ 1]; }",
    "barrier in a branch": "__shared__ float s[64]; s[t] = x[i]; if (n > 3) { __syncthreads(); } y[i] = s[t ^ 1]; }",
    "loop that depends on memory": "__shared__ int m; if (t == 0) m = 3; __syncthreads(); float v = 0;\n"
    "for (int j = 0; j < m; j++) { v += x[i]; __syncthreads(); } y[i] = v; }",
    "while": "__shared__ float s[64]; s[t] = x[i]; int j = 4;\n"
    "while (j > 0) { __syncthreads(); j--; } y[i] = s[t ^ 1]; }",
    "shuffle": "__shared__ float s[64]; s[t] = __shfl_xor_sync(~0u, x[i], 1); __syncthreads(); y[i] = s[t ^ 2]; }",
    "break out of the barrier's loop": "__shared__ float s[64]; float v = 0;\n"
    "for (int j = 0; j < 4; j++) { s[t] = x[i] + j; __syncthreads();\n"
    "v += s[t ^ 1]; __syncthreads(); if (j == 2) break; } y[i] = v; }",
}


def fissioned(text: str) -> frozenset[str]:
    return rewrite("candidate.cu", text, ["k"], []).fissioned


def ran(text: str, order: str, threads: str = "64, 256"):
    values = {"n": 256, "x": np.arange(256, dtype=np.float32), "y": np.zeros(256, np.float32)}
    return execute(PARAMETERS, f"{text}\n{LAUNCH % threads}", values, Checks(order=order))


@pytest.mark.parametrize("name", FISSIONED)
def test_a_kernel_taken_apart_does_what_fibers_do(name):
    text = HEAD + FISSIONED[name]
    assert fissioned(text) == {"k"}
    loops, fibers = ran(text, "forward"), ran(text, "reverse")
    assert loops.failure is None and fibers.failure is None
    np.testing.assert_array_equal(loops.arrays["y"], fibers.arrays["y"])


@pytest.mark.parametrize("name", FIBERS)
def test_other_shapes_stay_with_fibers(name):
    text = HEAD + FIBERS[name]
    assert fissioned(text) == frozenset()
    assert ran(text, "forward").failure is None


def test_templates_and_types_of_their_own_are_taken_apart():
    text = (
        "struct Pair { float a, b; };\ntemplate <typename T, int N> __global__ void k(int n, const T *x, T *y) {\n"
        "__shared__ T s[N]; int t = threadIdx.x, i = blockIdx.x * N + t; Pair p = {x[i], 2}; T v = p.a; s[t] = v;\n"
        "__syncthreads(); y[i] = s[N - 1 - t] * p.b + v; }\n"
    )
    assert fissioned(text) == {"k"}
    launch = 'extern "C" void launch_f(int n, const float *x, float *y) { k<float, 64><<<4, 64>>>(n, x, y); }'
    values = {"n": 256, "x": np.arange(256, dtype=np.float32), "y": np.zeros(256, np.float32)}
    one, two = (execute(PARAMETERS, text + launch, values, Checks(order=o)) for o in ("forward", "reverse"))
    assert one.failure is None
    np.testing.assert_array_equal(one.arrays["y"], two.arrays["y"])


def test_findings_keep_their_lines_and_threads():
    text = HEAD + "__shared__ float s[64];\nfloat v = x[i];\ns[t] = v;\n__syncthreads();\n"
    text += "v += s[t + 1];\n__syncthreads();\ny[i] = v; }\n" + LAUNCH % "64"
    values = {"n": 256, "x": np.ones(256, np.float32), "y": np.zeros(256, np.float32)}
    result = execute(PARAMETERS, text, values, Checks(bounds=True, races=True))
    assert result.failure == "out-of-bounds"
    assert {f.line for f in result.findings} == {6}
    assert all("thread (63,0,0)" in f.message for f in result.findings)


STEPS = {
    "shift": "s[t] = v; __syncthreads(); v = s[(t + 3) % 64]; __syncthreads();",
    "mix": "s[t] = v + {k}; __syncthreads(); v += s[t ^ {k}]; __syncthreads();",
    "pick": "if (t % {k} == 0) s[t] = v; else s[t] = 1; __syncthreads(); v = s[63 - t] * 0.5f; __syncthreads();",
    "loop": "for (int a{k} = 0; a{k} < {k}; a{k}++) {{ s[t] = v; __syncthreads(); v += s[(t + a{k}) % 64];"
    " __syncthreads(); }}",
}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(1, 7)), min_size=1, max_size=5))
def test_random_chains_of_steps_agree(steps):
    body = "\n".join(STEPS[name].format(k=k) for name, k in steps)
    text = HEAD + f"__shared__ float s[64]; float v = x[i];\n{body}\ny[i] = v; }}"
    assert fissioned(text) == {"k"}
    np.testing.assert_array_equal(ran(text, "forward").arrays["y"], ran(text, "shuffled").arrays["y"])
