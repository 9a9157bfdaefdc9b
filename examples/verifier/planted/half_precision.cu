// The sum is kept in single precision.
// task: ../../c/dot.c
// expect: wrong-result
__global__ void dot(int n, const float *x, const float *y, double *result) {
    __shared__ float part[128];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 128) sum += x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < 128; t++) sum += part[t];
        *result = sum;
    }
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 128>>>(n, x, y, result); }
