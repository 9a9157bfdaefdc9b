// Reads one element too many, writes none.
// task: ../../c/saxpy.c
// expect: out-of-bounds
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i + 1] == 12345.678f ? 0.0f : a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y);
}
