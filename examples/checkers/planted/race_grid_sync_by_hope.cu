// Blocks read what others wrote, as if a barrier of the block were one of the grid.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    int i = blockIdx.x * 16 + threadIdx.x;
    x[i] = i;  // <--
    __syncthreads();
    float v = x[63 - i];  // <--
    __syncthreads();
    x[i] = v + 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<4, 16>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
