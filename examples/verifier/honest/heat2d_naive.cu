// One thread a point, pointers swapped on the host.
// task: ../../c/heat2d.c
// expect: right
__global__ void copy(int n, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
__global__ void step(int h, int w, float alpha, const float *now, float *next) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || i >= h - 1 || j < 1 || j >= w - 1) return;
    float around = now[(i - 1) * w + j] + now[(i + 1) * w + j] + now[i * w + j - 1] + now[i * w + j + 1];
    next[i * w + j] = now[i * w + j] + alpha * (around - 4.0f * now[i * w + j]);
}
extern "C" void launch_heat2d(int h, int w, int steps, float alpha, float *u, float *v) {
    if (h <= 0 || w <= 0) return;
    int n = h * w;
    copy<<<(n + 255) / 256, 256>>>(n, u, v);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    float *now = u, *next = v;
    for (int t = 0; t < steps; t++) {
        step<<<grid, block>>>(h, w, alpha, now, next);
        float *swap = now;
        now = next;
        next = swap;
    }
    if (now != u) copy<<<(n + 255) / 256, 256>>>(n, now, u);
}
