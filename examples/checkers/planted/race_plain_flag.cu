// A flag between blocks, read and written as ordinary memory.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        x[0] = 42;  // <--
        x[1] = 1;  // <--
    } else if (x[1] == 1)  // <--
        x[2] = x[0];
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<2, 32>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
