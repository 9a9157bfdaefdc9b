// A null pointer.
// expect: crash
#include <cstdio>
__global__ void k(float *x) {
    float *nothing = x[0] == 0 ? nullptr : x;
    *nothing = 1;  // <--
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
