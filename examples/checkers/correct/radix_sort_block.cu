// One block sorts by single bits: a scan of flags for each.
#include <cstdio>
constexpr int n = 64;
__device__ unsigned int out[n];
__global__ void sort() {
    __shared__ unsigned int keys[n];
    __shared__ int ones[n];
    int t = threadIdx.x;
    unsigned int key = (t * 2654435761u) >> 20;
    for (int bit = 0; bit < 12; bit++) {
        int one = key >> bit & 1;
        ones[t] = one;
        __syncthreads();
        int before = 0, total = 0;
        for (int u = 0; u < n; u++) before += u < t ? ones[u] : 0, total += ones[u];
        keys[one ? n - total + before : t - before] = key;
        __syncthreads();
        key = keys[t];
    }
    out[t] = key;
}
int main() {
    sort<<<1, n>>>();
    unsigned int h[n];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 1; i < n; i++)
        if (h[i - 1] > h[i]) return printf("wrong at %d\n", i), 1;
    puts("right");
}
