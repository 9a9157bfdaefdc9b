// An assertion fails.
// expect: trap
#include <cstdio>
#include <cassert>
__global__ void k(float *x) {
    assert(threadIdx.x < 60);  // <--
    x[threadIdx.x] = 1;
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
