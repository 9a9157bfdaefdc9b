// Blelloch's scan: up and down a tree, half of the threads idle at each level.
#include <cstdio>
__device__ int out[256];
__global__ void scan() {
    __shared__ int s[256];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = 2 * t, s[2 * t + 1] = 2 * t + 1;
    for (int d = 128; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t], out[2 * t + 1] = s[2 * t + 1];
}
int main() {
    scan<<<1, 128>>>();
    int h[256];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 0; i < 256; i++)
        if (h[i] != i * (i - 1) / 2) return printf("wrong at %d\n", i), 1;
    puts("right");
}
