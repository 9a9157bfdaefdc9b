// The largest float by integer atomics on its bits.
#include <cstdio>
__device__ int largest;
__global__ void maximum() {
    float v = (threadIdx.x * 37 % 101) * 0.5f;
    atomicMax(&largest, __float_as_int(v));
}
int main() {
    maximum<<<1, 128>>>();
    int bits;
    cudaMemcpyFromSymbol(&bits, largest, sizeof bits);
    float h;
    __builtin_memcpy(&h, &bits, sizeof h);
    printf("%g\n", h);
    return h != 50.0f;
}
