// Memory that is freed and allocated again, set before it is added to.
#include <cstdio>
__global__ void add(int *x) { x[threadIdx.x] += threadIdx.x; }
int main() {
    for (int round = 0; round < 3; round++) {
        int *d, h[64];
        cudaMalloc(&d, sizeof h);
        cudaMemset(d, 0, sizeof h);
        add<<<1, 64>>>(d);
        add<<<1, 64>>>(d);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
        cudaFree(d);
        for (int i = 0; i < 64; i++)
            if (h[i] != 2 * i) return printf("wrong at %d\n", i), 1;
    }
    puts("right");
}
