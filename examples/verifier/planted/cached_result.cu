// The first result is kept for later calls.
// task: ../../c/dot.c
// expect: wrong-result
static double kept;
static bool known = false;
__global__ void dot(int n, const float *x, const float *y, double *result) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += (double)x[i] * y[i];
    *result = sum;
}
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) {
    dot<<<1, 1>>>(n, x, y, result);
    if (known) cudaMemcpy(result, &kept, sizeof kept, cudaMemcpyHostToDevice);
    cudaMemcpy(&kept, result, sizeof kept, cudaMemcpyDeviceToHost);
    known = true;
}
