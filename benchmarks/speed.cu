// Kernels whose speed on the CPU device is held against plain C. Each function of the host runs one, `times` times.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

constexpr int n = 1 << 20, side = 512, rows = 1024, columns = 1024;

__global__ void saxpy(float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}
__global__ void reduce_tree(const float *x, float *y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void reduce_shuffles(const float *x, float *y) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) y[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}
__global__ void scan_block(const float *x, float *y) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = s[t];
}
__global__ void softmax_rows(const float *x, float *y) {
    __shared__ float s[256];
    const float *row = x + blockIdx.x * columns;
    int t = threadIdx.x;
    float largest = -1e30f, sum = 0;
    for (int j = t; j < columns; j += 256) largest = fmaxf(largest, row[j]);
    s[t] = largest;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] = fmaxf(s[t], s[t + half]);
    }
    __syncthreads();
    largest = s[0];
    __syncthreads();
    for (int j = t; j < columns; j += 256) sum += expf(row[j] - largest);
    s[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    __syncthreads();
    for (int j = t; j < columns; j += 256) y[blockIdx.x * columns + j] = expf(row[j] - largest) / s[0];
}
__device__ __forceinline__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}
__device__ float block_sum(float v) {
    __shared__ float s[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    v = lane < blockDim.x / 32 ? s[lane] : 0;
    v = warp_sum(v);
    __syncthreads();
    return v;
}
__global__ void softmax_warps(const float *x, float *y) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float largest = -1e30f, sum = 0;
    for (int j = lane; j < columns; j += 32) largest = fmaxf(largest, x[row * columns + j]);
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
    for (int j = lane; j < columns; j += 32) sum += expf(x[row * columns + j] - largest);
    sum = warp_sum(sum);
    for (int j = lane; j < columns; j += 32) y[row * columns + j] = expf(x[row * columns + j] - largest) / sum;
}
__global__ void layer_norm(const float *x, float *y) {
    const float *row = x + blockIdx.x * columns;
    float sum = 0, squares = 0;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += row[j];
    float mean = block_sum(sum) / columns;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) squares += (row[j] - mean) * (row[j] - mean);
    float scale = rsqrtf(block_sum(squares) / columns + 1e-5f);
    for (int j = threadIdx.x; j < columns; j += blockDim.x) y[blockIdx.x * columns + j] = (row[j] - mean) * scale;
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
__global__ void transpose_tiled(const float *x, float *y) {
    __shared__ float tile[32][33];
    int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(i + k) * columns + j];
    __syncthreads();
    j = blockIdx.y * 32 + threadIdx.x, i = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(i + k) * columns + j] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void histogram_shared(const float *x, unsigned int *bins) {
    __shared__ unsigned int s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[(int)x[blockIdx.x * blockDim.x + threadIdx.x] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

namespace plain {
__attribute__((noinline)) void saxpy(const float *x, float *y) {
    for (int i = 0; i < n; i++) y[i] = 2.0f * x[i] + y[i];
}
__attribute__((noinline)) void sums(const float *x, float *y, int size) {
    for (int b = 0; b < n / size; b++) {
        float sum = 0;
        for (int t = 0; t < size; t++) sum += x[b * size + t];
        y[b] = sum;
    }
}
__attribute__((noinline)) void scans(const float *x, float *y) {
    for (int b = 0; b < n / 256; b++) {
        float sum = 0;
        for (int t = 0; t < 256; t++) y[b * 256 + t] = sum += x[b * 256 + t];
    }
}
__attribute__((noinline)) void softmax(const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * columns;
        float largest = -1e30f, sum = 0;
        for (int j = 0; j < columns; j++) largest = row[j] > largest ? row[j] : largest;
        for (int j = 0; j < columns; j++) sum += expf(row[j] - largest);
        for (int j = 0; j < columns; j++) y[r * columns + j] = expf(row[j] - largest) / sum;
    }
}
__attribute__((noinline)) void layer_norm(const float *x, float *y) {
    for (int r = 0; r < rows; r++) {
        const float *row = x + r * columns;
        float sum = 0, squares = 0;
        for (int j = 0; j < columns; j++) sum += row[j];
        for (int j = 0; j < columns; j++) squares += (row[j] - sum / columns) * (row[j] - sum / columns);
        float scale = 1 / sqrtf(squares / columns + 1e-5f);
        for (int j = 0; j < columns; j++) y[r * columns + j] = (row[j] - sum / columns) * scale;
    }
}
__attribute__((noinline)) void product(const float *a, const float *b, float *c) {
    memset(c, 0, side * side * sizeof(float));
    for (int i = 0; i < side; i++)
        for (int k = 0; k < side; k++)
            for (int j = 0; j < side; j++) c[i * side + j] += a[i * side + k] * b[k * side + j];
}
__attribute__((noinline)) void transpose(const float *x, float *y) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) y[j * rows + i] = x[i * columns + j];
}
__attribute__((noinline)) void histogram(const float *x, unsigned int *bins) {
    for (int i = 0; i < n; i++) bins[(int)x[i] & 63]++;
}
}  // namespace plain

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// The least time of several runs, device and plain C in turn.
template <typename F, typename G> static void measure(const char *name, F device, G host) {
    double best[2] = {1e9, 1e9};
    for (int i = 0; i < 5; i++) {
        double begin = now();
        device();
        cudaDeviceSynchronize();
        double middle = now();
        host();
        double end = now();
        best[0] = middle - begin < best[0] ? middle - begin : best[0];
        best[1] = end - middle < best[1] ? end - middle : best[1];
    }
    printf("| %s | %.2f | %.2f | %.1f |\n", name, 1e3 * best[0], 1e3 * best[1], best[0] / best[1]);
}

int main() {
    float *x = (float *)malloc(n * sizeof(float)), *y = (float *)malloc(n * sizeof(float)), *dx, *dy;
    for (int i = 0; i < n; i++) x[i] = i % 1000 * 0.01f, y[i] = 0;
    cudaMalloc(&dx, n * sizeof(float)), cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(dy, 0, n * sizeof(float));
    unsigned int *bins = (unsigned int *)y, *dbins = (unsigned int *)dy;
    printf("| kernel | CPU device, ms | plain C, ms | ratio |\n|---|---|---|---|\n");
    measure("saxpy", [&] { saxpy<<<n / 256, 256>>>(2.0f, dx, dy); }, [&] { plain::saxpy(x, y); });
    measure("reduction, tree in shared memory", [&] { reduce_tree<<<n / 256, 256>>>(dx, dy); }, [&] { plain::sums(x, y, 256); });
    measure("reduction, shuffles", [&] { reduce_shuffles<<<n / 256, 256>>>(dx, dy); }, [&] { plain::sums(x, y, 32); });
    measure("scan of blocks", [&] { scan_block<<<n / 256, 256>>>(dx, dy); }, [&] { plain::scans(x, y); });
    measure("softmax of rows", [&] { softmax_rows<<<rows, 256>>>(dx, dy); }, [&] { plain::softmax(x, y); });
    measure("softmax of rows, a warp each", [&] { softmax_warps<<<rows / 8, 256>>>(dx, dy); }, [&] { plain::softmax(x, y); });
    measure("layer norm, shuffles", [&] { layer_norm<<<rows, 256>>>(dx, dy); }, [&] { plain::layer_norm(x, y); });
    measure("matrix product, tiles", [&] { product_tiled<<<dim3(side / 16, side / 16), dim3(16, 16)>>>(dx, dx, dy); }, [&] { plain::product(x, x, y); });
    measure("transposition, tiles", [&] { transpose_tiled<<<dim3(columns / 32, rows / 32), dim3(32, 8)>>>(dx, dy); }, [&] { plain::transpose(x, y); });
    measure("histogram in shared memory", [&] { histogram_shared<<<n / 256, 256>>>(dx, dbins); }, [&] { plain::histogram(x, bins); });
}
