// The number of rounds depends on the thread, and a second barrier follows.
// expect: barrier-divergence
#include <cstdio>
__global__ void k(float *x) {
    for (int i = 0; i < threadIdx.x % 3; i++) __syncthreads();  // <--
    x[threadIdx.x] = 1;
    __syncthreads();  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
