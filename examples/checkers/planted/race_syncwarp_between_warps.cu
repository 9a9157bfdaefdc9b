// __syncwarp where the exchange crosses warps.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];  // <--
    __syncwarp();
    x[t] = s[63 - t];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
