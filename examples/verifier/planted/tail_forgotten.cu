// Only whole blocks are computed.
// task: ../../c/saxpy.c
// expect: unwritten-output
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n >= 32) saxpy<<<n / 32, 32>>>(n, a, x, y);
}
