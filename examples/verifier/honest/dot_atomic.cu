// Atomics on one double, in no fixed order.
// task: ../../c/dot.c
// expect: right
__global__ void clear(double *result) { *result = 0.0; }
__global__ void dot(int n, const float *x, const float *y, double *result) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += (double)x[i] * y[i];
    atomicAdd(result, sum);
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) {
    clear<<<1, 1>>>(result);
    dot<<<8, 128>>>(n, x, y, result);
}
