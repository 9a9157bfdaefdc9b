// A barrier is missing in the tree.
// task: ../../c/dot.c
// expect: race
__global__ void dot(int n, const float *x, const float *y, double *result) {
    __shared__ double part[256];
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 256) sum += (double)x[i] * y[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2)
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    if (threadIdx.x == 0) *result = part[0];
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 256>>>(n, x, y, result); }
