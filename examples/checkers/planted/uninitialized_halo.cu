// The halo of a tile is read and was never filled.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[66];
    int t = threadIdx.x + 1;
    s[t] = x[t - 1];
    __syncthreads();
    x[t - 1] = s[t - 1] + s[t + 1];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
