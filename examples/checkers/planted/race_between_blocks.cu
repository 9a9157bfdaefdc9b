// Blocks add to one element without atomics.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    if (threadIdx.x == 0) x[0] += blockIdx.x;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<4, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
