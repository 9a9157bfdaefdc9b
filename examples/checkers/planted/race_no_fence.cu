// The last block sums what was never published by a fence.
// expect: race
#include <cstdio>
__device__ unsigned int finished;
__global__ void k(float *x) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        x[1 + blockIdx.x] = blockIdx.x;  // <--
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0)
        for (int b = 0; b < gridDim.x; b++) x[0] += x[1 + b];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<8, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
