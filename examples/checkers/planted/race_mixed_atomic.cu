// Some update atomically, others with a plain store.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    if (threadIdx.x % 2)
        atomicAdd(&x[0], 1);  // <--
    else
        x[0] = 5 + threadIdx.x;  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
