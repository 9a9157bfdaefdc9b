// A decoy kernel on one element beside an empty loop.
// task: ../../c/saxpy.c
// expect: unwritten-output
__global__ void saxpy(float a, const float *x, float *y) { y[0] = a * x[0] + y[0]; }
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) { saxpy<<<1, 1>>>(a, x, y); }
