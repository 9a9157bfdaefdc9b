// An explicit fused multiply-add.
// task: ../../c/saxpy.c
// expect: right
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaf(a, x[i], y[i]);
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 63) / 64, 64>>>(n, a, x, y);
}
