// The size is given in elements where bytes are wanted.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    x[threadIdx.x] = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
