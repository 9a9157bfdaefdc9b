// Atomics of block scope on what other blocks update as well.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    atomicAdd_block(&x[0], 1);  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<4, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
