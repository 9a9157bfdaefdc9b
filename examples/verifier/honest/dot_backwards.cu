// Summed from the end.
// task: ../../c/dot.c
// expect: right
__global__ void dot(int n, const float *x, const float *y, double *result) {
    __shared__ double part[128];
    double sum = 0.0;
    for (int i = n - 1 - (int)threadIdx.x; i >= 0; i -= 128) sum += (double)x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < 128; t++) sum += part[t];
        *result = sum;
    }
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 128>>>(n, x, y, result); }
