// The neighbours summed in another order, square blocks.
// task: ../../c/heat2d.c
// expect: right
__global__ void copy(int n, const float *from, float *to) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}
__global__ void step(int h, int w, float alpha, const float *now, float *next) {
    int j = 1 + blockIdx.x * blockDim.x + threadIdx.x, i = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= h - 1 || j >= w - 1) return;
    const float *p = now + i * w + j;
    next[i * w + j] = fmaf(alpha, ((p[-1] + p[1]) + (p[-w] + p[w])) - 4.0f * *p, *p);
}
extern "C" void launch_heat2d(int h, int w, int steps, float alpha, float *u, float *v) {
    copy<<<16, 256>>>(h * w, u, v);
    for (int t = 0; t < steps; t++) {
        dim3 block(16, 16), grid((w + 13) / 16, (h + 13) / 16);
        if (h > 2 && w > 2) step<<<grid, block>>>(h, w, alpha, t % 2 ? v : u, t % 2 ? u : v);
    }
    if (steps % 2) copy<<<16, 256>>>(h * w, v, u);
}
