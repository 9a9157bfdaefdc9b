// The second kernel reads what other blocks of the first wrote: the launch orders them.
#include <cstdio>
__global__ void write(int *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = i;
}
__global__ void reverse(const int *a, int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[n - 1 - i];
}
int main() {
    constexpr int n = 500;
    int *a, *b, h[n];
    cudaMalloc(&a, sizeof h), cudaMalloc(&b, sizeof h);
    write<<<2, 256>>>(a, n);
    reverse<<<4, 128>>>(a, b, n);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(a), cudaFree(b);
    for (int i = 0; i < n; i++)
        if (h[i] != n - 1 - i) return printf("wrong at %d\n", i), 1;
    puts("right");
}
