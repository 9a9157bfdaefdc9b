// Kernels whose memory requests, bank conflicts and operations are known, to hold measured counts against a profiler.
// Each is launched once, on grids small enough to trace every block.
#include <cstdio>
#include <cstdlib>

constexpr int n = 1 << 14, side = 128;

__global__ void copy_stride_1(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
__global__ void copy_stride_2(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[2 * i] = x[2 * i];
}
__global__ void copy_stride_8(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[8 * i] = x[8 * i];
}
__global__ void copy_misaligned(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i + 1];
}
__global__ void copy_float4(const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
__global__ void copy_double(const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
__global__ void copy_bytes(const unsigned char *x, unsigned char *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i];
}
__global__ void broadcast(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[blockIdx.x];
}
__global__ void reversed(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[n - 1 - i];
}
__global__ void gather(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[(unsigned)i * 7919u % n];
}
__global__ void scatter(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[(unsigned)i * 7919u % n] = x[i];
}
struct Point {
    float x, y, z;
};
__global__ void field_of_struct(const Point *p, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = p[i].y;
}
__global__ void guarded_tail(const float *x, float *y, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = 2.0f * x[i] + y[i];
}
__global__ void transpose_direct(const float *x, float *y) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    y[j * side + i] = x[i * side + j];
}
template <int padding> __global__ void transpose_tiled(const float *x, float *y) {
    __shared__ float tile[32][32 + padding];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(i + k) * side + j];
    __syncthreads();
    j = blockIdx.y * 32 + threadIdx.x, i = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(i + k) * side + j] = tile[threadIdx.x][threadIdx.y + k];
}
template <int stride> __global__ void shared_stride(float *y) {
    __shared__ float s[32 * stride];
    for (int i = threadIdx.x; i < 32 * stride; i += blockDim.x) s[i] = i;
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x * stride];
}
__global__ void shared_double(double *y) {
    __shared__ double s[128];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[127 - threadIdx.x];
}
__global__ void shared_float4(float4 *y) {
    __shared__ float4 s[64];
    s[threadIdx.x] = make_float4(1, 2, 3, threadIdx.x);
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void tree_reduction(const float *x, float *y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void shuffle_reduction(const float *x, float *y) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) y[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
__global__ void product_direct(const float *a, const float *b, float *c) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < side; k++) sum += a[i * side + k] * b[k * side + j];
    c[i * side + j] = sum;
}
__global__ void product_tiled(const float *a, const float *b, float *c) {
    __shared__ float s[16][16], t[16][16];
    int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < side; k += 16) {
        s[y][x] = a[i * side + k + x];
        t[y][x] = b[(k + y) * side + j];
        __syncthreads();
        for (int q = 0; q < 16; q++) sum += s[y][q] * t[q][x];
        __syncthreads();
    }
    c[i * side + j] = sum;
}
__global__ void stencil(const float *x, float *y) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && j > 0 && i < side - 1 && j < side - 1)
        y[i * side + j] = 0.25f * (x[(i - 1) * side + j] + x[(i + 1) * side + j] + x[i * side + j - 1] + x[i * side + j + 1]);
}
__global__ void polynomial(const double *x, double *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double v = x[i], p = 1;
    for (int k = 0; k < 16; k++) p = p * v + k;
    y[i] = p;
}
__global__ void divergent_loop(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll 1
    for (int k = 0; k < i % 32; k++) v = v * 1.5f + 1.0f;
    y[i] = v;
}
__global__ void histogram(const float *x, unsigned int *bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[(int)x[i] % 64], 1u);
}

int main() {
    static float h[4 * n];
    for (int i = 0; i < 4 * n; i++) h[i] = i % 1000;
    void *px, *py;
    cudaMalloc(&px, 8 * n * sizeof(float)), cudaMalloc(&py, 8 * n * sizeof(float));
    cudaMemcpy(px, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy((char *)px + sizeof h, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(py, 0, 8 * n * sizeof(float));
    float *x = (float *)px, *y = (float *)py;
    constexpr int threads = 128, blocks = n / threads;
    dim3 tile(32, 8), tiles(side / 32, side / 8);
    copy_stride_1<<<blocks, threads>>>(x, y);
    copy_stride_2<<<blocks, threads>>>(x, y);
    copy_stride_8<<<blocks / 2, threads>>>(x, y);
    copy_misaligned<<<blocks, threads>>>(x, y);
    copy_float4<<<blocks / 4, threads>>>((float4 *)px, (float4 *)py);
    copy_double<<<blocks, threads>>>((double *)px, (double *)py);
    copy_bytes<<<blocks, threads>>>((unsigned char *)px, (unsigned char *)py);
    broadcast<<<blocks, threads>>>(x, y);
    reversed<<<blocks, threads>>>(x, y);
    gather<<<blocks, threads>>>(x, y);
    scatter<<<blocks, threads>>>(x, y);
    field_of_struct<<<blocks, threads>>>((Point *)px, y);
    guarded_tail<<<blocks, threads>>>(x, y, n - 77);
    transpose_direct<<<tiles, tile>>>(x, y);
    transpose_tiled<0><<<dim3(side / 32, side / 32), tile>>>(x, y);
    transpose_tiled<1><<<dim3(side / 32, side / 32), tile>>>(x, y);
    shared_stride<1><<<8, 32>>>(y);
    shared_stride<2><<<8, 32>>>(y);
    shared_stride<3><<<8, 32>>>(y);
    shared_stride<32><<<8, 32>>>(y);
    shared_double<<<8, 128>>>((double *)py);
    shared_float4<<<8, 64>>>((float4 *)py);
    tree_reduction<<<n / 256, 256>>>(x, y);
    shuffle_reduction<<<blocks, threads>>>(x, y);
    product_direct<<<tiles, tile>>>(x, x, y);
    product_tiled<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(x, x, y);
    stencil<<<tiles, tile>>>(x, y);
    cudaMemset(px, 0, 8 * n * sizeof(float));
    polynomial<<<blocks, threads>>>((double *)px, (double *)py);
    divergent_loop<<<blocks, threads>>>(x, y);
    cudaMemcpy(px, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(py, 0, 256);
    histogram<<<blocks, threads>>>(x, (unsigned int *)py);
    cudaError_t error = cudaDeviceSynchronize();
    puts(cudaGetErrorString(error));
    return error != cudaSuccess;
}
