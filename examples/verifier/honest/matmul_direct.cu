// One thread an element.
// task: ../../c/matmul.c
// expect: right
__global__ void matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0.0f;
    for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
    C[i * n + j] = sum;
}
extern "C" void launch_matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    if (m > 0 && n > 0) matmul<<<grid, block>>>(m, n, k, A, B, C);
}
