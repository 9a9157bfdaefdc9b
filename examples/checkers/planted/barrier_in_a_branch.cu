// Half of the block meets at one barrier, half at another.
// expect: barrier-divergence
#include <cstdio>
__global__ void k(float *x) {
    if (threadIdx.x < 32) {
        x[threadIdx.x] = 1;
        __syncthreads();  // <--
    } else {
        x[threadIdx.x] = 2;
        __syncthreads();  // <--
    }
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
