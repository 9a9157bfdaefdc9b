// What was never written is copied on the device, then read.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(const int *x, int *y) {
    if (x[threadIdx.x] > 3) y[0] = 1;  // <--
}
int main() {
    int *x, *y;
    cudaMalloc(&x, 256), cudaMalloc(&y, 256);
    cudaMemcpy(y, x, 256, cudaMemcpyDeviceToDevice);
    k<<<1, 64>>>(y, x);
    cudaDeviceSynchronize();
    cudaFree(x), cudaFree(y);
}
