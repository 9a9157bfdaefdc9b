// Two halves in two launches.
// task: ../../c/saxpy.c
// expect: right
__global__ void saxpy(int first, int last, float a, const float *x, float *y) {
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < last) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    int half = n / 2;
    if (half > 0) saxpy<<<(half + 31) / 32, 32>>>(0, half, a, x, y);
    if (n > half) saxpy<<<(n - half + 31) / 32, 32>>>(half, n, a, x, y);
}
