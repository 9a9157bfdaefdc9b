// Pairs change places in shared memory; each pair belongs to one thread.
#include <cstdio>
constexpr int n = 256;
__device__ int out[n];
__global__ void sort() {
    __shared__ int s[n];
    int t = threadIdx.x;
    s[t] = t * 167 % 251;
    for (int size = 2; size <= n; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                int v = s[t];
                s[t] = s[other];
                s[other] = v;
            }
        }
    __syncthreads();
    out[t] = s[t];
}
int main() {
    sort<<<1, n>>>();
    int h[n];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 1; i < n; i++)
        if (h[i - 1] > h[i]) return printf("wrong at %d\n", i), 1;
    puts("right");
}
