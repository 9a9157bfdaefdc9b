// A lane calls a shuffle with a mask that leaves it out.
// expect: barrier-divergence
#include <cstdio>
__global__ void k(float *x) {
    x[threadIdx.x] = __shfl_down_sync(0x0000ffff, x[threadIdx.x], 1);  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
