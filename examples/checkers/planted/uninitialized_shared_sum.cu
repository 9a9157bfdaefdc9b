// A shared sum that starts from nothing.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(int *x) {
    __shared__ int sum;
    atomicAdd(&sum, x[threadIdx.x]);  // <--
    __syncthreads();
    if (threadIdx.x == 0) x[0] = sum;
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
