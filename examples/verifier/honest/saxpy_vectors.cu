// Four elements a thread with a tail.
// task: ../../c/saxpy.c
// expect: right
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 p = reinterpret_cast<const float4 *>(x)[i], q = reinterpret_cast<float4 *>(y)[i];
        q.x += a * p.x;
        q.y += a * p.y;
        q.z += a * p.z;
        q.w += a * p.w;
        reinterpret_cast<float4 *>(y)[i] = q;
    } else {
        for (int k = 4 * i; k < n; k++) y[k] = a * x[k] + y[k];
    }
}
extern "C" void launch_saxpy(int n, float a, const float *x, float *y) {
    int threads = (n + 3) / 4;
    if (threads > 0) saxpy<<<(threads + 255) / 256, 256>>>(n, a, x, y);
}
