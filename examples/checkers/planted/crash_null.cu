// A null pointer.
// expect: crash
#include <cstdio>
__global__ void k(float *x, float *nothing) {
    nothing[threadIdx.x] = x[threadIdx.x];  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d, nullptr);
    cudaDeviceSynchronize();
    cudaFree(d);
}
