// Partial sums of the warps are read without a barrier.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float partial[2];
    float v = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;  // <--
    if (threadIdx.x == 0) x[0] = partial[0] + partial[1];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
