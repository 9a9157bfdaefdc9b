/* European call and put prices after Black and Scholes, with the normal distribution from the error function. */
#include <math.h>

static float normal_cdf(float x)
{
    return 0.5f * erfcf(-x * 0.70710678f);
}

static void price(float spot, float strike, float years, float rate, float volatility, float *call, float *put)
{
    float spread = volatility * sqrtf(years);
    float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
    float d2 = d1 - spread;
    float discounted = strike * expf(-rate * years);
    *call = spot * normal_cdf(d1) - discounted * normal_cdf(d2);
    *put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1);
}

void blackscholes(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                  float *call, float *put)
{
    for (int i = 0; i < n; i++) {
        float c, p;
        price(spot[i], strike[i], years[i], rate, volatility, &c, &p);
        call[i] = c;
        put[i] = p;
    }
}
