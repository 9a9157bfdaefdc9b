// Memory is freed twice.
// expect: api-error
#include <cstdio>
int main() {
    float *d;
    cudaMalloc(&d, 64);
    cudaFree(d);
    cudaFree(d);
}
