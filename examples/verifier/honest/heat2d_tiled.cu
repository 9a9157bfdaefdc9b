// A shared-memory tile with its halo.
// task: ../../c/heat2d.c
// expect: right
#define TILE 16
__global__ void copy(int n, const float *from, float *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
__global__ void step(int h, int w, float alpha, const float *now, float *next) {
    __shared__ float tile[TILE + 2][TILE + 2];
    int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    for (int k = threadIdx.y * TILE + threadIdx.x; k < (TILE + 2) * (TILE + 2); k += TILE * TILE) {
        int i = top + k / (TILE + 2) - 1, j = left + k % (TILE + 2) - 1;
        tile[k / (TILE + 2)][k % (TILE + 2)] = i >= 0 && i < h && j >= 0 && j < w ? now[i * w + j] : 0.0f;
    }
    __syncthreads();
    int i = top + threadIdx.y, j = left + threadIdx.x;
    if (i < 1 || i >= h - 1 || j < 1 || j >= w - 1) return;
    float(*t)[TILE + 2] = tile + threadIdx.y;
    int c = threadIdx.x + 1;
    float around = t[0][c] + t[2][c] + t[1][c - 1] + t[1][c + 1];
    next[i * w + j] = t[1][c] + alpha * (around - 4.0f * t[1][c]);
}
extern "C" void launch_heat2d(int h, int w, int steps, float alpha, float *u, float *v) {
    if (h <= 0 || w <= 0) return;
    copy<<<(h * w + 255) / 256, 256>>>(h * w, u, v);
    dim3 block(TILE, TILE), grid((w + TILE - 1) / TILE, (h + TILE - 1) / TILE);
    float *now = u, *next = v;
    for (int t = 0; t < steps; t++) {
        step<<<grid, block>>>(h, w, alpha, now, next);
        float *swap = now;
        now = next;
        next = swap;
    }
    if (now != u) copy<<<(h * w + 255) / 256, 256>>>(h * w, now, u);
}
