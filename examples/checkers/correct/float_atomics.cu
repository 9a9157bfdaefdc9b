// Shared float atomics of exact values.
#include <cstdio>
__device__ float total;
__global__ void sum() {
    __shared__ float s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, 0.5f);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&total, s);
}
int main() {
    sum<<<4, 50>>>();
    float h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%g\n", h);
    return h != 100;
}
