/* One leapfrog step of the gravitational n-body problem, all pairs, with softening. */
#include <math.h>

typedef struct {
    float x, y, z;
    float vx, vy, vz;
    float mass;
} Body;

void nbody_step(int n, float dt, Body *bodies)
{
    const float softening = 1e-3f;

    for (int i = 0; i < n; i++) {
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < n; j++) {
            float dx = bodies[j].x - bodies[i].x;
            float dy = bodies[j].y - bodies[i].y;
            float dz = bodies[j].z - bodies[i].z;
            float distance2 = dx * dx + dy * dy + dz * dz + softening;
            float inverse = 1.0f / sqrtf(distance2);
            float pull = bodies[j].mass * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        bodies[i].vx += dt * ax;
        bodies[i].vy += dt * ay;
        bodies[i].vz += dt * az;
    }

    for (int i = 0; i < n; i++) {
        bodies[i].x += dt * bodies[i].vx;
        bodies[i].y += dt * bodies[i].vy;
        bodies[i].z += dt * bodies[i].vz;
    }
}
