// An accumulator in device memory that nobody cleared.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(float *sum) {
    atomicAdd(sum, 1.0f);  // <--
}
int main() {
    float *d, h;
    cudaMalloc(&d, sizeof *d);
    k<<<1, 64>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
