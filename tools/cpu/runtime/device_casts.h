// Conversions between integers and floating point with a named rounding; those to integers saturate.
#pragma once

namespace cudaperf {

template <typename I, typename F> CUDAPERF_INLINE I saturated(F x) {
    constexpr bool is_signed = I(-1) < I(0);
    constexpr I least = is_signed ? static_cast<I>(I(1) << (8 * sizeof(I) - 1)) : I(0);
    constexpr I most = static_cast<I>(~least);
    if (x != x) return sizeof(I) == 8 ? static_cast<I>(I(1) << 63 % (8 * sizeof(I))) : I(0);
    if (x <= static_cast<F>(least)) return least;
    return x >= static_cast<F>(most) ? most : static_cast<I>(x);
}

CUDAPERF_INLINE float neighbour(float x, float towards) { return nextafterf(x, towards); }
CUDAPERF_INLINE double neighbour(double x, float towards) { return nextafter(x, towards); }

// The nearest value, or its neighbour where that lies on the wrong side; long double holds every integer.
template <typename F, typename T> CUDAPERF_INLINE F downward(T x) {
    F nearest = static_cast<F>(x);
    bool above = static_cast<long double>(nearest) > static_cast<long double>(x);
    return above ? neighbour(nearest, -INFINITY) : nearest;
}
template <typename F, typename T> CUDAPERF_INLINE F upward(T x) {
    F nearest = static_cast<F>(x);
    bool below = static_cast<long double>(nearest) < static_cast<long double>(x);
    return below ? neighbour(nearest, INFINITY) : nearest;
}

}  // namespace cudaperf

#define CUDAPERF_TO_INTEGER(F, from, I, to)                                                                  \
    CUDAPERF_INLINE I __##from##2##to##_rn(F x) { return cudaperf::saturated<I>(rint(x)); }                  \
    CUDAPERF_INLINE I __##from##2##to##_rz(F x) { return cudaperf::saturated<I>(trunc(x)); }                 \
    CUDAPERF_INLINE I __##from##2##to##_rd(F x) { return cudaperf::saturated<I>(floor(x)); }                 \
    CUDAPERF_INLINE I __##from##2##to##_ru(F x) { return cudaperf::saturated<I>(ceil(x)); }
#define CUDAPERF_TO_FLOATING(T, from, F, to)                                                                 \
    CUDAPERF_INLINE F __##from##2##to##_rn(T x) { return static_cast<F>(x); }                                \
    CUDAPERF_INLINE F __##from##2##to##_rz(T x) {                                                            \
        return x < 0 ? cudaperf::upward<F>(x) : cudaperf::downward<F>(x);                                    \
    }                                                                                                        \
    CUDAPERF_INLINE F __##from##2##to##_rd(T x) { return cudaperf::downward<F>(x); }                         \
    CUDAPERF_INLINE F __##from##2##to##_ru(T x) { return cudaperf::upward<F>(x); }
#define CUDAPERF_INTEGER_CASTS(I, name)                                                                      \
    CUDAPERF_TO_INTEGER(float, float, I, name)                                                               \
    CUDAPERF_TO_INTEGER(double, double, I, name)                                                             \
    CUDAPERF_TO_FLOATING(I, name, float, float)                                                              \
    CUDAPERF_TO_FLOATING(I, name, double, double)
CUDAPERF_INTEGER_CASTS(int, int)
CUDAPERF_INTEGER_CASTS(unsigned int, uint)
CUDAPERF_INTEGER_CASTS(long long, ll)
CUDAPERF_INTEGER_CASTS(unsigned long long, ull)
CUDAPERF_TO_FLOATING(double, double, float, float)
#undef CUDAPERF_INTEGER_CASTS
#undef CUDAPERF_TO_FLOATING
#undef CUDAPERF_TO_INTEGER

CUDAPERF_INLINE int __double2hiint(double x) { return static_cast<int>(cudaperf::bits(x) >> 32); }
CUDAPERF_INLINE int __double2loint(double x) { return static_cast<int>(cudaperf::bits(x)); }
CUDAPERF_INLINE double __hiloint2double(int high, int low) {
    uint64_t upper = static_cast<uint32_t>(high);
    return cudaperf::from_bits<double>(upper << 32 | static_cast<uint32_t>(low));
}
