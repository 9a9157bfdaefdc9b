// A tree in shared memory, then one block over the partial sums.
// task: ../../c/dot.c
// expect: right
__global__ void partial(int n, const float *x, const float *y, double *sums) {
    __shared__ double part[256];
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += (double)x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void total(int count, const double *sums, double *result) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += sums[i];
    *result = sum;
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) {
    double *sums;
    cudaMalloc(&sums, 32 * sizeof(double));
    partial<<<32, 256>>>(n, x, y, sums);
    total<<<1, 1>>>(32, sums, result);
    cudaFree(sums);
}
