/* Edge detection: the magnitude of the Sobel gradient of a grey image, clamped to 255. The border is set to zero. */
#include <math.h>

typedef unsigned char pixel;

static pixel clamp_to_pixel(int value)
{
    return (pixel)(value < 0 ? 0 : value > 255 ? 255 : value);
}

void sobel(int height, int width, const pixel *image, pixel *edges)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            if (y == 0 || y == height - 1 || x == 0 || x == width - 1) {
                edges[y * width + x] = 0;
                continue;
            }
            const pixel *above = image + (y - 1) * width + x;
            const pixel *here = image + y * width + x;
            const pixel *below = image + (y + 1) * width + x;
            int gx = (above[1] + 2 * here[1] + below[1]) - (above[-1] + 2 * here[-1] + below[-1]);
            int gy = (below[-1] + 2 * below[0] + below[1]) - (above[-1] + 2 * above[0] + above[1]);
            edges[y * width + x] = clamp_to_pixel((int)(sqrt((double)(gx * gx + gy * gy)) + 0.5));
        }
    }
}
