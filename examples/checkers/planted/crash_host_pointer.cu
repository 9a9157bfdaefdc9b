// A pointer into the host's memory.
// expect: crash
#include <cstdio>
__global__ void k(float *x) {
    x[threadIdx.x] = 1;  // <--
}
int main() {
    static float h[64];
    k<<<1, 64>>>(h);
    cudaDeviceSynchronize();
}
