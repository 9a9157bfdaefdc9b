// The host reads device memory.
// expect: host-access
#include <cstdio>
int main() {
    float *d;
    cudaMalloc(&d, 64);
    cudaMemset(d, 0, 64);
    printf("%g\n", d[0]);  // <--
    cudaFree(d);
}
