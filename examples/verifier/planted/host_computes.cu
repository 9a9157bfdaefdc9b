// The host computes on device pointers.
// task: ../../c/saxpy.c
// expect: host-access
__global__ void decoy(float *y) {}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    decoy<<<1, 1>>>(y);
    for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
