/* Heat diffusion on a square plate: explicit time stepping with a five-point stencil.
 *
 * The edges keep their temperature. Two buffers take turns; after the last step the newest one is copied
 * back where necessary, so that the result always stands in u.
 *
 *     cc -O2 heat2d.c -o heat2d -lm && ./heat2d
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void heat2d(int h, int w, int steps, float alpha, float *u, float *v)
{
    float *now = u, *next = v;

    for (int i = 0; i < h * w; i++)
        v[i] = u[i];

    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < h - 1; i++) {
            for (int j = 1; j < w - 1; j++) {
                float around = now[(i - 1) * w + j] + now[(i + 1) * w + j]
                             + now[i * w + j - 1] + now[i * w + j + 1];
                next[i * w + j] = now[i * w + j] + alpha * (around - 4.0f * now[i * w + j]);
            }
        }
        float *swap = now;
        now = next;
        next = swap;
    }

    if (now != u) {
        for (int i = 0; i < h * w; i++)
            u[i] = now[i];
    }
}

int main(void)
{
    const int h = 200, w = 300, steps = 100;
    float *u = malloc(sizeof(float) * h * w);
    float *v = malloc(sizeof(float) * h * w);
    if (u == NULL || v == NULL)
        return 1;

    for (int i = 0; i < h; i++)
        for (int j = 0; j < w; j++)
            u[i * w + j] = (i == 0) ? 100.0f : 20.0f * expf(-0.001f * (float)((i - 100) * (i - 100) + (j - 150) * (j - 150)));

    heat2d(h, w, steps, 0.2f, u, v);

    double checksum = 0.0;
    for (int i = 0; i < h * w; i++)
        checksum += u[i];
    printf("checksum %.4f\n", checksum);
    for (int i = 0; i < h; i += 50)
        printf("u[%d][%d] = %.4f\n", i, w / 2, u[i * w + w / 2]);

    free(u);
    free(v);
    return 0;
}
