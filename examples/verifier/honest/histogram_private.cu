// A histogram a block in shared memory.
// task: ../../c/histogram.c
// expect: right
__global__ void count(int n, const unsigned char *data, int *counts) {
    __shared__ int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}
extern "C" void launch_histogram(int n, const unsigned char *data, int *counts) {
    cudaMemset(counts, 0, 256 * sizeof(int));
    count<<<8, 256>>>(n, data, counts);
}
