// The scaled input is stored back.
// task: ../../c/saxpy.c
// expect: input-changed
__global__ void saxpy(int n, float a, float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] *= a;
        y[i] += x[i];
    }
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 255) / 256, 256>>>(n, a, const_cast<float *>(x), y);
}
