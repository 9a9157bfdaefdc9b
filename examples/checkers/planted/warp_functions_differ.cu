// Lanes of a warp meet in different functions.
// expect: barrier-divergence
#include <cstdio>
__global__ void k(int *x) {
    int v;
    if (threadIdx.x % 2)
        v = __any_sync(0xffffffff, x[threadIdx.x]);  // <--
    else
        v = __all_sync(0xffffffff, x[threadIdx.x]);  // <--
    x[threadIdx.x] = v;
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
