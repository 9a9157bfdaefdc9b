// Smoothing in place in shared memory.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t] + t;
    __syncthreads();
    if (t > 0 && t < 63) s[t] = (s[t - 1] + s[t + 1]) / 2;  // <--
    __syncthreads();
    x[t] = s[t];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
