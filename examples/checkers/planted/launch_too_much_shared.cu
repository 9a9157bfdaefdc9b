// More dynamic shared memory than a kernel gets unasked.
// expect: launch-error
#include <cstdio>
__global__ void k(float *x) { x[0] = 1; }
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64, 100000>>>(d);  // <--
    cudaDeviceSynchronize();
    cudaFree(d);
}
