// Lanes exchange through shared memory with __syncwarp between write and read, and before the next write.
#include <cstdio>
__device__ int out[96];
__global__ void reverse() {
    __shared__ int s[96];
    int t = threadIdx.x, base = t / 32 * 32, v = t;
    for (int i = 0; i < 3; i++) {
        s[t] = v + i;
        __syncwarp();
        v = s[base + 31 - t % 32];
        __syncwarp();
    }
    out[t] = v;
}
int main() {
    reverse<<<1, 96>>>();
    int h[96];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 96; t++)
        if (h[t] != t / 32 * 32 + 31 - t % 32 + 3) return printf("wrong at %d\n", t), 1;
    puts("right");
}
