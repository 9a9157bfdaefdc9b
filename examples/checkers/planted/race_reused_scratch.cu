// Scratch memory is used again before all have read it.
// expect: race
#include <cstdio>
__device__ float sum(float *s, float v) {
    int t = threadIdx.x;
    s[t] = v;  // <--
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    __syncthreads();
    return s[0];  // <--
}
__global__ void k(float *x) {
    __shared__ float s[64];
    float first = sum(s, x[threadIdx.x]);
    x[threadIdx.x] = sum(s, x[threadIdx.x] - first);
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
