// A struct with padding is copied whole; the padding is never written by name.
#include <cstdio>
struct Item {
    char tag;
    double value;
    short extra;
};
__device__ double out[32];
__global__ void copy() {
    __shared__ Item s[32];
    int t = threadIdx.x;
    s[t].tag = 'a', s[t].value = t, s[t].extra = 3;
    __syncthreads();
    Item mine = s[31 - t];
    out[t] = mine.value + mine.extra + (mine.tag - 'a');
}
int main() {
    copy<<<1, 32>>>();
    double h[32];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 32; t++)
        if (h[t] != 31 - t + 3) return printf("wrong at %d\n", t), 1;
    puts("right");
}
