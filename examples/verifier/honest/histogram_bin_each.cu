// A block a bin, no atomics on the result.
// task: ../../c/histogram.c
// expect: right
__global__ void count(int n, const unsigned char *data, int *counts) {
    __shared__ int part[64];
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += 64) mine += data[i] == blockIdx.x;
    part[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < 64; t++) mine += part[t];
        counts[blockIdx.x] = mine;
    }
}
extern "C" void launch_histogram(int n, const unsigned char *data, int *counts) { count<<<256, 64>>>(n, data, counts); }
