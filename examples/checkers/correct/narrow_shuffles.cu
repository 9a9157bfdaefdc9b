// Shuffles of width 8: four groups in a warp.
#include <cstdio>
__device__ int out[64];
__global__ void first_of_group() { out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x * 2, 3, 8); }
int main() {
    first_of_group<<<1, 64>>>();
    int h[64];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 64; t++)
        if (h[t] != (t / 8 * 8 + 3) * 2) return printf("wrong at %d\n", t), 1;
    puts("right");
}
