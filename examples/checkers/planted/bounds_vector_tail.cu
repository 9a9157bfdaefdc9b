// float4 beyond the last whole vector.
// expect: out-of-bounds
#include <cstdio>
__global__ void k(float *x, int n) {
    int i = threadIdx.x;
    if (i * 4 < n) {
        float4 v = reinterpret_cast<float4 *>(x)[i];  // <--
        v.x += 1;
        reinterpret_cast<float4 *>(x)[i] = v;  // <--
    }
}
int main() {
    float *d;
    cudaMalloc(&d, 102 * sizeof *d);
    cudaMemset(d, 0, 102 * sizeof *d);
    k<<<1, 64>>>(d, 102);
    cudaDeviceSynchronize();
    cudaFree(d);
}
