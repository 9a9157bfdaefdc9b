// A kernel template over a functor, its template arguments deduced.
#include <cstdio>
struct Triple {
    __host__ __device__ int operator()(int v) const { return 3 * v; }
};
struct Plus {
    int by;
    __host__ __device__ int operator()(int v) const { return v + by; }
};
template <typename F, typename T> __global__ void map(F f, T *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f((T)i);
}
int main() {
    int *d, h[100];
    cudaMalloc(&d, sizeof h);
    map<<<2, 64>>>(Triple{}, d, 50);
    map<<<2, 64>>>(Plus{7}, d + 50, 50);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int i = 0; i < 100; i++)
        if (h[i] != (i < 50 ? 3 * i : i - 50 + 7)) return printf("wrong at %d\n", i), 1;
    puts("right");
}
