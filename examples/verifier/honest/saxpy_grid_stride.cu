// A grid-stride loop over a fixed grid.
// task: ../../c/saxpy.c
// expect: right
__global__ void saxpy(int n, float a, const float *__restrict__ x, float *__restrict__ y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<40, 128>>>(n, a, x, y); }
