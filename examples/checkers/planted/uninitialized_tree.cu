// A tree reduction of 64 places with 48 threads.
// expect: uninitialized-read
#include <cstdio>
__global__ void k(float *x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];  // <--
    }
    if (t == 0) x[0] = s[0];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 48>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
