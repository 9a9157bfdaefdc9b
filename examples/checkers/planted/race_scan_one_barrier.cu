// A scan in one buffer with one barrier a step.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (t >= d) s[t] += s[t - d];  // <--
    }
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
