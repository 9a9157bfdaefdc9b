// The last warp of a tree goes on with __syncwarp alone.
#include <cstdio>
__device__ int total;
__global__ void sum() {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        s[t] = v;
        __syncwarp();
        for (int half = 16; half > 0; half /= 2) {
            if (t < half) v += s[t + half];
            __syncwarp();
            if (t < half) s[t] = v;
            __syncwarp();
        }
        if (t == 0) total = v;
    }
}
int main() {
    sum<<<1, 128>>>();
    int h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%d\n", h);
    return h != 127 * 128 / 2;
}
