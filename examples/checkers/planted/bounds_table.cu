// A constant table is read beyond its end.
// expect: out-of-bounds
#include <cstdio>
__constant__ float table[8];
__global__ void k(float *x) {
    x[threadIdx.x] = table[threadIdx.x % 10];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
