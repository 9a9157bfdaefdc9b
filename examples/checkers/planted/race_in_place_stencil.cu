// A stencil in place reads what neighbours write.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    int i = threadIdx.x + 1;
    if (i < 63) x[i] = (x[i - 1] + i + x[i + 1]) / 2;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
