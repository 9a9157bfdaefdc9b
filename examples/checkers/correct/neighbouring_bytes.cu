// Threads write single bytes of one word: no byte is shared.
#include <cstdio>
__device__ unsigned char out[256];
__global__ void bytes() {
    __shared__ unsigned char s[256];
    int t = threadIdx.x;
    s[t] = (unsigned char)(t ^ 0x5a);
    __syncthreads();
    out[t] = s[t ^ 1];
}
int main() {
    bytes<<<1, 256>>>();
    unsigned char h[256];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 256; t++)
        if (h[t] != (t ^ 1 ^ 0x5a)) return printf("wrong at %d\n", t), 1;
    puts("right");
}
