// One thread an option.
// task: ../../c/blackscholes.c
// expect: right
__device__ float cdf(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__global__ void price(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                      float *call, float *put) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float spread = volatility * sqrtf(years[i]);
    float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / spread;
    float d2 = d1 - spread, discounted = strike[i] * expf(-rate * years[i]);
    call[i] = spot[i] * cdf(d1) - discounted * cdf(d2);
    put[i] = discounted * cdf(-d2) - spot[i] * cdf(-d1);
}
extern "C" void launch_blackscholes(int n, float rate, float volatility, const float *spot, const float *strike,
                                    const float *years, float *call, float *put) {
    if (n > 0) price<<<(n + 127) / 128, 128>>>(n, rate, volatility, spot, strike, years, call, put);
}
