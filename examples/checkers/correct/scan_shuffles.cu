// A scan by shuffles within warps, the warps' totals through shared memory.
#include <cstdio>
__device__ int out[256];
__global__ void scan() {
    __shared__ int totals[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, v = t % 5;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; w++) v += totals[w];
    out[t] = v;
}
int main() {
    scan<<<1, 256>>>();
    int h[256], sum = 0;
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 256; t++)
        if (h[t] != (sum += t % 5)) return printf("wrong at %d\n", t), 1;
    puts("right");
}
