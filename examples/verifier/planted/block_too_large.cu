// A block of 2048 threads.
// task: ../../c/saxpy.c
// expect: launch-error
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<(n + 2047) / 2048, 2048>>>(n, a, x, y); }
