// Right for one size only.
// task: ../../c/saxpy.c
// expect: wrong-result
__global__ void saxpy(float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n >= 64) saxpy<<<1, 64>>>(a, x, y);
}
