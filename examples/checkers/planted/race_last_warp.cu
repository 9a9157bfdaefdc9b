// The last warp of a reduction trusts lockstep.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];  // <--
        if (t < 16) s[t] += s[t + 16];  // <--
    }
    if (t == 0) x[0] = s[0];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
