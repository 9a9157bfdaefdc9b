// Two halves of a block meet at different barriers.
// task: ../../c/dot.c
// expect: barrier-divergence
__global__ void dot(int n, const float *x, const float *y, double *result) {
    __shared__ double part[64];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 64) sum += (double)x[i] * y[i];
    part[threadIdx.x] = sum;
    if (threadIdx.x < 32) {
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int t = 1; t < 64; t++) sum += part[t];
            *result = sum;
        }
    } else {
        __syncthreads();
    }
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 64>>>(n, x, y, result); }
