// A device variable keeps its value from launch to launch.
#include <cstdio>
__device__ int counter = 5;
__global__ void step() {
    if (threadIdx.x == 0) atomicAdd(&counter, 1);
}
int main() {
    for (int i = 0; i < 4; i++) step<<<3, 32>>>();
    int h;
    cudaMemcpyFromSymbol(&h, counter, sizeof h);
    printf("%d\n", h);
    return h != 17;
}
