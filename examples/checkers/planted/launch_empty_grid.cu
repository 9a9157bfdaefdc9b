// A grid of no blocks, from a division that rounds down.
// expect: launch-error
#include <cstdio>
__global__ void k(float *x) { x[threadIdx.x] = 1; }
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<64 / 100, 100>>>(d);  // <--
    cudaDeviceSynchronize();
    cudaFree(d);
}
