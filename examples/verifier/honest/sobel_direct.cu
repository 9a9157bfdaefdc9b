// One thread a pixel.
// task: ../../c/sobel.c
// expect: right
__global__ void sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int value = 0;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        const unsigned char *a = image + (y - 1) * width + x, *h = a + width, *b = h + width;
        int gx = (a[1] + 2 * h[1] + b[1]) - (a[-1] + 2 * h[-1] + b[-1]);
        int gy = (b[-1] + 2 * b[0] + b[1]) - (a[-1] + 2 * a[0] + a[1]);
        value = (int)(sqrt((double)(gx * gx + gy * gy)) + 0.5);
    }
    edges[y * width + x] = value > 255 ? 255 : value;
}
extern "C" void launch_sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    dim3 block(32, 4), grid((width + 31) / 32, (height + 3) / 4);
    if (width > 0 && height > 0) sobel<<<grid, block>>>(height, width, image, edges);
}
