// A transposition through a padded tile, with ragged edges.
#include <cstdio>
constexpr int rows = 50, columns = 70;
__device__ int in[rows * columns], out[rows * columns];
__global__ void fill() {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) in[i] = i;
}
__global__ void transpose() {
    __shared__ int tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (x < columns && y + j < rows) tile[j][threadIdx.x] = in[(y + j) * columns + x];
    __syncthreads();
    int to = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += 8)
        if (to < rows && blockIdx.x * 32 + j < columns) out[(blockIdx.x * 32 + j) * rows + to] = tile[threadIdx.x][j];
}
int main() {
    fill<<<14, 256>>>();
    transpose<<<dim3(3, 2), dim3(32, 8)>>>();
    static int h[rows * columns];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            if (h[j * rows + i] != i * columns + j) return printf("wrong at %d,%d\n", i, j), 1;
    puts("right");
}
