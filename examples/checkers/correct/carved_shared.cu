// One dynamic array carved into three of different types.
#include <cstdio>
__device__ double out[64];
__global__ void mix(int n) {
    extern __shared__ double memory[];
    double *d = memory;
    int *i = (int *)(d + n);
    unsigned char *b = (unsigned char *)(i + n);
    int t = threadIdx.x;
    d[t] = t * 0.5, i[t] = t * 2, b[t] = (unsigned char)(t + 1);
    __syncthreads();
    int u = n - 1 - t;
    out[t] = d[u] + i[u] + b[u];
}
int main() {
    mix<<<1, 64, 64 * (sizeof(double) + sizeof(int) + 1)>>>(64);
    double h[64];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 64; t++)
        if (h[t] != (63 - t) * 3.5 + 1) return printf("wrong at %d\n", t), 1;
    puts("right");
}
