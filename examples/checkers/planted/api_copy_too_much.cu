// More is copied than was allocated.
// expect: api-error
#include <cstdio>
int main() {
    static float h[64], *d;
    cudaMalloc(&d, 60 * sizeof(float));
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cudaFree(d);
}
