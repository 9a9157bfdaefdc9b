// Value and place in one word, so that one atomic decides both; the smallest place wins a tie.
#include <cstdio>
__device__ unsigned long long best;
__global__ void search(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&best, (unsigned long long)(i * 37 % 101) << 32 | (0xffffffffu - i));
}
int main() {
    search<<<4, 64>>>(250);
    unsigned long long h;
    cudaMemcpyFromSymbol(&h, best, sizeof h);
    int place = (int)(0xffffffffu - (unsigned int)h), want = 0;
    while (want * 37 % 101 != 100) want++;
    printf("%d\n", place);
    return place != want;
}
