// Wild writes far behind the buffer.
// task: ../../c/saxpy.c
// expect: out-of-bounds
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
        y[i + 100000000] = 0.0f;
    }
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y);
}
