// Threads own runs of three bytes: words are shared, bytes are not.
#include <cstdio>
__device__ unsigned char out[3 * 64];
__global__ void colours() {
    unsigned char *mine = out + 3 * threadIdx.x;
    for (int c = 0; c < 3; c++) mine[c] = (unsigned char)(threadIdx.x + c);
    for (int c = 0; c < 3; c++) mine[c] = (unsigned char)(mine[c] * 2);
}
int main() {
    colours<<<1, 64>>>();
    unsigned char h[192];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int i = 0; i < 192; i++)
        if (h[i] != (i / 3 + i % 3) * 2) return printf("wrong at %d\n", i), 1;
    puts("right");
}
