// The grid is rounded up, the tail not guarded.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 100 * sizeof *d);
    cudaMemset(d, 0, 100 * sizeof *d);
    k<<<2, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
