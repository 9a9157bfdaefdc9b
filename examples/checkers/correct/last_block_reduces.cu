// The last block to finish adds up what the others have published: a fence, then an atomic ticket.
#include <cstdio>
__device__ int partial[16], total;
__device__ unsigned int finished;
__global__ void sum() {
    __shared__ bool last;
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, (int)(blockIdx.x * blockDim.x + threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicAdd(&finished, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += partial[b];
        total = sum;
    }
}
int main() {
    sum<<<16, 64>>>();
    int h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%d\n", h);
    return h != 1023 * 1024 / 2;
}
