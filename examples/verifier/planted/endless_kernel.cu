// The loop's variable stands still.
// task: ../../c/saxpy.c
// expect: timeout
__global__ void saxpy(int n, float a, const float *x, float *y) {
    volatile int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<1, 32>>>(n, a, x, y); }
