// Pairs of tiles change places: each block owns both.
#include <cstdio>
constexpr int n = 64;
__device__ int a[n][n];
__global__ void fill() { a[blockIdx.x][threadIdx.x] = blockIdx.x * n + threadIdx.x; }
__global__ void transpose() {
    __shared__ int p[16][17], q[16][17];
    int bx = blockIdx.x, by = blockIdx.y, x = threadIdx.x, y = threadIdx.y;
    if (bx < by) return;
    p[y][x] = a[by * 16 + y][bx * 16 + x];
    q[y][x] = a[bx * 16 + y][by * 16 + x];
    __syncthreads();
    a[bx * 16 + y][by * 16 + x] = p[x][y];
    a[by * 16 + y][bx * 16 + x] = q[x][y];
}
int main() {
    fill<<<n, n>>>();
    transpose<<<dim3(4, 4), dim3(16, 16)>>>();
    static int h[n][n];
    cudaMemcpyFromSymbol(h, a, sizeof h);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (h[i][j] != j * n + i) return printf("wrong at %d,%d\n", i, j), 1;
    puts("right");
}
