// A vector load from an address that is not a multiple of 16.
// expect: misaligned-access
#include <cstdio>
__global__ void k(float *x) {
    if (threadIdx.x < 8) {
        float4 v = *reinterpret_cast<float4 *>(x + 1 + 4 * threadIdx.x);  // <--
        x[48 + threadIdx.x] = v.x + v.y + v.z + v.w;
    }
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
