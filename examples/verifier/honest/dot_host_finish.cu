// Partial sums finished on the host after an explicit copy.
// task: ../../c/dot.c
// expect: right
__global__ void partial(int n, const float *x, const float *y, double *sums) {
    double sum = 0.0;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) sum += (double)x[i] * y[i];
    sums[t] = sum;
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) {
    double *sums, mine[256], sum = 0.0;
    cudaMalloc(&sums, sizeof mine);
    partial<<<4, 64>>>(n, x, y, sums);
    cudaMemcpy(mine, sums, sizeof mine, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 256; t++) sum += mine[t];
    cudaMemcpy(result, &sum, sizeof sum, cudaMemcpyHostToDevice);
    cudaFree(sums);
}
