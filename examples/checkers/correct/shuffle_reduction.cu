// Two stages of shuffles; the second has fewer values than lanes.
#include <cstdio>
__device__ int total;
__device__ int warp_sum(int v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}
__global__ void sum() {
    __shared__ int partial[32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int v = warp_sum(t);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0);
        if (lane == 0) total = v;
    }
}
int main() {
    sum<<<1, 192>>>();
    int h;
    cudaMemcpyFromSymbol(&h, total, sizeof h);
    printf("%d\n", h);
    return h != 191 * 192 / 2;
}
