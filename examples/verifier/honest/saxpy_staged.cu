// Through shared memory, for no good reason.
// task: ../../c/saxpy.c
// expect: right
__global__ void saxpy(int n, float a, const float *x, float *y) {
    __shared__ float tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] += a * tile[threadIdx.x];
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    if (n > 0) saxpy<<<(n + 127) / 128, 128>>>(n, a, x, y);
}
