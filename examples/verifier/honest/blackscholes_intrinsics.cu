// Fast intrinsics for logarithm and exponential.
// task: ../../c/blackscholes.c
// expect: right
__device__ float cdf(float x) { return normcdff(x); }
__global__ void price(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                      float *call, float *put) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float spread = volatility * sqrtf(years[i]);
        float d1 = (__logf(spot[i] / strike[i]) + fmaf(0.5f * volatility, volatility, rate) * years[i]) / spread;
        float d2 = d1 - spread, discounted = strike[i] * __expf(-rate * years[i]);
        call[i] = fmaf(spot[i], cdf(d1), -discounted * cdf(d2));
        put[i] = fmaf(discounted, cdf(-d2), -spot[i] * cdf(-d1));
    }
}
extern "C" void launch_blackscholes(int n, float rate, float volatility, const float *spot, const float *strike,
                                    const float *years, float *call, float *put) {
    price<<<20, 256>>>(n, rate, volatility, spot, strike, years, call, put);
}
