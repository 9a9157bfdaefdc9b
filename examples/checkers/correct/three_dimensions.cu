// Warps of a 3D block run along x, then y, then z.
#include <cstdio>
__device__ int out[4 * 3 * 5];
__global__ void lanes() {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned int mask = t < 32 ? 0xffffffffu : 0x0fffffffu;
    out[t] = __shfl_sync(mask, t, 31 < 60 - t / 32 * 32 ? 5 : 27);
}
int main() {
    lanes<<<1, dim3(4, 3, 5)>>>();
    int h[60];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 60; t++)
        if (h[t] != (t < 32 ? 5 : 32 + 27)) return printf("wrong at %d: %d\n", t, h[t]), 1;
    puts("right");
}
