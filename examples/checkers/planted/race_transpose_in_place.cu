// Each element moves to its mirror place without care for the other.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    int i = threadIdx.x / 8, j = threadIdx.x % 8;
    x[j * 8 + i] = x[i * 8 + j] + threadIdx.x;  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
