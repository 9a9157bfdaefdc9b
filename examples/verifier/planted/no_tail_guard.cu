// No guard for the tail.
// task: ../../c/saxpy.c
// expect: out-of-bounds
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y); }
