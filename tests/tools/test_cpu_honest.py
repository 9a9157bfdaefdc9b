"""Correct kernels of many shapes run right, in every order, without a false alarm of any checker."""

import numpy as np
import pytest
from cudaperf_agent.tools.device import Checks
from kernels import built, execute

RNG = np.random.default_rng(7)
X = RNG.random(5000, np.float32)
A, B = RNG.random((48, 48), np.float32), RNG.random((48, 48), np.float32)
INTS = RNG.integers(0, 64, 5000).astype(np.int32)

MATMUL = """
#define TILE 16
__global__ void matmul(int n, const float *a, const float *b, float *c) {
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / TILE; t++) {
        as[ty][tx] = a[row * n + t * TILE + tx];
        bs[ty][tx] = b[(t * TILE + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" void launch_f(int n, const float *a, const float *b, float *c) {
    matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(n, a, b, c);
}
"""
REDUCE = """
__inline__ __device__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}
__global__ void sum(int n, const float *x, float *out) {
    __shared__ float partial[32];
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) v += x[i];
    v = warp_sum(v);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        v = warp_sum(v);
        if (threadIdx.x == 0) atomicAdd(out, v);
    }
}
extern "C" void launch_f(int n, const float *x, float *out) {
    cudaMemset(out, 0, sizeof(float));
    sum<<<7, 256>>>(n, x, out);
}
"""
DYNAMIC = """
extern __shared__ float tree[];
__global__ void sum(int n, const float *x, float *out) {
    unsigned t = threadIdx.x;
    tree[t] = t < n ? x[t] : 0.0f;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) tree[t] += tree[t + s];
        __syncthreads();
    }
    if (t == 0) *out = tree[0];
}
extern "C" void launch_f(int n, const float *x, float *out) { sum<<<1, 1024, 1024 * sizeof(float)>>>(n, x, out); }
"""
HISTOGRAM = """
template <int BINS> __global__ void histogram(const int *values, int n, int *bins) {
    __shared__ int local[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[values[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
extern "C" void launch_f(int n, const int *values, int *bins) {
    constexpr int bin_count = 64;
    cudaMemset(bins, 0, bin_count * sizeof(int));
    histogram<bin_count><<<5, 128>>>(values, n, bins);
}
"""
VECTOR_COPY = """
__global__ void copy(const float4 *x, float4 *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = x[i];
        y[i] = make_float4(v.x, v.y, v.z, v.w);
    }
}
extern "C" void launch_f(int n, const float *x, float *y) {
    copy<<<(n / 4 + 127) / 128, 128>>>(reinterpret_cast<const float4 *>(x), (float4 *)y, n / 4);
}
"""
CONSTANT = """
__constant__ float weights[5];
__device__ int calls = 3;
namespace blur {
__device__ inline int clamp(int i, int n) { return min(max(i, 0), n - 1); }
__global__ void run(int n, const float *__restrict__ x, float *__restrict__ y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = -2; k <= 2; k++) sum += weights[k + 2] * x[clamp(i + k, n)];
    y[i] = sum + (calls - 3);
}
}
extern "C" void launch_f(int n, const float *x, float *y) {
    const float w[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
    cudaMemcpyToSymbol(weights, w, sizeof(w));
    blur::run<<<(n + 63) / 64, 64>>>(n, x, y);
}
"""
CONVERGE = """
#include <vector>
__global__ void relax(int n, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
    else if (i < n) to[i] = from[i];
}
__global__ void difference(int n, const float *a, const float *b, int *changed) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && fabsf(a[i] - b[i]) > 5e-2f) *changed = 1;
}
extern "C" void launch_f(int n, float *x) {
    float *other;
    int *changed;
    cudaMalloc(&other, n * sizeof(float));
    cudaMalloc((void **)&changed, sizeof(int));
    std::vector<float *> buffers = {x, other};
    int at = 0;
    for (int more = 1; more; at = 1 - at) {
        cudaMemset(changed, 0, sizeof(int));
        relax<<<(n + 127) / 128, 128>>>(n, buffers[at], buffers[1 - at]);
        difference<<<(n + 127) / 128, 128>>>(n, x, other, changed);
        cudaMemcpy(&more, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
    if (at) cudaMemcpy(x, other, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(other);
    cudaFree(changed);
}
"""
LAST_BLOCK = """
__device__ unsigned int finished = 0;
__global__ void sum(int n, const float *x, float *partial, float *out) {
    __shared__ float s[128];
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float total = 0.0f;
        for (int b = 0; b < gridDim.x; b++) total += partial[b];
        *out = total;
    }
}
extern "C" void launch_f(int n, const float *x, float *partial, float *out) {
    sum<<<(n + 127) / 128, 128>>>(n, x, partial, out);
}
"""
CAS_MAX = """
__device__ void atomic_max(float *address, float value) {
    int *word = (int *)address, old = *word, assumed;
    do {
        assumed = old;
        old = atomicCAS(word, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (old != assumed);
}
__global__ void maximum(int n, const float *x, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_max(out, x[i]);
}
extern "C" void launch_f(int n, const float *x, float *out) {
    cudaMemset(out, 0, 4);
    maximum<<<(n + 255) / 256, 256>>>(n, x, out);
}
"""
WARP = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void scan(int n, const float *x, float *y) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    for (int d = 1; d < 32; d *= 2) {
        float up = warp.shfl_up(v, d);
        if (warp.thread_rank() >= d) v += up;
    }
    block.sync();
    if (i < n) y[i] = v;
}
extern "C" void launch_f(int n, const float *x, float *y) { scan<<<(n + 95) / 96, 96>>>(n, x, y); }
"""
TRANSPOSE = """
template <typename T, int TILE> __global__ void __launch_bounds__(TILE *8) transpose(const T *in, T *out, int n) {
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8)
        if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" void launch_f(int n, const float *a, float *c) {
    dim3 grid((n + 31) / 32, (n + 31) / 32), block(32, 8);
    transpose<float, 32><<<grid, block>>>(a, c, n);
}
"""
BIG_SHARED = """
__global__ void reverse(int n, const float *x, float *y) {
    extern __shared__ __align__(16) unsigned char raw[];
    float *s = reinterpret_cast<float *>(raw);
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = s[n - 1 - i];
}
extern "C" void launch_f(int n, const float *x, float *y) {
    int bytes = 20000 * sizeof(float);
    cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    reverse<<<1, 512, bytes>>>(n, x, y);
}
"""
STRUCT = """
struct Pixel { unsigned char r, g, b; };
struct Gain {
    float scale;
    int offset;
    __device__ unsigned char operator()(unsigned char v) const { return v * scale + offset; }
};
__global__ void apply(int n, unsigned char *image, Gain gain) {
    Pixel *pixels = reinterpret_cast<Pixel *>(image);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Pixel p = pixels[i];
        pixels[i] = Pixel{gain(p.r), gain(p.g), gain(p.b)};
    }
}
extern "C" void launch_f(int n, unsigned char *image) { apply<<<3, 64>>>(n, image, Gain{0.5f, 1}); }
"""
IMAGE = RNG.integers(0, 255, 3000).astype(np.uint8)


def relaxed(x):
    x = x.copy()
    while True:
        y = x.copy()
        y[1:-1] = np.float32(0.5) * (x[:-2] + x[2:])
        if not (np.abs(x - y) > np.float32(5e-2)).any():
            return y
        x = y


def warp_scan(x):
    padded = np.zeros(-(-len(x) // 32) * 32, np.float32)
    padded[: len(x)] = x
    return padded.reshape(-1, 32).cumsum(1).reshape(-1)[: len(x)]


def blurred(x):
    i = np.arange(len(x))
    weights = np.float32([0.1, 0.2, 0.4, 0.2, 0.1])
    return sum(w * x[np.clip(i + k - 2, 0, len(x) - 1)] for k, w in enumerate(weights))


OUT = np.full(1, np.nan, np.float32)
KERNELS = {
    "matmul": (
        MATMUL, "int n, const float *a, const float *b, float *c", {"n": 48, "a": A, "b": B, "c": 0 * A}, "c", A @ B,
    ),
    "reduce": (REDUCE, "int n, const float *x, float *out", {"n": 5000, "x": X, "out": OUT}, "out", [X.sum()]),
    "dynamic": (
        DYNAMIC, "int n, const float *x, float *out", {"n": 1000, "x": X, "out": OUT}, "out", [X[:1000].sum()],
    ),
    "histogram": (
        HISTOGRAM, "int n, const int *values, int *bins", {"n": 5000, "values": INTS, "bins": np.zeros(64, np.int32)},
        "bins", np.bincount(INTS, minlength=64),
    ),
    "vector copy": (VECTOR_COPY, "int n, const float *x, float *y", {"n": 5000, "x": X, "y": 0 * X}, "y", X),
    "constant": (CONSTANT, "int n, const float *x, float *y", {"n": 5000, "x": X, "y": 0 * X}, "y", blurred(X)),
    "converge": (CONVERGE, "int n, float *x", {"n": 60, "x": X[:60]}, "x", relaxed(X[:60])),
    "last block": (
        LAST_BLOCK, "int n, const float *x, float *partial, float *out",
        {"n": 5000, "x": X, "partial": np.zeros(40, np.float32), "out": OUT}, "out", [X.sum()],
    ),
    "compare and swap": (
        CAS_MAX, "int n, const float *x, float *out", {"n": 5000, "x": X, "out": OUT}, "out", [X.max()],
    ),
    "warp scan": (WARP, "int n, const float *x, float *y", {"n": 5000, "x": X, "y": 0 * X}, "y", warp_scan(X)),
    "transpose": (TRANSPOSE, "int n, const float *a, float *c", {"n": 48, "a": A, "c": 0 * A}, "c", A.T),
    "big shared": (BIG_SHARED, "int n, const float *x, float *y", {"n": 5000, "x": X, "y": 0 * X}, "y", X[::-1]),
    "struct": (
        STRUCT, "int n, unsigned char *image", {"n": 1000, "image": IMAGE}, "image",
        (IMAGE * np.float32(0.5) + 1).astype(np.uint8),
    ),
}  # fmt: skip


@pytest.mark.parametrize("order", ["forward", "reverse", "shuffled"])
@pytest.mark.parametrize("name", KERNELS)
def test_honest_kernel_passes_every_checker(name, order):
    text, parameters, values, output, expected = KERNELS[name]
    result = execute(
        parameters,
        text,
        values,
        Checks(bounds=True, races=True, uninitialized=True, trace_blocks=8, order=order),
    )
    assert result.failure is None and result.findings == () and result.damaged == ()
    np.testing.assert_allclose(result.arrays[output], expected, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_honest_kernel_runs_unchecked(name):
    text, parameters, values, output, expected = KERNELS[name]
    result = execute(parameters, text, values, Checks())
    assert result.failure is None and result.findings == () and result.damaged == ()
    np.testing.assert_allclose(result.arrays[output], expected, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "kernels"),
    [
        ("template <typename T, int N> __global__ void k(T *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = N; }\n"
         'extern "C" void launch_f(int n, float *x) { k<float, 7><<<1, n>>>(x, n); }', ["k<float, 7>"]),
        ("template <typename T> __global__ void k(T *x, T v, int n) { if (threadIdx.x < n) x[threadIdx.x] = v; }\n"
         'extern "C" void launch_f(int n, float *x) { k<<<1, n>>>(x, 7.0f, n); }', ["k<float>"]),
        ("namespace a { template <int N> __global__ void k(float *x) { x[threadIdx.x] = N; } }\n"
         "template <int N> void go(int n, float *x) { a::k<N + 3><<<1, n>>>(x); }\n"
         'extern "C" void launch_f(int n, float *x) { go<4>(n, x); }', ["a::k<7>"]),
        ("__global__ void k(float *x) { x[threadIdx.x] = 3; }\n"
         "__global__ void k(float *x, int v) { x[threadIdx.x] += v; }\n"
         'extern "C" void launch_f(int n, float *x) { k<<<1, n>>>(x); k<<<1, n>>>(x, 4); }',
         ["k(float*)", "k(float*, int)"]),
        ("static __global__ void k(float *x, float) { x[threadIdx.x] = 7; }\n"
         "#define GO(name, threads, ...) name<<<1, threads>>>(__VA_ARGS__)\n"
         'extern "C" void launch_f(int n, float *x) { GO(k, n, x, 1.0f); }', ["k"]),
        ("namespace { __global__ void scale(float *x, float scale) { x[threadIdx.x] = scale; } }\n"
         'extern "C" void launch_f(int n, float *x) { auto f = [&](float v) { scale<<<1, n>>>(x, v); }; f(7); }',
         ["scale"]),
        ("struct V { char c; double d; };\n"
         "__global__ void k(char c, V v, float *x) { x[threadIdx.x] = c + (float)v.d; }\n"
         'extern "C" void launch_f(int n, float *x) { char c = 3; V v{1, 4}; void *a[] = {&c, &v, &x};\n'
         "cudaLaunchKernel((void *)k, 1, n, a, 0, 0); }", ["k"]),
        ("template <typename F, typename... P> __global__ void k(F f, P... p) { f(p...); }\n"
         "struct Set { __host__ __device__ void operator()(float *x, int v) const { x[threadIdx.x] = v; } };\n"
         'extern "C" void launch_f(int n, float *x) { k<<<1, n>>>(Set{}, x, 7); }', ["k<Set, float*, int>"]),
        ("template <int N> __global__ void k(float *x) { x[threadIdx.x] = N; }\n"
         'extern "C" void launch_f(int n, float *x) { void (*f)(float *) = n > 1 ? k<7> : k<8>; f<<<1, n>>>(x); }',
         ["k<7>", "k<8>"]),
    ],
)  # fmt: skip
def test_launches_are_resolved_as_cpp_does(text, kernels):
    result = execute("int n, float *x", text, {"n": 64, "x": np.zeros(64, np.float32)}, Checks())
    assert result.failure is None and (result.arrays["x"] == 7).all(), result.findings
    assert sorted(built("int n, float *x", text, False).result.kernels) == kernels
