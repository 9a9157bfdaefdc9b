// A barrier in a branch that a whole block takes or leaves.
#include <cstdio>
__device__ int out[4 * 64];
__global__ void rotate() {
    __shared__ int s[64];
    int t = threadIdx.x, v = t;
    if (blockIdx.x % 2) {
        s[t] = t;
        __syncthreads();
        v = s[(t + 1) % 64];
    }
    out[blockIdx.x * 64 + t] = v;
}
int main() {
    rotate<<<4, 64>>>();
    int h[256];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 0; i < 256; i++)
        if (h[i] != (i / 64 % 2 ? (i + 1) % 64 : i % 64)) return printf("wrong at %d\n", i), 1;
    puts("right");
}
