// A template of the items a thread.
// task: ../../c/saxpy.c
// expect: right
template <int ITEMS> __global__ void saxpy(int n, float a, const float *x, float *y) {
    int first = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
    for (int k = 0; k < ITEMS; k++) {
        int i = first + k * blockDim.x;
        if (i < n) y[i] = a * x[i] + y[i];
    }
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<8><<<(n + 1023) / 1024, 128>>>(n, a, x, y);
}
