// The launcher returns at once.
// task: ../../c/saxpy.c
// expect: no-kernel
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n < 0) saxpy<<<1, 256>>>(n, a, x, y);
}
