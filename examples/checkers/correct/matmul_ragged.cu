// A tiled product whose sizes are no multiples of the tile: the tiles are filled up with zeros.
#include <cstdio>
constexpr int n = 45, tile = 16;
__device__ int a[n * n], b[n * n], c[n * n];
__global__ void fill() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * n) a[i] = i % 7, b[i] = i % 5 - 2;
}
__global__ void multiply() {
    __shared__ int s[tile][tile], t[tile][tile];
    int row = blockIdx.y * tile + threadIdx.y, column = blockIdx.x * tile + threadIdx.x, sum = 0;
    for (int k = 0; k < n; k += tile) {
        s[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
        t[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < tile; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
int main() {
    fill<<<8, 256>>>();
    multiply<<<dim3(3, 3), dim3(tile, tile)>>>();
    static int h[n * n];
    cudaMemcpyFromSymbol(h, c, sizeof h);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++) sum += (i * n + k) % 7 * ((k * n + j) % 5 - 2);
            if (h[i * n + j] != sum) return printf("wrong at %d,%d\n", i, j), 1;
        }
    puts("right");
}
