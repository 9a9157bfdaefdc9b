// Dynamic shared memory is carved with the small type first.
// expect: misaligned-access
#include <cstdio>
__global__ void k(float *x) {
    extern __shared__ unsigned char s[];
    double *d = reinterpret_cast<double *>(s + 68);
    d[threadIdx.x] = x[threadIdx.x];  // <--
    x[threadIdx.x] = d[threadIdx.x];
}
int main() {
    float *d;
    cudaMalloc(&d, 64 * sizeof *d);
    cudaMemset(d, 0, 64 * sizeof *d);
    k<<<1, 64, 1024>>>(d);
    cudaDeviceSynchronize();
    cudaFree(d);
}
