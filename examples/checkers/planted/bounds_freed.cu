// The memory has been freed before the launch.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    x[threadIdx.x] = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaFree(d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
}
