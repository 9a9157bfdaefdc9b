// Not a number everywhere.
// task: ../../c/dot.c
// expect: wrong-result
__global__ void dot(double *result) { *result = nan(""); }
extern "C" void launch_dot(int n, const float *x, const float *y, double *result) { dot<<<1, 1>>>(result); }
