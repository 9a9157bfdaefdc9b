// A tree in shared memory: the barrier stands outside the branch.
#include <cstdio>
__device__ int total;
__global__ void sum(int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = t < n ? t * 3 : 0;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) s[t] += s[t + half];
    }
    if (t == 0) total = s[0];
}
int main() {
    sum<<<1, 256>>>(200);
    int h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%d\n", h);
    return h != 3 * 199 * 200 / 2;
}
