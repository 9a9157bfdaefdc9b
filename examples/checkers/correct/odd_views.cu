// Bytes read back as the shorts and ints that they make up.
#include <cstdio>
__device__ int out[16];
__global__ void views() {
    __shared__ __align__(4) unsigned char s[64];
    int t = threadIdx.x;
    s[t] = (unsigned char)t;
    __syncthreads();
    if (t < 16) {
        unsigned int word = reinterpret_cast<unsigned int *>(s)[t];
        unsigned short low = reinterpret_cast<unsigned short *>(s)[2 * t];
        out[t] = (word & 0xffff) == low && word >> 24 == 4 * t + 3;
    }
}
int main() {
    views<<<1, 64>>>();
    int h[16];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 16; t++)
        if (!h[t]) return printf("wrong at %d\n", t), 1;
    puts("right");
}
