// Rows and columns change places.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    int row = threadIdx.y, column = threadIdx.x;
    x[column * 16 + row] = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, dim3(16, 4)>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
