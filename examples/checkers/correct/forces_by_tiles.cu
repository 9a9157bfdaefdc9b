// Every body meets every other, a tile at a time; the last tile is not full.
#include <cstdio>
constexpr int n = 150, tile = 64;
__device__ float x[n], force[n];
__global__ void fill() {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = i % 13;
}
__global__ void forces() {
    __shared__ float s[tile];
    int i = blockIdx.x * tile + threadIdx.x;
    float mine = i < n ? x[i] : 0, sum = 0;
    for (int first = 0; first < n; first += tile) {
        int j = first + threadIdx.x;
        if (j < n) s[threadIdx.x] = x[j];
        __syncthreads();
        for (int k = 0; k < min(tile, n - first); k++) sum += s[k] - mine;
        __syncthreads();
    }
    if (i < n) force[i] = sum;
}
int main() {
    fill<<<1, 64>>>();
    forces<<<3, tile>>>();
    float h[n];
    cudaMemcpyFromSymbol(h, force, sizeof h);
    float total = 0;
    for (int i = 0; i < n; i++) total += i % 13;
    for (int i = 0; i < n; i++)
        if (h[i] != total - n * (i % 13)) return printf("wrong at %d\n", i), 1;
    puts("right");
}
