// The guard lets the first element beyond pass.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = i;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 100 * sizeof *d);
    cudaMemset(d, 0, 100 * sizeof *d);
    k<<<2, 64>>>(d, 100);
    cudaDeviceSynchronize();
    cudaFree(d);
}
