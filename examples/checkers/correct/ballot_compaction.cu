// Stream compaction in a block by ballots.
#include <cstdio>
__device__ int out[128], count;
__global__ void compact() {
    __shared__ int sizes[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    bool keep = t % 3 == 1;
    unsigned int kept = __ballot_sync(0xffffffff, keep);
    if (lane == 0) sizes[warp] = __popc(kept);
    __syncthreads();
    int place = __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++) place += sizes[w];
    if (keep) out[place] = t;
    if (t == 127) count = place + keep;
}
int main() {
    compact<<<1, 128>>>();
    int h[128], n;
    cudaMemcpyFromSymbol(h, out, sizeof h);
    cudaMemcpyFromSymbol(&n, count, sizeof n);
    for (int i = 0; i < n; i++)
        if (h[i] != 3 * i + 1) return printf("wrong at %d\n", i), 1;
    printf("%d\n", n);
    return n != 43;
}
