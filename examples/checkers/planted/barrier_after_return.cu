// Some threads return before the barrier.
// expect: exit-before-barrier
#include <cstdio>
__global__ void k(float *x) {
    if (threadIdx.x >= 50) return;
    x[threadIdx.x] = 1;
    __syncthreads();  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
