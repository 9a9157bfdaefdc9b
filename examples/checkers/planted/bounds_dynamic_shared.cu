// The launch gives half of the shared memory that is used.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];  // <--
    x[threadIdx.x] = s[threadIdx.x];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64, 32 * sizeof(float)>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
