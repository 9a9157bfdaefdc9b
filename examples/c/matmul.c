/* The product of two row-major matrices: C = A * B, where A is m x k, B is k x n and C is m x n. */

void matmul(int m, int n, int k, const float *A, const float *B, float *C)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int p = 0; p < k; p++)
                sum += A[i * k + p] * B[p * n + j];
            C[i * n + j] = sum;
        }
    }
}
