// Warp shuffles and one block.
// task: ../../c/dot.c
// expect: right
__global__ void dot(int n, const float *x, const float *y, double *result) {
    __shared__ double warps[32];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += (double)x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warps[threadIdx.x];
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (threadIdx.x == 0) *result = sum;
    }
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 1024>>>(n, x, y, result); }
