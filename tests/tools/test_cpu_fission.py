"""Kernels taken apart at their barriers do what fibers do; what is not of that shape stays with fibers."""

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.fission import PREFIX
from cudaperf_agent.tools.cpu.rewrite import rewrite
from cudaperf_agent.tools.device import Checks
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import EVERYTHING, built, execute

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
    "the same for the block: a branch": "__shared__ float s[64]; s[t] = x[i]; if (n > 3) { __syncthreads(); }\n"
    "else { s[t] = 2; __syncthreads(); } y[i] = n > 3 ? s[t ^ 1] : 0; }",
    "early return of whole blocks": "__shared__ float s[64]; if (blockIdx.x * 64 >= n - 128) return;\n"
    "s[t] = x[i]; __syncthreads(); y[i] = s[t ^ 1]; }",
    "early return of some threads": "__shared__ float s[64]; int from = i + 10; if (from >= n) return;\n"
    "s[t] = x[from]; __syncthreads(); if (t < 60) y[i] = s[t ^ 1]; }",
    "all behind a condition": "__shared__ float s[64]; if (i < n - 80) { s[t] = x[i]; __syncthreads();\n"
    "y[i] = s[t ^ 1]; } }",
    "return behind all barriers": "__shared__ float s[64]; s[t] = x[i]; __syncthreads(); if (t > 9) return;\n"
    "if (t == 3) { y[i] = 7; return; } y[i] = s[t ^ 1]; }",
    "a variable that a function changes": "__shared__ float s[64]; int u = t; next(u); s[t] = x[i];\n"
    "__syncthreads(); y[i] = s[u % 64]; }",
    "a name twice": "__shared__ float s[64]; for (int a = 0; a < 2; a++) { int u = t + a; float v = x[i]; s[t] = v;\n"
    "__syncthreads(); y[i] += s[u % 64] - v; __syncthreads(); } for (int a = 0; a < 2; a++) { float v = a; s[t] = v;\n"
    "__syncthreads(); y[i] += s[t ^ 1] + v; __syncthreads(); } }",
    "while": "__shared__ float s[64]; s[t] = x[i]; int j = blockDim.x / 2;\n"
    "while (j > 0) { __syncthreads(); if (t < j) s[t] += s[t + j]; j >>= 1; }\n"
    "__syncthreads(); y[i] = s[0] + j; }",
    "variables that all change alike": "__shared__ float s[2][64]; int which = 0, d; s[0][t] = x[i]; x += 64;\n"
    "for (d = 1; d < 64; d *= 2) { __syncthreads(); int to = which ^ 1; float v = s[which][t] + d;\n"
    "s[to][t] = t >= d ? v + s[which][t - d] : v; which = 1 - which; } __syncthreads();\n"
    "y[i] = s[which][t] + d + x[-64]; }",
    "a variable that each changes": "__shared__ float s[64]; int u = 0; s[t] = x[i]; __syncthreads(); u += t;\n"
    "__syncthreads(); u -= 3; s[t] += u; __syncthreads(); if (n > 3) { u = 5; __syncthreads(); }\n"
    "y[i] = s[t ^ 1] + u; }",
    "changed parameters, and an early return": "__shared__ float s[64]; x += t; n -= 100; float v = x[0];\n"
    "if (i + v * 0 >= n) return; s[t] = *x; __syncthreads(); y[i] = s[t ^ 1] + v; }",
    "changed parameters": "__shared__ float s[64]; if (t > 3) n += t; x += t; s[t] = *x; __syncthreads();\n"
    "y += blockIdx.x * 64; y[t] = s[t ^ 1] + n; }",
    "parts of a structure": "__shared__ float s[64]; float2 p = make_float2(1, 2); int2 q = {1, 2};\n"
    "q.x = t; s[t] = x[i]; __syncthreads(); y[i] = s[q.x ^ q.y] + p.x; }",
}
EXCHANGED = {
    "down in a loop": "float v = x[i]; for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);\n"
    "y[i] = v; }",
    "up, a scan": "float v = x[i]; int lane = t & 31;\n#pragma unroll\nfor (int d = 1; d < 32; d <<= 1) {\n"
    "float u = __shfl_up_sync(0xffffffffu, v, d); if (lane >= d) v += u; } y[i] = v; }",
    "xor": "float v = x[i]; for (int m = 1; m < 32; m *= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, m) - m);\n"
    "y[i] = v; }",
    "xor beyond the segment": "y[i] = __shfl_xor_sync(~0u, x[i], 24, 16) + __shfl_xor_sync(-1, x[i], 40); }",
    "from a lane each": "int lane = t % 32; y[i] = __shfl_sync(~0, x[i], lane * 7 + 3) + __shfl_sync(~0u, x[i], -1); }",
    "widths": "float v = x[i]; y[i] = __shfl_down_sync(~0u, v, 3, 8) + 2 * __shfl_up_sync(~0u, v, 5, 16)\n"
    "+ 4 * __shfl_sync(~0u, v, 9, 8) + 8 * __shfl_xor_sync(~0u, v, 6, 8); }",
    "far": "float v = x[i]; y[i] = __shfl_down_sync(~0u, v, 40) + 2 * __shfl_up_sync(~0u, v, 33) +\n"
    "__shfl_down_sync(~0u, v, t % 40); }",
    "other types": "double d = x[i]; long long l = i; unsigned char c = i; d = __shfl_down_sync(~0u, d, 1);\n"
    "l = __shfl_up_sync(~0u, l, 2); c = __shfl_xor_sync(~0u, c, 3); y[i] = d + l + c; }",
    "votes": "float v = x[i]; unsigned b = __ballot_sync(~0u, v > 7 && t % 3); int any = __any_sync(~0u, t == 40),\n"
    "all = __all_sync(~0u, t < 32); y[i] = __popc(b) + 100 * any + 1000 * all; }",
    "reductions": "y[i] = __reduce_add_sync(~0u, t) + __reduce_min_sync(~0u, 9 - t) + __reduce_max_sync(~0u, t ^ 3)\n"
    "+ __reduce_or_sync(~0u, 1u << t % 5) + __reduce_and_sync(~0u, 6u | t) + __reduce_xor_sync(~0u, 3u * t)\n"
    "+ __reduce_min_sync(~0u, 9u - t); }",
    "within each other": "y[i] = __shfl_sync(~0u, __shfl_xor_sync(~0u, x[i], 1) + t, __shfl_sync(~0u, t, 5)); }",
    "a branch that the vote takes": "float v = x[i]; if (__any_sync(~0u, v > 50)) v += __shfl_xor_sync(~0u, v, 1);\n"
    "else v = -v; y[i] = v; }",
    "shared memory of a warp": "__shared__ float s[64]; s[t] = x[i]; __syncwarp(); float v = s[t ^ 1]; __syncwarp();\n"
    "s[t] = v + 1; __syncwarp(0xffffffff); y[i] = s[t ^ 2]; }",
    "block reduction": "__shared__ float s[32]; float v = x[i]; int lane = threadIdx.x % 32, w = threadIdx.x / 32;\n"
    "for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(FULL, v, d); if (lane == 0) s[w] = v; __syncthreads();\n"
    "v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0; if (w == 0)\n"
    "for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(FULL, v, d); if (t == 0) y[blockIdx.x] = v; }",
    "the first warp": "__shared__ float s[64]; s[t] = x[i]; __syncthreads(); if (t < 32) {\n"
    "float v = s[t] + s[t + 32]; for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
    "if (t == 0) y[blockIdx.x] = v; } }",
    "helpers": "float v = block_sum(x[i]); y[i] = v + warp_max(x[i]) + warp_max<float>(t); if (t == 0) y[i] = 0; }",
    "a helper twice, and a barrier between": "float v = block_sum(x[i]); __shared__ float m; if (t == 0) m = v;\n"
    "__syncthreads(); float u = block_sum(x[i] - m) / n; y[i] = t == 0 ? u : m; }",
    "a row for each warp": "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;\n"
    "for (int r = threadIdx.x / 32; r < 4; r += blockDim.x / 32) { float v = 0;\n"
    "for (int j = lane; j < 64; j += 32) v += x[(r + row) % 4 * 64 + j]; v = block_free(v);\n"
    "if (lane == r) y[row * 32 + r] = v; } }",
    "active lanes": "unsigned m = __activemask(); float v = __shfl_down_sync(m, x[i], 1); y[i] = v + __popc(m); }",
    "early return": "if (i >= n - 100) return; float v = x[i]; y[i] = v + __shfl_xor_sync(~0u, v, 1); }",
    "all behind a condition": "float v = x[i]; if (i + 20 < n) { v += __shfl_xor_sync(~0u, v, 1); y[i] = v; } }",
    "two loops, one name": "float v = x[i]; for (int d = 1; d < 8; d *= 2) { float u = v;\n"
    "v += __shfl_xor_sync(~0u, u, d); } for (int d = 1; d < 8; d *= 2) { int u = t;\n"
    "v -= __shfl_xor_sync(~0u, u, d); } y[i] = v; }",
    "a local array": "float a[4]; for (int j = 0; j < 4; j++) a[j] = x[i] * j;\n"
    "for (int j = 0; j < 4; j++) a[j] = __shfl_down_sync(~0u, a[j], j); y[i] = a[0] + a[1] + a[2] + a[3]; }",
}
FUNCTIONS = """#define FULL 0xffffffff
template <typename T> __inline__ __device__ T warp_max(T v, unsigned mask = FULL) {
    for (int d = 16; d > 0; d /= 2) v = max(v, __shfl_xor_sync(mask, v, d));
    return v;
}
__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_down_sync(FULL, v, d);
    }
    return v;
}
__device__ float block_free(float v) { return __shfl_sync(FULL, warp_sum(v), 0); }
__device__ float block_sum(float value) {
    static __shared__ float s[32];
    int lane = threadIdx.x % warpSize, w = threadIdx.x / warpSize;
    value = warp_sum(value);
    if (lane == 0) s[w] = value;
    __syncthreads();
    value = (threadIdx.x < blockDim.x / warpSize) ? s[lane] : 0;
    if (w == 0) value = warp_sum(value);
    return value;
}
__device__ void next(int &u) { u += 3; }
"""
FIBERS = {
    "early return behind an effect": "__shared__ float s[64]; s[t] = x[i]; if (i >= n) return; __syncthreads();\n"
    "y[i] = s[t ^ 1]; }",
    "loop that depends on memory": "__shared__ int m; if (t == 0) m = 3; __syncthreads(); float v = 0;\n"
    "for (int j = 0; j < m; j++) { v += x[i]; __syncthreads(); } y[i] = v; }",
    "break out of the barrier's loop": "__shared__ float s[64]; float v = 0;\n"
    "for (int j = 0; j < 4; j++) { s[t] = x[i] + j; __syncthreads();\n"
    "v += s[t ^ 1]; __syncthreads(); if (j == 2) break; } y[i] = v; }",
    "half of a warp": "float v = x[i]; y[i] = 0; if (t % 32 < 16) v += __shfl_down_sync(0xffff, v, 4); y[i] = v; }",
    "lanes apart": "float v = x[i]; y[i] = 0; if (t & 1) v = __shfl_xor_sync(0xaaaaaaaa, v, 2);\n"
    "else v = __shfl_xor_sync(0x55555555, v, 4); y[i] = v; }",
    "a mask of some": "unsigned m = __ballot_sync(~0u, t % 32 < 20); y[i] = 0;\n"
    "if (t % 32 < 20) y[i] = __shfl_sync(m, x[i], 3); }",
    "a loop of its own for each lane": "float v = x[i]; for (int j = 0; j <= t / 32 * 2 + (t & 0); j++)\n"
    "v += __shfl_xor_sync(~0u, v, 1); y[i] = v; }",
    "only where needed": "float v = x[i]; y[i] = n > 3 && __any_sync(~0u, v > 100);\n"
    "y[i] += n > 3 ? __shfl_sync(~0u, v, 2) : 0; }",
    "matches": "y[i] = __popc(__match_any_sync(~0u, t % 5)); }",
}


def fissioned(text: str) -> frozenset[str]:
    return rewrite("candidate.cu", text, ["k"], []).fissioned


def ran(text: str, order: str, threads: str = "64, 256"):
    """Runs a kernel: as loops where the order is `forward` and it was taken apart, else as fibers."""
    values = {"n": 256, "x": np.arange(256, dtype=np.float32), "y": np.zeros(256, np.float32)}
    return execute(PARAMETERS, f"{text}\n{LAUNCH % threads}", values, Checks(order=order))


def compiled(text: str, threads: str = "64, 256") -> str:
    """The C++ that the device part was compiled from."""
    return (
        built(PARAMETERS, f"{text}\n{LAUNCH % threads}", False).libraries.folder / "device.cpp"
    ).read_text()


@pytest.mark.parametrize("name", FISSIONED)
def test_a_kernel_taken_apart_does_what_fibers_do(name):
    text = FUNCTIONS + HEAD + FISSIONED[name]
    assert fissioned(text) == {"k"}
    loops, fibers = ran(text, "forward"), ran(text, "reverse")
    assert loops.failure is None and fibers.failure is None
    assert PREFIX in compiled(text)
    np.testing.assert_array_equal(loops.arrays["y"], fibers.arrays["y"])


@pytest.mark.parametrize("name", EXCHANGED)
def test_warps_that_exchange_values_in_loops_do_what_fibers_do(name):
    text = FUNCTIONS + HEAD + EXCHANGED[name]
    assert fissioned(text) == {"k"}
    loops, fibers = ran(text, "forward"), ran(text, "reverse")
    assert loops.failure is None and fibers.failure is None
    assert PREFIX in compiled(text)
    np.testing.assert_array_equal(loops.arrays["y"], fibers.arrays["y"])


@pytest.mark.parametrize("threads", ["48", "20", "dim3(16, 4)", "dim3(32, 2)"])
def test_blocks_of_other_shapes_do_what_fibers_do(threads):
    text = (
        FUNCTIONS
        + """__global__ void k(int n, const float *x, float *y) {
        int r = threadIdx.y * blockDim.x + threadIdx.x, i = blockIdx.x * 64 + r;
        float v = x[i] + threadIdx.y;
        for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d, 16);
        if (r / 32 == 0) v += __shfl_down_sync(~0u, v, 3);
        y[i] = v;
    }"""
    )
    assert fissioned(text) == {"k"}
    loops, fibers = ran(text, "forward", threads), ran(text, "reverse", threads)
    assert loops.failure is None and fibers.failure is None
    assert PREFIX in compiled(text, threads)
    np.testing.assert_array_equal(loops.arrays["y"], fibers.arrays["y"])


@pytest.mark.parametrize("name", FIBERS)
def test_other_shapes_stay_with_fibers(name):
    text = HEAD + FIBERS[name]
    assert fissioned(text) == frozenset()
    assert ran(text, "forward").failure is None


@pytest.mark.parametrize("name", ["early return of some threads", "block reduction", "helpers"])
def test_checkers_see_the_same_in_kernels_that_run_as_loops(name):
    text = FUNCTIONS + HEAD + {**FISSIONED, **EXCHANGED}[name] + "\n" + LAUNCH % "64"
    values = {"n": 256, "x": np.ones(256, np.float32), "y": np.zeros(256, np.float32)}
    plain, watched = (execute(PARAMETERS, text, values, c) for c in (Checks(), EVERYTHING))
    assert {(f.rule, f.line) for f in plain.findings} == {(f.rule, f.line) for f in watched.findings}
    assert plain.failure == watched.failure is None
    np.testing.assert_array_equal(plain.arrays["y"], watched.arrays["y"])


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


EXCHANGE_STEPS = {
    "down": "v += __shfl_down_sync(~0u, v, {k});",
    "up": "{{ float u = __shfl_up_sync(~0u, v, {k}, 16); if (t % 32 >= {k}) v = v * 0.5f + u; }}",
    "xor": "v = fmaxf(v * 0.25f, __shfl_xor_sync(FULL, v, {k}));",
    "lane": "v -= __shfl_sync(FULL, v, t * {k} + 1, 8);",
    "vote": "if (__any_sync(FULL, v > {k} * 40)) v += __popc(__ballot_sync(FULL, t % {k} == 0));",
    "helper": "v = warp_max(v - {k});",
    "block": "v = block_sum(v) * 0.01f + t; __syncthreads();",
    "warp": "if (threadIdx.x / 32 == {k} % 2) {{ v = warp_sum(v) * 0.1f; }} else v += {k};",
    "loop": "for (int a = 0; a < {k}; a++) {{ float u = v + a; v += __shfl_xor_sync(FULL, u, a) * 0.1f; }}",
}


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(sorted({**EXCHANGE_STEPS, "shift": 0})), st.integers(1, 7)), max_size=6
    )
)
def test_random_chains_of_exchanges_agree(steps):
    body = "\n".join({**STEPS, **EXCHANGE_STEPS}[name].format(k=k) for name, k in steps)
    text = (
        FUNCTIONS + HEAD + f"__shared__ float s[64]; float v = x[i];\n__syncthreads();\n{body}\ny[i] = v; }}"
    )
    assert fissioned(text) == {"k"}
    loops = ran(text, "forward").arrays["y"]
    assert PREFIX in compiled(text)
    np.testing.assert_array_equal(loops, ran(text, "shuffled").arrays["y"])
