// Nodes are pushed onto a list by atomic exchange of its head.
#include <cstdio>
__device__ int head = -1, next[64];
__global__ void push() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = atomicExch(&head, i);
}
int main() {
    push<<<2, 32>>>();
    int h, n[64], count = 0;
    cudaMemcpyFromSymbol(&h, head, sizeof h);
    cudaMemcpyFromSymbol(n, next, sizeof n);
    for (; h >= 0 && count < 100; h = n[h]) count++;
    printf("%d\n", count);
    return count != 64;
}
