// __trap() in one thread.
// expect: trap
#include <cstdio>
__global__ void k(float *x) {
    if (threadIdx.x == 7) __trap();  // <--
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
