// All threads add to one element.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    x[0] += threadIdx.x;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
