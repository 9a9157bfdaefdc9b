// One atomic a warp: the active lanes elect a leader and share its result.
#include <cstdio>
__device__ int next, out[128];
__global__ void append() {
    int t = threadIdx.x;
    if (t % 2 == 0) {
        unsigned int mask = __activemask();
        int leader = __ffs(mask) - 1, lane = t % 32, base = 0;
        if (lane == leader) base = atomicAdd(&next, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & ((1u << lane) - 1))] = t;
    }
}
int main() {
    append<<<1, 128>>>();
    int h[128], n, sum = 0;
    cudaMemcpyFromSymbol(h, out, sizeof h);
    cudaMemcpyFromSymbol(&n, next, sizeof n);
    for (int i = 0; i < n; i++) sum += h[i];
    printf("%d %d\n", n, sum);
    return n != 64 || sum != 64 * 63;
}
