// A device array is one element short.
// expect: out-of-bounds
#include <cstdio>
__device__ int counts[64];
__global__ void k(float *x) {
    counts[threadIdx.x + (x[0] == 0)] = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
