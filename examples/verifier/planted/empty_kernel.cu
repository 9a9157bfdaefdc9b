// The kernel does nothing.
// task: ../../c/sobel.c
// expect: unwritten-output
__global__ void sobel(unsigned char *edges) {}
extern "C" void launch_sobel(int height, int width, const unsigned char *image, unsigned char *edges) {
    sobel<<<1, 32>>>(edges);
}
