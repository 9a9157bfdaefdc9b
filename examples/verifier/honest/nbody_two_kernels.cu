// Forces and positions in two kernels.
// task: ../../c/nbody.c
// expect: right
__global__ void kick(int n, float dt, Body *bodies) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
        float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        float pull = bodies[j].mass * inverse * inverse * inverse;
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    bodies[i].vx += dt * ax;
    bodies[i].vy += dt * ay;
    bodies[i].vz += dt * az;
}
__global__ void drift(int n, float dt, Body *bodies) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    bodies[i].x += dt * bodies[i].vx;
    bodies[i].y += dt * bodies[i].vy;
    bodies[i].z += dt * bodies[i].vz;
}
extern "C" void launch_nbody_step(int n, float dt, Body *bodies) {
    if (n <= 0) return;
    kick<<<(n + 63) / 64, 64>>>(n, dt, bodies);
    drift<<<(n + 63) / 64, 64>>>(n, dt, bodies);
}
