/* Escape-time iteration counts of the Mandelbrot set on a rectangle of the complex plane. */

void mandelbrot(int height, int width, int max_iterations, double left, double top, double scale, int *iterations)
{
    for (int row = 0; row < height; row++) {
        double ci = top - row * scale;
        for (int column = 0; column < width; column++) {
            double cr = left + column * scale;
            double zr = 0.0, zi = 0.0;
            int count = 0;
            while (count < max_iterations && zr * zr + zi * zi <= 4.0) {
                double next = zr * zr - zi * zi + cr;
                zi = 2.0 * zr * zi + ci;
                zr = next;
                count++;
            }
            iterations[row * width + column] = count;
        }
    }
}
