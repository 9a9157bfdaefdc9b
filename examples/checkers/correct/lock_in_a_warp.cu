// Each lane takes a lock in turn: the critical section stands inside the loop, so that no lane blocks its warp.
#include <cstdio>
__device__ int lock, counter;
__global__ void count() {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            counter = counter + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}
int main() {
    count<<<2, 64>>>();
    int h;
    cudaMemcpyFromSymbol(&h, counter, sizeof h);
    printf("%d\n", h);
    return h != 128;
}
