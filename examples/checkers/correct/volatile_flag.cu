// A flag polled through a volatile pointer, behind a fence: strong accesses do not race with each other.
#include <cstdio>
__device__ int next, data[8];
__device__ volatile int ready[8];
__global__ void chain() {
    if (threadIdx.x != 0) return;
    int me = atomicAdd(&next, 1), before = 0;
    if (me > 0) {
        while (!ready[me - 1]) {}
        __threadfence();
        before = data[me - 1];
    }
    data[me] = before + 2;
    __threadfence();
    ready[me] = 1;
}
int main() {
    chain<<<8, 32>>>();
    int h[8];
    cudaMemcpyFromSymbol(h, data, sizeof h);
    printf("%d\n", h[7]);
    return h[7] != 16;
}
