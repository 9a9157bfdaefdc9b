// Zeros everywhere.
// task: ../../c/sobel.c
// expect: wrong-result
__global__ void zero(int n, unsigned char *edges) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) edges[i] = 0;
}
extern "C" void launch_sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    if (height * width > 0) zero<<<(height * width + 255) / 256, 256>>>(height * width, edges);
}
