// The sum split in two and joined by atomics.
// task: ../../c/matmul.c
// expect: right
__global__ void matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j >= n) return;
    float sum = 0.0f;
    for (int p = blockIdx.z; p < k; p += 2) sum = fmaf(A[i * k + p], B[p * n + j], sum);
    atomicAdd(&C[i * n + j], sum);
}
extern "C" void launch_matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    if (m <= 0 || n <= 0) return;
    cudaMemset(C, 0, sizeof(float) * m * n);
    matmul<<<dim3((n + 63) / 64, m, 2), 64>>>(m, n, k, A, B, C);
}
