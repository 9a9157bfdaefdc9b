// Data, fence, flag on one side; flag, fence, data on the other: whoever sees the flag may read.
#include <cstdio>
__device__ int data[64], flag, seen;
__global__ void pass() {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicExch(&flag, 1);
        }
    } else if (threadIdx.x == 0 && atomicAdd(&flag, 0) == 1) {
        __threadfence();
        int sum = 0;
        for (int i = 0; i < 64; i++) sum += data[i];
        seen = sum == 2016 ? 1 : 2;
    }
}
int main() {
    pass<<<2, 64>>>();
    int h;
    cudaMemcpyFromSymbol(&h, seen, sizeof h);
    printf("%d\n", h != 2);
    return h == 2;
}
