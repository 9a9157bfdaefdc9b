// The index wraps around at 2^31.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    int i = threadIdx.x * 100000000;
    x[i / 100000000] = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
