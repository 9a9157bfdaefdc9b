// float4 for the bulk, single floats for the rest.
#include <cstdio>
constexpr int n = 1003;
__global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = reinterpret_cast<float4 *>(x)[i];
        v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
        reinterpret_cast<float4 *>(x)[i] = v;
    } else if (i < n / 4 + n % 4)
        x[n / 4 * 4 + i - n / 4] *= 2;
}
int main() {
    float h[n], *d;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    scale<<<2, 160>>>(d, n);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    for (int i = 0; i < n; i++)
        if (h[i] != 2 * i) return printf("wrong at %d\n", i), 1;
    puts("right");
}
