"""Whole programs on the CPU device: what the runtime's API does for them."""

from pathlib import Path

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Checks
from cudaperf_agent.tools.program import read_program

KERNELS = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void scale(int n, float *x, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
__global__ void add(int n, float *x, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += a;
}
"""


def run(folder: Path, text: str, checks: Checks | None = None):
    """Runs the program in `folder` with the source engine."""
    source = folder / "program.cu"
    source.write_text(text)
    return CpuDevice("source").emulate(
        read_program([source]), (), 30, checks or Checks(), folder, captured=True
    )


def printed(folder: Path, text: str, checks: Checks | None = None) -> str:
    ran = run(folder, text, checks)
    assert ran.failure is None and ran.status == 0, (ran.findings, ran.stderr)
    return ran.stdout


def test_a_captured_stream_replays_and_does_not_run_while_it_is_captured(tmp_path):
    text = (
        KERNELS
        + """
int main() {
    float host[4] = {1, 2, 3, 4}, *x;
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&s);
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    scale<<<1, 32, 0, s>>>(4, x, 2);
    add<<<1, 32, 0, s>>>(4, x, 1);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    printf("%g\\n", host[3]);
    cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, s);
    cudaStreamSynchronize(s);
    printf("%g %g\\n", host[0], host[3]);
}
"""
    )
    assert printed(tmp_path, text).split() == ["4", "15", "39"]


def test_nodes_of_a_graph_run_after_those_that_they_depend_on(tmp_path):
    text = (
        KERNELS
        + """
int main() {
    float host[4] = {1, 2, 3, 4}, *x, a = 2, b = 1;
    int n = 4;
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    cudaGraphExec_t executable;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaGraphCreate(&graph, 0);
    void *scaled[] = {&n, &x, &a}, *added[] = {&n, &x, &b};
    cudaKernelNodeParams p = {};
    p.gridDim = 1, p.blockDim = 32;
    p.func = (void *)scale, p.kernelParams = scaled;
    cudaGraphAddKernelNode(&second, graph, nullptr, 0, &p);
    p.func = (void *)add, p.kernelParams = added;
    cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p);
    cudaGraphAddDependencies(graph, &first, &second, 1);
    cudaGraphInstantiate(&executable, graph);
    b = 100;
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\\n", host[0]);
    cudaGraphExecKernelNodeSetParams(executable, first, &p);
    cudaGraphLaunch(executable, 0);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g\\n", host[0]);
}
"""
    )
    assert printed(tmp_path, text).split() == ["4", "208"]


SMALL = """#include <cstdio>
#include <HEADER>
__global__ void widen(float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = WIDEN(FROM_BITS(i));
}
__global__ void round_off(int n, const float *in, unsigned short *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = TO_BITS(ROUND(in[i]));
}
int main() {
    static float wide[65536], in[65536];
    static unsigned short bits[65536];
    float *x;
    unsigned short *y;
    cudaMalloc(&x, sizeof wide), cudaMalloc(&y, sizeof bits);
    widen<<<256, 256>>>(x);
    cudaMemcpy(wide, x, sizeof wide, cudaMemcpyDeviceToHost);
    FILE *file = fopen("in", "rb");
    fread(in, 4, 65536, file);
    cudaMemcpy(x, in, sizeof in, cudaMemcpyHostToDevice);
    round_off<<<256, 256>>>(65536, x, y);
    cudaMemcpy(bits, y, sizeof bits, cudaMemcpyDeviceToHost);
    file = fopen("out", "wb");
    fwrite(wide, 4, 65536, file), fwrite(bits, 2, 65536, file);
    fclose(file);
}
"""


def values(seed: int) -> np.ndarray:
    """Floats of all magnitudes, with halves between two neighbours among them."""
    draw = np.random.default_rng(seed)
    floats = draw.integers(0, 1 << 32, 65536, dtype=np.uint32).view(np.float32)
    halves = draw.integers(0, 0x7C00, 16384, dtype=np.uint16).view(np.float16).astype(np.float32)
    floats[:16384] = halves
    floats[16384:32768] = (halves + np.nextafter(halves.astype(np.float16), np.float16(np.inf))) / 2
    floats[np.isnan(floats)] = 1
    return floats


def test_half_widens_and_rounds_as_ieee_says(tmp_path):
    names = {"HEADER": "cuda_fp16.h", "WIDEN": "__half2float", "ROUND": "__float2half"}
    names |= {"FROM_BITS": "__ushort_as_half", "TO_BITS": "__half_as_ushort"}
    text = SMALL
    for name, value in names.items():
        text = text.replace(name, value)
    given = values(1)
    given.tofile(tmp_path / "in")
    printed(tmp_path, text)
    raw = (tmp_path / "out").read_bytes()
    wide, bits = np.frombuffer(raw, np.float32, 65536), np.frombuffer(raw, np.uint16, offset=4 * 65536)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(wide, halves.astype(np.float32))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(bits, given.astype(np.float16).view(np.uint16))


def test_bfloat16_is_the_upper_half_of_a_float_rounded_to_even(tmp_path):
    names = {"HEADER": "cuda_bf16.h", "WIDEN": "__bfloat162float", "ROUND": "__float2bfloat16"}
    names |= {"FROM_BITS": "__ushort_as_bfloat16", "TO_BITS": "__bfloat16_as_ushort"}
    text = SMALL
    for name, value in names.items():
        text = text.replace(name, value)
    given = values(2)
    given.tofile(tmp_path / "in")
    printed(tmp_path, text)
    raw = (tmp_path / "out").read_bytes()
    wide, bits = np.frombuffer(raw, np.uint32, 65536), np.frombuffer(raw, np.uint16, offset=4 * 65536)
    assert (wide == np.arange(65536, dtype=np.uint32) << 16).all()
    word = given.view(np.uint32).astype(np.uint64)
    np.testing.assert_array_equal(bits, (word + 0x7FFF + (word >> 16 & 1)) >> 16)


@pytest.mark.parametrize("kind", ["__half", "__nv_bfloat16"])
def test_small_floats_have_operators_in_both_parts(tmp_path, kind):
    text = """#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> __host__ __device__ T blend(T a, T b) { return a * b + a / b - (a < b ? a : b); }
template <typename T> __global__ void kernel(T a, T b, T *out) {
    out[threadIdx.x] = blend(a, b);
    atomicAdd(out + 1, T(0.25f));
}
int main() {
    KIND *x, host[2] = {0.0f, 1.0f};
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    kernel<KIND><<<2, 1>>>(KIND(1.5f), KIND(2.0f), x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g %g %g\\n", (float)host[0], (float)host[1], (float)blend(KIND(1.5f), KIND(2.0f)));
}
""".replace("KIND", kind)
    assert printed(tmp_path, text).split() == ["2.25", "1.5", "2.25"]
