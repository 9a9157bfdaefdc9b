// Counts without atomics.
// task: ../../c/histogram.c
// expect: race
__global__ void count(int n, const unsigned char *data, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) counts[data[i]]++;
}
extern "C" void launch_histogram(int n, const unsigned char *data, int *counts) {
    cudaMemset(counts, 0, 256 * sizeof(int));
    if (n > 0) count<<<(n + 255) / 256, 256>>>(n, data, counts);
}
