// A warp waits in a shuffle for lanes that stand at a barrier.
// expect: barrier-divergence
#include <cstdio>
__global__ void k(float *x) {
    float v = x[threadIdx.x];
    if (threadIdx.x % 32 < 16) v = __shfl_xor_sync(0xffffffff, v, 1);  // <--
    __syncthreads();  // <--
    x[threadIdx.x] = v;
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
