// Bodies in shared memory, rsqrtf, the sum in tiles.
// task: ../../c/nbody.c
// expect: right
__global__ void kick(int n, float dt, Body *bodies) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Body self = bodies[i < n ? i : n - 1];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += 64) {
        int j = first + threadIdx.x;
        if (j < n) tile[threadIdx.x] = make_float4(bodies[j].x, bodies[j].y, bodies[j].z, bodies[j].mass);
        __syncthreads();
        for (int k = 0; k < min(64, n - first); k++) {
            float dx = tile[k].x - self.x, dy = tile[k].y - self.y, dz = tile[k].z - self.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            float pull = tile[k].w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        bodies[i].vx = self.vx + dt * ax;
        bodies[i].vy = self.vy + dt * ay;
        bodies[i].vz = self.vz + dt * az;
    }
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
    drift<<<(n + 255) / 256, 256>>>(n, dt, bodies);
}
