// Butterfly shuffles, memset for the start.
// task: ../../c/dot.c
// expect: right
__global__ void dot(int n, const float *x, const float *y, double *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = i < n ? (double)x[i] * y[i] : 0.0;
    for (int mask = 1; mask < 32; mask *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) {
    cudaMemset(result, 0, sizeof(double));
    if (n > 0) dot<<<(n + 63) / 64, 64>>>(n, x, y, result);
}
