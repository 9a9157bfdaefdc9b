// Recursion without end.
// expect: stack-overflow
#include <cstdio>
__device__ int deep(volatile int *v, int n) {
    int a[64];
    a[n % 64] = *v;  // <--
    return n < 0 ? 0 : deep(v, n + 1) + a[(n + 1) % 64];  // <--
}
__global__ void k(int *x) { x[threadIdx.x] = deep(x, 0); }
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
