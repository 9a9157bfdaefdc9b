// Atomics in global memory.
// task: ../../c/histogram.c
// expect: right
__global__ void clear(int *counts) { counts[threadIdx.x] = 0; }
__global__ void count(int n, const unsigned char *data, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counts[data[i]], 1);
}
extern "C" void launch_histogram(int n, const unsigned char *data, int *counts) {
    clear<<<1, 256>>>(counts);
    if (n > 0) count<<<(n + 255) / 256, 256>>>(n, data, counts);
}
