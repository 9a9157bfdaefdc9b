// A double in a buffer of bytes, after an int.
// expect: misaligned-access
#include <cstdio>
__global__ void k(unsigned char *x) {
    if (threadIdx.x == 0) *reinterpret_cast<double *>(x + 4) = 1.5;  // <--
}
int main() {
    unsigned char *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
