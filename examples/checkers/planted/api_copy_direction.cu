// The direction of a copy is the wrong one.
// expect: api-error
#include <cstdio>
int main() {
    static float h[64], *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
