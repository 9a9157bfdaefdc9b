// A word is rewritten while neighbours own its bytes.
// expect: race
#include <cstdio>
__global__ void k(int *x) {
    __shared__ int s[16];
    int t = threadIdx.x;
    unsigned char *bytes = (unsigned char *)s;
    bytes[t] = t;  // <--
    if (t % 4 == 0) s[t / 4] = s[t / 4] | 0x100;  // <--
    __syncthreads();
    if (t < 16) x[t] = s[t];
}
int main() {
    int *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
