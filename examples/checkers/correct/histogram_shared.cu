// Atomics in shared memory, then in global memory.
#include <cstdio>
__device__ unsigned int bins[16];
__global__ void histogram(int n) {
    __shared__ unsigned int s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[i * i % 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
int main() {
    histogram<<<3, 96>>>(1000);
    unsigned int h[16], want[16] = {};
    cudaMemcpyFromSymbol(h, bins, sizeof h);
    for (int i = 0; i < 1000; i++) want[i * i % 16]++;
    for (int b = 0; b < 16; b++)
        if (h[b] != want[b]) return printf("wrong at %d\n", b), 1;
    puts("right");
}
