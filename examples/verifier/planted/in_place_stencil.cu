// The stencil updates in place.
// task: ../../c/heat2d.c
// expect: race
__global__ void step(int h, int w, float alpha, float *u) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= h - 1 || j < 1 || j >= w - 1) return;
    float around = u[(i - 1) * w + j] + u[(i + 1) * w + j] + u[i * w + j - 1] + u[i * w + j + 1];
    u[i * w + j] += alpha * (around - 4.0f * u[i * w + j]);
}
extern "C" void launch_heat2d(int h, int w, int steps, float alpha, float *u, float *v) {
    if (h <= 0 || w <= 0) return;
    cudaMemcpy(v, u, sizeof(float) * h * w, cudaMemcpyDeviceToDevice);
    for (int t = 0; t < steps; t++) step<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(h, w, alpha, u);
}
