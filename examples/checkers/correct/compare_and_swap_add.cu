// A double added by compare and swap: the loop starts with a plain read.
#include <cstdio>
__device__ double total;
__device__ void add(double *address, double value) {
    unsigned long long *word = (unsigned long long *)address, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (seen != old);
}
__global__ void sum() { add(&total, blockIdx.x * blockDim.x + threadIdx.x); }
int main() {
    sum<<<4, 64>>>();
    double h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%g\n", h);
    return h != 255 * 256 / 2;
}
