// Half of a buffer was never copied.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x] * 2;  // <--
}
int main() {
    float h[64] = {}, *x, *y;
    cudaMalloc(&x, sizeof h), cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h / 2, cudaMemcpyHostToDevice);
    k<<<1, 64>>>(x, y);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
