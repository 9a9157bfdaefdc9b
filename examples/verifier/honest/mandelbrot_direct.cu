// One thread a pixel.
// task: ../../c/mandelbrot.c
// expect: right
__global__ void mandelbrot(int height, int width, int limit, double left, double top, double scale, int *iterations) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    double ci = top - row * scale, cr = left + column * scale, zr = 0.0, zi = 0.0;
    int count = 0;
    while (count < limit && zr * zr + zi * zi <= 4.0) {
        double next = zr * zr - zi * zi + cr;
        zi = 2.0 * zr * zi + ci;
        zr = next;
        count++;
    }
    iterations[row * width + column] = count;
}
extern "C" void launch_mandelbrot(int height, int width, int limit, double left, double top, double scale,
                                  int *iterations) {
    dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
    if (width > 0 && height > 0) mandelbrot<<<grid, block>>>(height, width, limit, left, top, scale, iterations);
}
