// The counter is cleared without a barrier before the first count.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    __shared__ int count;
    if (threadIdx.x == 40) count = 0;  // <--
    atomicAdd(&count, 1);  // <--
    __syncthreads();
    if (threadIdx.x == 0) x[0] = count;
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
