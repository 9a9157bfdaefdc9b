// Several threads write different values to one place.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    int t = threadIdx.x;
    x[t * t % 16] = t;  // <--
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
