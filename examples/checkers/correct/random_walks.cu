// A generator of its own in each thread.
#include <cstdio>
__device__ unsigned int inside;
__global__ void darts(int each) {
    unsigned int state = blockIdx.x * blockDim.x + threadIdx.x + 1, hits = 0;
    for (int i = 0; i < each; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned int x = state >> 16;
        state = state * 1664525u + 1013904223u;
        unsigned int y = state >> 16;
        hits += (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32;
    }
    atomicAdd(&inside, hits);
}
int main() {
    darts<<<2, 64>>>(100);
    unsigned int h;
    cudaMemcpyFromSymbol(&h, inside, sizeof h);
    printf("%d\n", h > 9500 && h < 10600);
    return !(h > 9500 && h < 10600);
}
