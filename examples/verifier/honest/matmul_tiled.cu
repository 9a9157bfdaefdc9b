// Shared-memory tiles.
// task: ../../c/matmul.c
// expect: right
#define T 16
__global__ void matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[T][T], b[T][T];
    int j = blockIdx.x * T + threadIdx.x, i = blockIdx.y * T + threadIdx.y;
    float sum = 0.0f;
    for (int first = 0; first < k; first += T) {
        int p = first + threadIdx.x, q = first + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = i < m && p < k ? A[i * k + p] : 0.0f;
        b[threadIdx.y][threadIdx.x] = q < k && j < n ? B[q * n + j] : 0.0f;
        __syncthreads();
        for (int r = 0; r < T; r++) sum += a[threadIdx.y][r] * b[r][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n) C[i * n + j] = sum;
}
extern "C" void launch_matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    if (m > 0 && n > 0) matmul<<<grid, block>>>(m, n, k, A, B, C);
}
