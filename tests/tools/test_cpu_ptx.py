"""Engine B against engine A and against NumPy: what NVIDIA's compiler makes of a kernel, run on the CPU."""

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Case, Checks
from cudaperf_agent.tools.nvcc import find_nvcc
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import candidate, function

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="engine ptx needs NVIDIA's compiler")
FLOATS = "int n, const float *x, float *y"
INTEGERS = "int n, const unsigned *x, unsigned *y"
RNG = np.random.default_rng(7)


PLAIN = Checks()


def run(parameters, text, values, checks=PLAIN, engine="ptx"):
    device = CpuDevice(engine)
    watched = bool(checks.bounds or checks.races or checks.uninitialized or checks.trace_blocks)
    build = device.build(function(parameters), candidate(text), checked=watched)
    assert build.result.ok, build.result.diagnostics
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    scalars = {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}
    return device.run(build, [Case("case", arrays, scalars)], checks)[0]


def launched(kernel, threads=128):
    return (
        f'{kernel}\nextern "C" void launch_f(int n, const {{T}} *x, {{T}} *y) '
        f"{{{{ k<<<(n + {threads - 1}) / {threads}, {threads}>>>(n, x, y); }}}}"
    )


def floats(kernel, threads=128):
    return launched(kernel, threads).replace("{T}", "float").replace("{{", "{").replace("}}", "}")


KERNELS = {
    "map": "__global__ void k(int n, const float *x, float *y) {\n"
    "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2.5f * x[i] - 1.0f; }",
    "tree": "__global__ void k(int n, const float *x, float *y) { __shared__ float s[128]; int t = threadIdx.x;\n"
    "int i = blockIdx.x * 128 + t; s[t] = i < n ? x[i] : 0; __syncthreads();\n"
    "for (int h = 64; h > 0; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }\n"
    "if (t == 0) y[blockIdx.x] = s[0]; }",
    "shuffles": "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "float v = i < n ? x[i] : 0; for (int d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (i < n) y[i] = v; }",
    "atomics": "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "if (i < n) atomicAdd(&y[(int)x[i] & 7], 1.0f); }",
    "local": "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "float a[8]; for (int j = 0; j < 8; j++) a[(j * 3 + (int)x[0]) & 7] = j; if (i < n) y[i] = a[i & 7]; }",
    "switch": "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "if (i >= n) return; switch (i % 5) { case 0: y[i] = x[i]; break; case 1: y[i] = -x[i]; break; case 2: y[i] = 7;\n"
    "case 3: y[i] += 1; break; default: y[i] = floorf(x[i] / 3); } }",
    "function": "__device__ __noinline__ float f(float v, int d) { return d ? f(v * 0.5f, d - 1) + 1 : v; }\n"
    "__global__ void k(int n, const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "if (i < n) y[i] = f(x[i], i & 3); }",
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_both_engines_agree(name):
    n = 300
    values = {"n": n, "x": np.arange(n, dtype=np.float32), "y": np.zeros(n, np.float32)}
    checks = Checks(bounds=True, races=True, trace_blocks=1000)
    one, other = (run(FLOATS, floats(KERNELS[name]), values, checks, e) for e in ("source", "ptx"))
    assert one.failure is None and other.failure is None, (one.findings, other.findings)
    np.testing.assert_array_equal(one.arrays["y"], other.arrays["y"])
    assert one.launches == other.launches
    (a,), (b,) = one.counts, other.counts
    assert a.barriers_per_thread == b.barriers_per_thread and a.unique_bytes == b.unique_bytes


@pytest.mark.parametrize("engine", ["source", "ptx"])
def test_both_engines_name_a_race_at_its_lines(engine):
    text = floats(
        "__global__ void k(int n, const float *x, float *y) { __shared__ float s[128];\n"
        "s[threadIdx.x] = x[threadIdx.x];\ny[threadIdx.x] = s[127 - threadIdx.x]; }"
    )
    result = run(FLOATS, text, {"n": 128, "x": np.ones(128, np.float32), "y": np.zeros(128, np.float32)},
                 Checks(races=True), engine)  # fmt: skip
    assert result.failure == "race"
    assert {2, 3} >= {f.line for f in result.findings} and "candidate.cu:2" in result.findings[0].message


def test_block_scan_and_sort_of_cub():
    text = """#include <cub/cub.cuh>
__global__ void k(int n, const unsigned *x, unsigned *y) {
    typedef cub::BlockRadixSort<unsigned, 64, 4> Sort;
    typedef cub::BlockScan<unsigned, 64> Scan;
    __shared__ union { typename Sort::TempStorage sort; typename Scan::TempStorage scan; } s;
    unsigned v[4];
    for (int i = 0; i < 4; i++) v[i] = x[threadIdx.x * 4 + i];
    Sort(s.sort).Sort(v);
    for (int i = 0; i < 4; i++) y[threadIdx.x * 4 + i] = v[i];
    __syncthreads();
    Scan(s.scan).InclusiveSum(v, v);
    for (int i = 0; i < 4; i++) y[256 + threadIdx.x * 4 + i] = v[i];
}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) { k<<<1, 64>>>(n, x, y); }"""
    x = RNG.integers(0, 1 << 32, 256, dtype=np.uint32)
    checks = Checks(bounds=True, races=True)
    result = run(INTEGERS, text, {"n": 256, "x": x, "y": np.zeros(512, np.uint32)}, checks)
    assert result.failure is None, result.findings
    np.testing.assert_array_equal(result.arrays["y"][:256], np.sort(x))
    np.testing.assert_array_equal(result.arrays["y"][256:], np.cumsum(np.sort(x), dtype=np.uint32))


def test_operations_and_sectors_are_exact():
    n = 64
    text = """__global__ void k(int n, const float *x, float *y) {
    int i = blockIdx.y, j = threadIdx.x;
    float sum = 0;
    for (int q = 0; q < 64; q++) sum += x[i * 64 + q] * x[q * 64 + j];
    y[i * 64 + j] = sum;
}
extern "C" void launch_f(int n, const float *x, float *y) { k<<<dim3(1, 64), 64>>>(n, x, y); }"""
    values = {"n": n, "x": RNG.random(n * n, dtype=np.float32), "y": np.zeros(n * n, np.float32)}
    (counts,) = run(FLOATS, text, values, Checks(trace_blocks=1000)).counts
    ffma = [o for o in counts.operations if o.type == "ffma"]
    assert sum(o.lanes for o in ffma) == n**3 and {o.line for o in ffma} == {4}
    assert sum(o.warps for o in ffma) == n**3 // 32
    stores = [a for a in counts.accesses if a.operation == "store"]
    assert [(a.requests, a.sectors, a.line) for a in stores] == [(128, 512, 5)]


def test_divergence_shows_in_active_lanes():
    text = floats(
        "__global__ void k(int n, const float *x, float *y) { float v = x[threadIdx.x];\n"
        "#pragma unroll 1\nfor (int i = 0; i < threadIdx.x; i++)\nv = v * 1.5f + 1.0f;\ny[threadIdx.x] = v; }", 32
    )  # fmt: skip
    values = {"n": 32, "x": np.ones(32, np.float32), "y": np.ones(32, np.float32)}
    (counts,) = run(FLOATS, text, values, Checks(trace_blocks=10)).counts
    ffma = [o for o in counts.operations if o.type == "ffma"]
    assert (sum(o.lanes for o in ffma), sum(o.warps for o in ffma)) == (31 * 32 // 2, 31)


ASSEMBLY = {
    "bfe.u32 %0, %1, %2, 7;": lambda a, b: (a >> (b & 255)) & 127 if (b & 255) < 32 else 0,
    "prmt.b32 %0, %1, %2, 0x3607;": lambda a, b: int.from_bytes(
        bytes(_byte(a, b, s) for s in (7, 0, 6, 3)), "little"
    ),
    "shf.l.wrap.b32 %0, %1, %2, 9;": lambda a, b: (b << 9 | a >> 23) & 0xFFFFFFFF,
    "lop3.b32 %0, %1, %2, 0x0f0f0f0f, 0xe8;": lambda a, b: (a & b) | (a & 0x0F0F0F0F) | (b & 0x0F0F0F0F),
    "mul.hi.s32 %0, %1, %2;": lambda a, b: (_signed(a) * _signed(b) >> 32) & 0xFFFFFFFF,
    "sad.u32 %0, %1, %2, 5;": lambda a, b: (abs(a - b) + 5) & 0xFFFFFFFF,
    "shl.b32 %0, %1, %2;": lambda a, b: (a << b) & 0xFFFFFFFF if b < 32 else 0,
    "shr.s32 %0, %1, %2;": lambda a, b: (_signed(a) >> min(b, 31)) & 0xFFFFFFFF,
    "brev.b32 %0, %1;": lambda a, b: int(f"{a:032b}"[::-1], 2),
    "bfind.u32 %0, %1;": lambda a, b: a.bit_length() - 1 if a else 0xFFFFFFFF,
    "add.sat.s32 %0, %1, %2;": lambda a, b: (
        max(-(2**31), min(2**31 - 1, _signed(a) + _signed(b))) & 0xFFFFFFFF
    ),
    "dp4a.s32.u32 %0, %1, %2, 3;": lambda a, b: (
        (3 + sum(_sbyte(a >> 8 * i) * (b >> 8 * i & 255) for i in range(4))) & 0xFFFFFFFF
    ),
}


def _signed(v):
    return v - (1 << 32) if v >> 31 else v


def _sbyte(v):
    return (v & 255) - 256 if v & 128 else v & 255


def _byte(a, b, selector):
    return (a | b << 32) >> 8 * selector & 255


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), min_size=1, max_size=40))
def test_instructions_do_what_the_isa_says(pairs):
    lines = [f'asm("{a}" : "=r"(r) : "r"(x[2 * i]), "r"(x[2 * i + 1])); y[i * {len(ASSEMBLY)} + {k}] = r;'
             for k, a in enumerate(ASSEMBLY)]  # fmt: skip
    text = (
        "__global__ void k(int n, const unsigned *x, unsigned *y) { int i = threadIdx.x; unsigned r; if (i < n) {\n"
        + "\n".join(lines)
        + '\n} }\nextern "C" void launch_f(int n, const unsigned *x, unsigned *y) { k<<<1, 64>>>(n, x, y); }'
    )
    x = np.array(pairs, np.uint32)
    y = np.zeros(len(pairs) * len(ASSEMBLY), np.uint32)
    result = run(INTEGERS, text, {"n": len(pairs), "x": x.reshape(-1), "y": y})
    wanted = [[f(a, b) for f in ASSEMBLY.values()] for a, b in pairs]
    np.testing.assert_array_equal(result.arrays["y"].reshape(-1, len(ASSEMBLY)), np.array(wanted, np.uint32))


def test_half_precision_rounds_once():
    text = """#include <cuda_fp16.h>
__global__ void k(int n, const float *x, float *y) {
    int i = threadIdx.x;
    __half a = __float2half(x[i]), b = __float2half(x[(i + 1) % n]), c = __float2half(x[(i + 2) % n]);
    y[i] = __half2float(__hfma(a, b, c));
}
extern "C" void launch_f(int n, const float *x, float *y) { k<<<1, n>>>(n, x, y); }"""
    x = (RNG.random(256, dtype=np.float32) - 0.5) * 100
    result = run(FLOATS, text, {"n": 256, "x": x, "y": np.zeros(256, np.float32)})
    a = x.astype(np.float16).astype(np.float64)
    exact = a * np.roll(a, -1) + np.roll(a, -2)
    np.testing.assert_array_equal(result.arrays["y"], exact.astype(np.float16).astype(np.float32))


def test_what_is_not_translated_is_named_with_its_line():
    text = floats(
        "__global__ void k(int n, const float *x, float *y) {\n"
        'unsigned r; asm volatile("barrier.red.popc.u32 %0, 1, 64, 1;" : "=r"(r));\ny[threadIdx.x] = x[threadIdx.x]; }'
    )
    build = CpuDevice().build(function(FLOATS), candidate(text), checked=False)
    (finding,) = build.result.diagnostics
    assert not build.result.ok and finding.rule == "unsupported" and finding.line == 2
    assert "barrier" in finding.message and "named barrier" in finding.message


PIPELINE = """__global__ void k(int n, const float *x, float *y) {{
    __shared__ float s[2][32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {{
        for (int i = 0; i < 8; i++) {{
            if (i > 1) asm volatile("bar.sync %0, 64;" :: "r"(3 + i % 2) : "memory");
            s[i % 2][lane] = x[i * 32 + lane];
            {full}
        }}
    }} else {{
        for (int i = 0; i < 8; i++) {{
            asm volatile("bar.sync %0, 64;" :: "r"(1 + i % 2) : "memory");
            y[i * 32 + lane] = 2 * s[i % 2][31 - lane];
            if (i < 6) asm volatile("bar.arrive %0, 64;" :: "r"(3 + i % 2) : "memory");
        }}
    }}
}}
extern "C" void launch_f(int n, const float *x, float *y) {{ k<<<1, 64>>>(n, x, y); }}"""


def test_a_warp_produces_what_another_consumes_through_named_barriers():
    text = PIPELINE.format(full='asm volatile("bar.arrive %0, 64;" :: "r"(1 + i % 2) : "memory");')
    x = RNG.random(256, dtype=np.float32)
    checks = Checks(bounds=True, races=True, uninitialized=True)
    result = run(FLOATS, text, {"n": 256, "x": x, "y": np.zeros(256, np.float32)}, checks)
    assert result.failure is None and not result.findings, result.findings
    np.testing.assert_array_equal(result.arrays["y"].reshape(8, 32), 2 * x.reshape(8, 32)[:, ::-1])


def test_a_named_barrier_that_nobody_fills_ends_the_run():
    result = run(
        FLOATS,
        PIPELINE.format(full=""),
        {"n": 256, "x": np.ones(256, np.float32), "y": np.zeros(256, np.float32)},
    )
    assert result.failure == "barrier-divergence"
    assert "for threads that never come" in result.findings[0].message
