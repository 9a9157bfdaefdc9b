// A thread waits for a flag that nobody sets.
// expect: timeout
#include <cstdio>
__global__ void k(int *x) {
    while (atomicAdd(&x[0], 0) == 0) {}
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
