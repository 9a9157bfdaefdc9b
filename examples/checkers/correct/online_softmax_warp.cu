// A warp a row, one pass: pairs of maximum and sum are merged by shuffles.
#include <cmath>
#include <cstdio>
constexpr int columns = 77;
__device__ float out[4];
__global__ void normalizers() {
    int lane = threadIdx.x % 32, row = blockIdx.x * 2 + threadIdx.x / 32;
    float m = -1e30f, s = 0;
    for (int j = lane; j < columns; j += 32) {
        float v = (row * columns + j) % 11, before = m;
        m = fmaxf(m, v);
        s = s * expf(before - m) + expf(v - m);
    }
    for (int d = 16; d > 0; d /= 2) {
        float other_m = __shfl_xor_sync(0xffffffff, m, d), other_s = __shfl_xor_sync(0xffffffff, s, d);
        float top = fmaxf(m, other_m);
        s = s * expf(m - top) + other_s * expf(other_m - top);
        m = top;
    }
    if (lane == 0) out[row] = m + logf(s);
}
int main() {
    normalizers<<<2, 64>>>();
    float h[4];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int r = 0; r < 4; r++) {
        double sum = 0;
        for (int j = 0; j < columns; j++) sum += std::exp((r * columns + j) % 11);
        if (std::fabs(h[r] - std::log(sum)) > 1e-4) return printf("wrong at %d\n", r), 1;
    }
    puts("right");
}
