// Two arrays carved from dynamic shared memory overlap.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    extern __shared__ float s[];
    float *a = s, *b = s + 32;
    int t = threadIdx.x;
    a[t] = x[t] + t;  // <--
    b[t] = x[t] - t;  // <--
    __syncthreads();
    x[t] = a[t] + b[t];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64, 96 * sizeof(float)>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
