// A lock that is given back by a plain store.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&x[0], 0, 1) != 0) {}
        x[1] = x[1] + 1;  // <--
        x[0] = 0;  // <--
    }
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<4, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
