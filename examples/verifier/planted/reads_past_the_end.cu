// Reads one element too many, writes none.
// task: ../../c/saxpy.c
// expect: out-of-bounds
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + 0.0f * (x[i + 1] > 3.0e38f);
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y);
}
