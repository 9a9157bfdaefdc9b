"""Writes one CUDA program that times ports of common loops beside what a GPU's own libraries do.

    python benchmarks/primitives.py primitives.cu
    nvcc -O3 -arch=native primitives.cu -lcublas -o primitives && ./primitives

For each port and each strategy, as it is delivered (scratch memory from a pool, which keeps it here): milliseconds
(median of 20, by CUDA events), and its share of a device-to-device copy's
bandwidth, of CUB's speed (sum, scan, maximum), or of cuBLAS SGEMM.
"""

from __future__ import annotations

import sys
from pathlib import Path

from cudaperf_agent.policies.builtin.candidate import assemble
from cudaperf_agent.policies.builtin.plan import plan
from cudaperf_agent.policies.builtin.strategies import STRATEGIES, written_with
from cudaperf_agent.tools.c.load import load
from cudaperf_agent.tools.c.parse import parse
from cudaperf_agent.tools.dropin import on_stream

LENGTH, SIDE = 1 << 27, 4096
PORTS = {
    "copy": (
        "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] = x[i]; }",
        "8.0 * n",
        "",
    ),
    "saxpy": (
        "void f(int n, const float *x, float *y) { for (int i = 0; i < n; i++) y[i] += 2.5f * x[i]; }",
        "12.0 * n",
        "",
    ),
    "sum": (
        "float f(int n, const float *x) { float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }",
        "4.0 * n",
        "cub::DeviceReduce::Sum(room, bytes, x, result, n)",
    ),
    "maximum": (
        """float f(int n, const float *x) { float m = x[0];
        for (int i = 1; i < n; i++) if (x[i] > m) m = x[i]; return m; }""",
        "4.0 * n",
        "cub::DeviceReduce::Max(room, bytes, x, result, n)",
    ),
    "scan": (
        """void f(int n, const float *x, float *y) { float s = 0;
        for (int i = 0; i < n; i++) { s += x[i]; y[i] = s; } }""",
        "8.0 * n",
        "cub::DeviceScan::InclusiveSum(room, bytes, x, y, n)",
    ),
    "stencil": (
        """void f(int h, int w, const float *x, float *y) {
        for (int i = 1; i < h - 1; i++) for (int j = 1; j < w - 1; j++) y[i * w + j]
        = 0.25f * (x[(i - 1) * w + j] + x[(i + 1) * w + j] + x[i * w + j - 1] + x[i * w + j + 1]); }""",
        "8.0 * h * w",
        "",
    ),
    "rows": (
        """void f(int h, int w, const float *x, float *y) { for (int i = 0; i < h; i++) { float s = 0;
        for (int j = 0; j < w; j++) s += x[i * w + j]; y[i] = s; } }""",
        "4.0 * h * w",
        "",
    ),
    "transposition": (
        """void f(int h, int w, const float *x, float *y) { for (int i = 0; i < h; i++) for (int j = 0; j < w; j++)
        y[j * h + i] = x[i * w + j]; }""",
        "8.0 * h * w",
        "",
    ),
    "product": (
        """void f(int m, const float *x, const float *z, float *y) {
        for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) { float s = 0;
        for (int k = 0; k < m; k++) s += x[i * m + k] * z[k * m + j]; y[i * m + j] = s; } }""",
        "",
        "cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, z, m, x, m, &zero, y, m)",
    ),
}
HEAD = """\
#include <algorithm>
#include <cstdio>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <vector>

template <typename F>
static double median_of(F run)
{
    cudaEvent_t before, after;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    std::vector<float> times;
    for (int i = 0; i < 23; i++) {
        float milliseconds;
        cudaEventRecord(before);
        run();
        cudaEventRecord(after);
        cudaEventSynchronize(after);
        cudaEventElapsedTime(&milliseconds, before, after);
        if (i >= 3)
            times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}
"""
MAIN = f"""\
int main()
{{
    const int n = {LENGTH}, h = 8192, w = {LENGTH} / 8192, m = {SIDE};
    float *x, *y, *z, *result, one = 1, zero = 0;
    void *room = nullptr;
    size_t bytes = 1 << 28;
    cublasHandle_t blas;
    cublasCreate(&blas);
    cudaMemPool_t pool;
    uint64_t kept = UINT64_MAX;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept);
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    cudaMalloc(&z, n * sizeof(float));
    cudaMalloc(&result, 64);
    cudaMalloc(&room, bytes);
    cudaMemset(x, 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
    cudaMemset(z, 0, n * sizeof(float));
    const double copy = median_of([&] {{ cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice); }});
    const double bandwidth = 8.0 * n / copy / 1e6;
    printf("copy by the driver %.3f ms, %.0f GB/s\\n", copy, bandwidth);
"""


def main() -> None:
    parts, calls = [HEAD], [MAIN]
    for name, (source, moved, library) in PORTS.items():
        path = Path(sys.argv[1]).with_suffix(f".{name}.c")
        path.write_text(source)
        spec, unit = load(path, "f").function, parse(str(path), source, ())
        path.unlink()
        made = plan(unit, spec)
        arguments = ", ".join(p.name for p in spec.parameters)
        if library:
            calls.append(f"    const double {name}_library = median_of([&] {{ {library}; }});")
            calls.append(f'    printf("{name} by the library %.3f ms\\n", {name}_library);')
        for strategy in STRATEGIES:
            if not any(strategy.applies(nest) for nest in made.nests.values()):
                continue
            space = f"{name}_{strategy.name}"
            text = on_stream(assemble(spec, made, written_with(strategy)), "0").replace('extern "C" ', "")
            parts.append(f"namespace {space} {{\n{text}\n}}\n")
            share = f"{name}_library / t" if library else f"({moved}) / t / 1e6 / bandwidth"
            word = "the library's speed" if library else "the copy's bandwidth"
            calls.append(
                f"    {{ const double t = median_of([&] {{ {space}::{spec.launcher}({arguments}); }});"
            )
            calls.append(
                f'      printf("{name} {strategy.name} %.3f ms, %.0f %% of {word}\\n", t, 100 * {share}); }}'
            )
    calls.append('    printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));\n}')
    Path(sys.argv[1]).write_text("\n".join([*parts, *calls]))


if __name__ == "__main__":
    main()
