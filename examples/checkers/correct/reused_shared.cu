// The same shared memory for two phases of different types, a barrier between.
#include <cstdio>
__device__ int out[64];
__global__ void phases() {
    __shared__ union {
        int whole[64];
        short half[128];
    } s;
    int t = threadIdx.x;
    s.whole[t] = t;
    __syncthreads();
    int v = s.whole[63 - t];
    __syncthreads();
    s.half[2 * t] = (short)v, s.half[2 * t + 1] = (short)(v + 1);
    __syncthreads();
    out[t] = s.half[t] + s.half[127 - t];
}
int main() {
    phases<<<1, 64>>>();
    int h[64];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    auto half = [](int i) { return 63 - i / 2 + i % 2; };
    for (int t = 0; t < 64; t++)
        if (h[t] != half(t) + half(127 - t)) return printf("wrong at %d\n", t), 1;
    puts("right");
}
