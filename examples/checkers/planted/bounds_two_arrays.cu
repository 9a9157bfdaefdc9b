// An index for the longer of two arrays is used on the shorter one.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(const float *shorter, float *longer) {
    longer[threadIdx.x] = shorter[threadIdx.x] + 1;  // <--
}
int main() {
    float *a, *b;
    cudaMalloc(&a, 60 * sizeof *a), cudaMalloc(&b, 64 * sizeof *b);
    cudaMemset(a, 0, 60 * sizeof *a);
    k<<<1, 64>>>(a, b);
    cudaDeviceSynchronize();
    cudaFree(a), cudaFree(b);
}
