// A loop over tiles lacks the barrier before it fills the next one.
// expect: race
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        s[t] = x[t] + tile;  // <--
        __syncthreads();
        sum += s[63 - t];  // <--
    }
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
