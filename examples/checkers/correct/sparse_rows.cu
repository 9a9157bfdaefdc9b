// A sparse matrix times a vector, a warp a row.
#include <cstdio>
constexpr int n = 20;
__device__ int starts[n + 1], columns[n * n], values[n * n], out[n];
__global__ void multiply() {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
    if (row >= n) return;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * (columns[i] + 1);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) out[row] = sum;
}
int main() {
    static int s[n + 1], c[n * n], v[n * n], want[n], h[n];
    int used = 0;
    for (int r = 0; r < n; r++) {
        s[r] = used;
        for (int j = r % 3; j < n; j += r + 1) c[used] = j, v[used] = r + j, want[r] += (r + j) * (j + 1), used++;
    }
    s[n] = used;
    cudaMemcpyToSymbol(starts, s, sizeof s);
    cudaMemcpyToSymbol(columns, c, sizeof c);
    cudaMemcpyToSymbol(values, v, sizeof v);
    multiply<<<7, 96>>>();
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int r = 0; r < n; r++)
        if (h[r] != want[r]) return printf("wrong at %d\n", r), 1;
    puts("right");
}
