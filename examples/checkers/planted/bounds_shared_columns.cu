// The second index runs beyond its row.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[8][8];
    int t = threadIdx.x, columns = x[0] == 0 ? 9 : 8;
    s[t / 8][t % 8] = x[t];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < columns; j++) sum += s[t / 8][j];  // <--
    x[t] = sum;
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
