// A tile with a halo that two threads of each block fetch besides their own point.
#include <cstdio>
constexpr int n = 1000;
__device__ int in[n], out[n];
__global__ void fill() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = i * i % 31;
}
__global__ void smooth() {
    __shared__ int s[130];
    int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + 1;
    s[t] = i < n ? in[i] : 0;
    if (t == 1) s[0] = i > 0 ? in[i - 1] : 0;
    if (t == 128) s[129] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = s[t - 1] + 2 * s[t] + s[t + 1];
}
int main() {
    fill<<<8, 128>>>();
    smooth<<<8, 128>>>();
    int h[n];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    auto at = [](int i) { return i < 0 || i >= n ? 0 : i * i % 31; };
    for (int i = 0; i < n; i++)
        if (h[i] != at(i - 1) + 2 * at(i) + at(i + 1)) return printf("wrong at %d\n", i), 1;
    puts("right");
}
