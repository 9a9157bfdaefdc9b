"""Whole programs on the CPU device: what the runtime's API does for them."""

import numpy as np
import pytest
from cudaperf_agent.tools.device import Checks
from programs import KERNELS, printed, run


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


TEXTURE = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void fetch(cudaTextureObject_t t, const float *at, float *out) {
    out[threadIdx.x] = tex2D<float>(t, at[2 * threadIdx.x], at[2 * threadIdx.x + 1]);
}
int main() {
    const int w = 7, h = 5, n = 64;
    static float image[w * h], at[2 * n], out[n], *x, *y;
    FILE *file = fopen("in", "rb");
    fread(image, 4, w * h, file), fread(at, 4, 2 * n, file);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray *array;
    cudaMallocArray(&array, &format, w, h);
    cudaMemcpy2DToArray(array, 0, 0, image, w * 4, w * 4, h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.addressMode[0] = description.addressMode[1] = MODE;
    description.filterMode = FILTER;
    description.normalizedCoords = 1;
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &resource, &description, nullptr);
    cudaMalloc(&x, sizeof at), cudaMalloc(&y, sizeof out);
    cudaMemcpy(x, at, sizeof at, cudaMemcpyHostToDevice);
    fetch<<<1, n>>>(t, x, y);
    cudaMemcpy(out, y, sizeof out, cudaMemcpyDeviceToHost);
    file = fopen("out", "wb");
    fwrite(out, 4, n, file), fclose(file);
}
"""
PADDING = {"Wrap": "wrap", "Clamp": "edge", "Mirror": "symmetric", "Border": "constant"}


@pytest.mark.parametrize("mode", PADDING)
@pytest.mark.parametrize("linear", [False, True])
def test_textures_are_addressed_and_filtered_as_the_programming_guide_says(tmp_path, mode, linear):
    draw = np.random.default_rng(3)
    image = draw.random((5, 7), np.float32)
    at = draw.uniform(-0.9, 1.9, (64, 2)).astype(np.float32)
    with (tmp_path / "in").open("wb") as file:
        image.tofile(file)
        at.tofile(file)
    text = TEXTURE.replace("MODE", f"cudaAddressMode{mode}")
    printed(tmp_path, text.replace("FILTER", f"cudaFilterMode{'Linear' if linear else 'Point'}"))
    around = np.pad(image, 16, PADDING[mode])
    x, y = at[:, 0] * np.float32(7), at[:, 1] * np.float32(5)
    if linear:
        x, y = x - np.float32(0.5), y - np.float32(0.5)
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    a, b = (np.rint((v - np.floor(v)) * 256) / 256 if linear else 0 * v for v in (x, y))

    def texel(i, j):
        return around[j + 16, i + 16]

    expected = (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j)
    expected += (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1)
    np.testing.assert_allclose(np.fromfile(tmp_path / "out", np.float32), expected, rtol=1e-5, atol=1e-6)


def test_a_copy_into_an_array_counts_texels_and_a_surface_counts_bytes(tmp_path):
    text = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void shift(cudaSurfaceObject_t s, int layers) {
    for (int z = 0; z < layers; z++) {
        float2 v = surf3Dread<float2>(s, threadIdx.x * sizeof(float2), 1, z);
        surf3Dwrite(make_float2(v.y, v.x), s, threadIdx.x * sizeof(float2), 1, z);
    }
}
int main() {
    std::vector<float2> data(4 * 3 * 2), back(data.size());
    for (size_t i = 0; i < data.size(); i++) data[i] = make_float2(i, i + 0.5f);
    cudaExtent extent = make_cudaExtent(4, 3, 2);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    cudaArray_t array;
    cudaMalloc3DArray(&array, &format, extent, cudaArraySurfaceLoadStore);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(data.data(), 4 * sizeof(float2), 4, 3);
    p.dstArray = array, p.extent = extent, p.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&p);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &resource);
    shift<<<1, 4>>>(s, 2);
    cudaMemcpy3DParms q = {};
    q.srcArray = array, q.dstPtr = make_cudaPitchedPtr(back.data(), 4 * sizeof(float2), 4, 3);
    q.extent = extent, q.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&q);
    printf("%g %g %g", back[3].x, back[4].x, back[19].y);
}
"""
    assert printed(tmp_path, text).split() == ["3", "4.5", "19"]


def test_conversions_round_as_named_and_saturate(tmp_path):
    text = """#include <cstdio>
#include <cmath>
__global__ void k(float big, float nan, int odd) {
    printf("%d %d %d ", __float2int_rz(big), __float2int_rn(nan), __float2int_rn(2.5f));
    printf("%u %u %lld ", __float2uint_rz(-5.0f), __double2uint_ru(0.1), __double2ll_rd(-0.5));
    printf("%.0f %.0f %.0f ", __int2float_rd(odd), __int2float_ru(odd), __int2float_rz(-odd));
    printf("%d %g", __double2hiint(1.0), __hiloint2double(0x40000000, 0));
}
int main() {
    k<<<1, 1>>>(3e9f, NAN, 16777217);
    cudaDeviceSynchronize();
}
"""
    expected = "2147483647 0 2 0 1 -1 16777216 16777218 -16777216 1072693248 2"
    assert printed(tmp_path, text) == expected


def test_groups_of_lanes_count_exchange_and_reduce(tmp_path):
    text = """#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *sums, int *counts) {
    int lane = threadIdx.x;
    if (lane % 4 == 3) return;
    cg::coalesced_group active = cg::coalesced_threads();
    auto group = cg::labeled_partition(active, lane % 4);
    int sum = cg::reduce(group, lane, cg::plus<int>());
    if (group.thread_rank() == 0) sums[lane % 4] = sum, counts[lane % 4] = group.size();
    auto side = cg::binary_partition(active, lane < 8);
    if (side.shfl(lane, side.size() - 1) != (lane < 8 ? 6 : 30)) sums[3] = 1;
}
int main() {
    int sums[4] = {}, counts[4] = {}, *x, *y;
    cudaMalloc(&x, sizeof sums), cudaMalloc(&y, sizeof counts);
    cudaMemset(x, 0, sizeof sums), cudaMemset(y, 0, sizeof counts);
    k<<<1, 32>>>(x, y);
    cudaMemcpy(sums, x, sizeof sums, cudaMemcpyDeviceToHost);
    cudaMemcpy(counts, y, sizeof counts, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 4; i++) printf("%d %d ", sums[i], counts[i]);
}
"""
    assert printed(tmp_path, text).split() == ["112", "8", "120", "8", "128", "8", "0", "0"]


def test_memory_of_a_graph_outlives_its_being_freed_in_it(tmp_path):
    text = (
        KERNELS
        + """
int main() {
    float host[4] = {1, 2, 3, 4}, *x;
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&x, sizeof host, s);
    cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, s);
    scale<<<1, 32, 0, s>>>(4, x, 2);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(x, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&executable, graph);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, s);
    cudaStreamSynchronize(s);
    printf("%g", host[0]);
}
"""
    )
    assert printed(tmp_path, text, Checks(bounds=True, uninitialized=True)) == "8"


def test_a_launch_by_configuration_and_one_with_what_the_device_has_not(tmp_path):
    text = (
        KERNELS
        + """
int main() {
    float host[4] = {1, 2, 3, 4}, *x;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    cudaLaunchConfig_t config = {1, 32, 0, nullptr, &attribute, 1};
    printf("%d ", cudaLaunchKernelEx(&config, scale, 4, x, 2));
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    printf("%d ", cudaLaunchKernelEx(&config, scale, 4, x, 2.0f) == cudaErrorNotSupported);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%g", host[3]);
}
"""
    )
    assert printed(tmp_path, text) == "0 1 8"


def test_kernels_are_picked_by_template_parameters_without_a_name(tmp_path):
    text = """#include <cstdio>
#include <type_traits>
template <typename T, typename std::enable_if<std::is_same<T, int>::value, int>::type = 0>
__global__ void set(T *x) { *x = 1; }
template <typename T, typename std::enable_if<!std::is_same<T, int>::value, int>::type = 0>
__global__ void set(T *x) { *x = 2.5; }
template <typename, int = 3> __global__ void add(float *x) { *x += 1; }
int main() {
    int *i;
    float *f;
    cudaMallocManaged(&i, 4);
    cudaMallocManaged(&f, 4);
    set<<<1, 1>>>(i);
    set<<<1, 1>>>(f);
    add<int><<<1, 1>>>(f);
    cudaDeviceSynchronize();
    printf("%d %g", *i, *f);
}
"""
    assert printed(tmp_path, text) == "1 3.5"


def test_functions_for_both_sides_may_use_what_only_the_device_has(tmp_path):
    text = """#include <cstdio>
__device__ float twice(float x) { return 2 * x; }
struct Scale {
    float factor;
    __host__ __device__ Scale() : factor(twice(1.5f)) {}
    __host__ __device__ float operator()(float x) const { return factor * x; }
};
__global__ void scale(float *x) { *x = Scale()(*x); }
int main() {
    float *x;
    cudaMallocManaged(&x, 4);
    *x = 2;
    scale<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    printf("%g", *x);
}
"""
    assert printed(tmp_path, text) == "6"
    assert run(tmp_path, text.replace("*x = 2;", "*x = Scale()(1);")).failure == "compile"


def test_a_kernel_may_share_its_name_with_functions_of_the_host(tmp_path):
    text = """#include <cstdio>
#include <vector>
__global__ void twice(int n, int *x) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
int twice(const std::vector<int> &v) {
    int *x;
    cudaMallocManaged(&x, v.size() * sizeof *x);
    for (size_t i = 0; i < v.size(); i++) x[i] = v[i];
    twice<<<1, 32>>>(v.size(), x);
    cudaDeviceSynchronize();
    return x[v.size() - 1];
}
int main() { printf("%d", twice({1, 2, 3})); }
"""
    assert printed(tmp_path, text) == "6"
