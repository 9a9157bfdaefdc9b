// Right up to one size only.
// task: ../../c/saxpy.c
// expect: unwritten-output
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<1, 64>>>(n, a, x, y); }
