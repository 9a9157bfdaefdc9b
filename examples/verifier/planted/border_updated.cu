// The border is updated like the inside.
// task: ../../c/heat2d.c
// expect: wrong-result
__global__ void step(int h, int w, float alpha, const float *now, float *next) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= h || j >= w) return;
    int up = max(i - 1, 0) * w + j, down = min(i + 1, h - 1) * w + j, left = i * w + max(j - 1, 0), right = i * w + min(j + 1, w - 1);
    float around = now[up] + now[down] + now[left] + now[right];
    next[i * w + j] = now[i * w + j] + alpha * (around - 4.0f * now[i * w + j]);
}
extern "C" void launch_heat2d(int h, int w, int steps, float alpha, float *u, float *v) {
    if (h <= 0 || w <= 0) return;
    cudaMemcpy(v, u, sizeof(float) * h * w, cudaMemcpyDeviceToDevice);
    float *now = u, *next = v;
    for (int t = 0; t < steps; t++) {
        step<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(h, w, alpha, now, next);
        float *swap = now;
        now = next;
        next = swap;
    }
    if (now != u) cudaMemcpy(u, now, sizeof(float) * h * w, cudaMemcpyDeviceToDevice);
}
