// A loop over the grid: few threads, many elements.
#include <cstdio>
__global__ void square(long long *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = (long long)i * i;
}
int main() {
    constexpr int n = 12345;
    static long long h[n];
    long long *d;
    cudaMalloc(&d, sizeof h);
    square<<<3, 100>>>(d, n);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int i = 0; i < n; i++)
        if (h[i] != (long long)i * i) return printf("wrong at %d\n", i), 1;
    puts("right");
}
