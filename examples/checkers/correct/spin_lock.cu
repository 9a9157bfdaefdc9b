// A lock between blocks: taken by compare and swap, given back by exchange, with fences.
#include <cstdio>
__device__ int lock, counter;
__global__ void count() {
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        counter = counter + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}
int main() {
    count<<<20, 32>>>();
    int h;
    cudaMemcpyFromSymbol(&h, counter, sizeof h);
    printf("%d\n", h);
    return h != 20;
}
