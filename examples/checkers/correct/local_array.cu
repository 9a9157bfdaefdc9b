// A small array of each thread, indexed by values that only run time knows.
#include <cstdio>
__device__ int out[64];
__global__ void sort_digits() {
    int digits[8], t = threadIdx.x, x = t * 7919 + 1234567;
    for (int i = 0; i < 8; i++, x /= 10) digits[i] = x % 10;
    for (int i = 1; i < 8; i++) {
        int v = digits[i], j = i;
        for (; j > 0 && digits[j - 1] > v; j--) digits[j] = digits[j - 1];
        digits[j] = v;
    }
    int code = 0;
    for (int i = 0; i < 8; i++) code = code * 10 + digits[i];
    out[t] = code;
}
int main() {
    sort_digits<<<1, 64>>>();
    int h[64];
    cudaMemcpyFromSymbol(h, out, sizeof h);
    for (int t = 0; t < 64; t++) {
        int count[10] = {}, code = 0;
        for (int i = 0, x = t * 7919 + 1234567; i < 8; i++, x /= 10) count[x % 10]++;
        for (int d = 0; d < 10; d++)
            while (count[d]--) code = code * 10 + d;
        if (h[t] != code) return printf("wrong at %d\n", t), 1;
    }
    puts("right");
}
