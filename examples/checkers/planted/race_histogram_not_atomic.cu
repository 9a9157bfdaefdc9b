// Shared bins without atomics.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8) bins[t] = 0;
    __syncthreads();
    bins[t * t % 8] += 1;  // <--
    __syncthreads();
    if (t < 8) x[t] = bins[t];
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
