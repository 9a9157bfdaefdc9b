// The halo belongs to another block, which is at work on it.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[18];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    s[t + 1] = x[i] + i;
    if (t == 0) s[0] = i ? x[i - 1] : 0;  // <--
    if (t == 15) s[17] = i < 63 ? x[i + 1] : 0;  // <--
    __syncthreads();
    x[i] = s[t] + s[t + 2] + 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<4, 16>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
