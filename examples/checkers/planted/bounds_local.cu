// An array of each thread is one element short.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x, int count) {
    float best[4];
    for (int i = 0; i < count; i++) best[i] = i;  // <--
    float sum = 0;
    for (int i = 0; i < 4; i++) sum += best[i];
    x[threadIdx.x] = sum;
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d, 5);
    cudaDeviceSynchronize();
    cudaFree(d);
}
