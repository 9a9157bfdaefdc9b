// Squares kept, multiply-adds fused.
// task: ../../c/mandelbrot.c
// expect: right
__global__ void mandelbrot(int height, int width, int limit, double left, double top, double scale, int *iterations) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= height * width) return;
    double ci = fma(-(double)(k / width), scale, top), cr = fma((double)(k % width), scale, left);
    double zr = 0.0, zi = 0.0, rr = 0.0, ii = 0.0;
    int count = 0;
    for (; count < limit && rr + ii <= 4.0; count++) {
        zi = fma(2.0 * zr, zi, ci);
        zr = rr - ii + cr;
        rr = zr * zr;
        ii = zi * zi;
    }
    iterations[k] = count;
}
extern "C" void launch_mandelbrot(int height, int width, int limit, double left, double top, double scale,
                                  int *iterations) {
    int n = height * width;
    if (n > 0) mandelbrot<<<(n + 127) / 128, 128>>>(height, width, limit, left, top, scale, iterations);
}
