// A maximum by compare and store.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    int v = threadIdx.x * 7 % 64;
    if (v > x[0]) x[0] = v;  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
