// Count, scan and scatter: three launches.
#include <cstdio>
constexpr int n = 1000, threads = 128, blocks = 8;
__device__ int counts[blocks], starts[blocks], out[n];
__device__ bool keeps(int i) { return i < n && i % 7 == 3; }
__global__ void count() {
    int i = blockIdx.x * threads + threadIdx.x, total = __syncthreads_count(keeps(i));
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
__global__ void scan() {
    int sum = 0;
    for (int b = 0; b < threadIdx.x; b++) sum += counts[b];
    starts[threadIdx.x] = sum;
}
__global__ void scatter() {
    __shared__ int s[threads];
    int t = threadIdx.x, i = blockIdx.x * threads + t;
    s[t] = keeps(i);
    __syncthreads();
    int before = 0;
    for (int u = 0; u < t; u++) before += s[u];
    if (keeps(i)) out[starts[blockIdx.x] + before] = i;
}
int main() {
    count<<<blocks, threads>>>();
    scan<<<1, blocks>>>();
    scatter<<<blocks, threads>>>();
    int h[n];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 0; i < 143; i++)
        if (h[i] != 7 * i + 3) return printf("wrong at %d\n", i), 1;
    puts("right");
}
