// A bin beyond the last is counted.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(int *x) {
    atomicAdd(&x[threadIdx.x + 8], 1);  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
