// A lambda, a struct and a constant in play.
// task: ../../c/matmul.c
// expect: right
struct Shape {
    int m, n, k;
};
__constant__ float one;
__global__ void matmul(Shape s, const float *A, const float *B, float *C) {
    auto product = [&](int i, int j) {
        float sum = 0.0f;
        for (int p = 0; p < s.k; p++) sum += A[i * s.k + p] * B[p * s.n + j];
        return sum;
    };
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < s.m * s.n) C[t] = one * product(t / s.n, t % s.n);
}
extern "C" void launch_matmul(int m, int n, int k, const float *A, const float *B, float *C) {
    float unity = 1.0f;
    cudaMemcpyToSymbol(one, &unity, sizeof unity);
    if (m * n > 0) matmul<<<(m * n + 127) / 128, 128>>>(Shape{m, n, k}, A, B, C);
}
