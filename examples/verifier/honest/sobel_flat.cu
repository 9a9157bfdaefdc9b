// A flat index and a device function.
// task: ../../c/sobel.c
// expect: right
__device__ int at(const unsigned char *image, int width, int y, int x) { return image[y * width + x]; }
__global__ void sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < height * width; k += gridDim.x * blockDim.x) {
        int y = k / width, x = k % width, value = 0;
        if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
            int gx = 0, gy = 0;
            for (int d = -1; d <= 1; d++) {
                int weight = d ? 1 : 2;
                gx += weight * (at(image, width, y + d, x + 1) - at(image, width, y + d, x - 1));
                gy += weight * (at(image, width, y + 1, x + d) - at(image, width, y - 1, x + d));
            }
            value = min((int)(sqrt((double)(gx * gx + gy * gy)) + 0.5), 255);
        }
        edges[k] = (unsigned char)value;
    }
}
extern "C" void launch_sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    sobel<<<64, 192>>>(height, width, image, edges);
}
