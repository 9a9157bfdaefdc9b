// The first element has no left neighbour.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    int i = threadIdx.x;
    float v = x[i - 1];  // <--
    __syncthreads();
    x[i] = v;
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
