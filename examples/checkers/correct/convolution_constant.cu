// Weights in constant memory, the border of the image left out.
#include <cstdio>
constexpr int h = 40, w = 50;
__constant__ int weights[3][3];
__device__ int in[h][w], out[h][w];
__global__ void fill() { in[blockIdx.x][threadIdx.x] = (blockIdx.x * w + threadIdx.x) % 9; }
__global__ void convolve() {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int sum = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) sum += weights[i + 1][j + 1] * in[y + i][x + j];
    out[y][x] = sum;
}
int main() {
    int k[3][3] = {{1, 2, 1}, {0, 0, 0}, {-1, -2, -1}};
    cudaMemcpyToSymbol(weights, k, sizeof k);
    fill<<<h, w>>>();
    convolve<<<dim3(4, 5), dim3(16, 8)>>>();
    static int r[h][w];
    cudaMemcpyFromSymbol(r, out, sizeof r);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0;
            for (int i = -1; i <= 1; i++)
                for (int j = -1; j <= 1; j++) sum += k[i + 1][j + 1] * (((y + i) * w + x + j) % 9);
            if (r[y][x] != (x < 1 || y < 1 || x >= w - 1 || y >= h - 1 ? 0 : sum)) return puts("wrong"), 1;
        }
    puts("right");
}
