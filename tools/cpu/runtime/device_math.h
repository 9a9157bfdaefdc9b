// Math functions and intrinsics. CUDA's fast intrinsics are computed exactly: the CPU is the more accurate
// one.
#pragma once
#include "min_max.h"

#undef isnan
#undef isinf
#undef isfinite
#undef signbit

namespace cudaperf {
template <typename T> struct Integral {};
template <> struct Integral<int> { using type = double; };
template <> struct Integral<unsigned int> { using type = double; };
template <> struct Integral<long> { using type = double; };
template <> struct Integral<unsigned long> { using type = double; };
template <> struct Integral<long long> { using type = double; };
template <> struct Integral<unsigned long long> { using type = double; };
}  // namespace cudaperf

// Integers go to double, as templates, so that a program's own function of the name is preferred.
#define CUDAPERF_UNARY(name)                                                                                 \
    CUDAPERF_INLINE float name(float x) { return ::name##f(x); }                                             \
    template <typename T> CUDAPERF_INLINE typename cudaperf::Integral<T>::type name(T x) {                   \
        return ::name(static_cast<double>(x));                                                               \
    }
CUDAPERF_UNARY(sqrt)
CUDAPERF_UNARY(cbrt)
CUDAPERF_UNARY(exp)
CUDAPERF_UNARY(exp2)
CUDAPERF_UNARY(expm1)
CUDAPERF_UNARY(log)
CUDAPERF_UNARY(log2) CUDAPERF_UNARY(log10) CUDAPERF_UNARY(log1p) CUDAPERF_UNARY(sin) CUDAPERF_UNARY(cos)
    CUDAPERF_UNARY(tan) CUDAPERF_UNARY(asin) CUDAPERF_UNARY(acos) CUDAPERF_UNARY(atan) CUDAPERF_UNARY(sinh)
        CUDAPERF_UNARY(cosh) CUDAPERF_UNARY(tanh) CUDAPERF_UNARY(asinh) CUDAPERF_UNARY(acosh)
            CUDAPERF_UNARY(atanh) CUDAPERF_UNARY(floor) CUDAPERF_UNARY(ceil) CUDAPERF_UNARY(trunc)
                CUDAPERF_UNARY(round) CUDAPERF_UNARY(rint) CUDAPERF_UNARY(nearbyint) CUDAPERF_UNARY(fabs)
                    CUDAPERF_UNARY(erf) CUDAPERF_UNARY(erfc) CUDAPERF_UNARY(tgamma) CUDAPERF_UNARY(lgamma)
#undef CUDAPERF_UNARY

#define CUDAPERF_BINARY(name)                                                                                \
    CUDAPERF_INLINE float name(float x, float y) { return ::name##f(x, y); }                                 \
    CUDAPERF_INLINE double name(float x, double y) { return ::name(static_cast<double>(x), y); }             \
    CUDAPERF_INLINE double name(double x, float y) { return ::name(x, static_cast<double>(y)); }             \
    CUDAPERF_INLINE double name(float x, int y) {                                                            \
        return ::name(static_cast<double>(x), static_cast<double>(y));                                       \
    }                                                                                                        \
    CUDAPERF_INLINE double name(double x, int y) { return ::name(x, static_cast<double>(y)); }               \
    CUDAPERF_INLINE double name(int x, float y) {                                                            \
        return ::name(static_cast<double>(x), static_cast<double>(y));                                       \
    }                                                                                                        \
    CUDAPERF_INLINE double name(int x, double y) { return ::name(static_cast<double>(x), y); }               \
    CUDAPERF_INLINE double name(int x, int y) {                                                              \
        return ::name(static_cast<double>(x), static_cast<double>(y));                                       \
    }
                        CUDAPERF_BINARY(pow) CUDAPERF_BINARY(fmod) CUDAPERF_BINARY(atan2)
                            CUDAPERF_BINARY(hypot) CUDAPERF_BINARY(fmin) CUDAPERF_BINARY(fmax)
                                CUDAPERF_BINARY(copysign) CUDAPERF_BINARY(fdim) CUDAPERF_BINARY(remainder)
#undef CUDAPERF_BINARY

                                    CUDAPERF_INLINE float fma(float x, float y, float z) {
    return fmaf(x, y, z);
}
CUDAPERF_INLINE float ldexp(float x, int exponent) { return ldexpf(x, exponent); }
CUDAPERF_INLINE float modf(float x, float *whole) { return modff(x, whole); }
CUDAPERF_INLINE float abs(float x) { return fabsf(x); }
CUDAPERF_INLINE double abs(double x) { return fabs(x); }
CUDAPERF_INLINE long abs(long x) { return labs(x); }
CUDAPERF_INLINE long long abs(long long x) { return llabs(x); }
CUDAPERF_INLINE bool isnan(float x) { return __builtin_isnan(x); }
CUDAPERF_INLINE bool isnan(double x) { return __builtin_isnan(x); }
CUDAPERF_INLINE bool isinf(float x) { return __builtin_isinf(x); }
CUDAPERF_INLINE bool isinf(double x) { return __builtin_isinf(x); }
CUDAPERF_INLINE bool isfinite(float x) { return __builtin_isfinite(x); }
CUDAPERF_INLINE bool isfinite(double x) { return __builtin_isfinite(x); }
CUDAPERF_INLINE bool signbit(float x) { return __builtin_signbit(x); }
CUDAPERF_INLINE bool signbit(double x) { return __builtin_signbit(x); }

CUDAPERF_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
CUDAPERF_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
CUDAPERF_INLINE float rsqrt(float x) { return rsqrtf(x); }
CUDAPERF_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
CUDAPERF_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
CUDAPERF_INLINE float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
CUDAPERF_INLINE double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
CUDAPERF_INLINE float exp10f(float x) { return powf(10.0f, x); }
CUDAPERF_INLINE double exp10(double x) { return pow(10.0, x); }
CUDAPERF_INLINE float sinpif(float x) { return sinf(3.14159265358979f * x); }
CUDAPERF_INLINE float cospif(float x) { return cosf(3.14159265358979f * x); }
CUDAPERF_INLINE double sinpi(double x) { return sin(3.14159265358979323846 * x); }
CUDAPERF_INLINE double cospi(double x) { return cos(3.14159265358979323846 * x); }
CUDAPERF_INLINE void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
CUDAPERF_INLINE void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
CUDAPERF_INLINE void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
CUDAPERF_INLINE float normcdff(float x) { return 0.5f * erfcf(-0.70710678118654752f * x); }
CUDAPERF_INLINE double normcdf(double x) { return 0.5 * erfc(-0.70710678118654752440 * x); }

CUDAPERF_INLINE float __expf(float x) { return expf(x); }
CUDAPERF_INLINE float __exp10f(float x) { return exp10f(x); }
CUDAPERF_INLINE float __logf(float x) { return logf(x); }
CUDAPERF_INLINE float __log2f(float x) { return log2f(x); }
CUDAPERF_INLINE float __log10f(float x) { return log10f(x); }
CUDAPERF_INLINE float __sinf(float x) { return sinf(x); }
CUDAPERF_INLINE float __cosf(float x) { return cosf(x); }
CUDAPERF_INLINE float __tanf(float x) { return tanf(x); }
CUDAPERF_INLINE float __powf(float x, float y) { return powf(x, y); }
CUDAPERF_INLINE void __sincosf(float x, float *s, float *c) { sincosf(x, s, c); }
CUDAPERF_INLINE float __fdividef(float x, float y) { return x / y; }
CUDAPERF_INLINE float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
CUDAPERF_INLINE float __fadd_rn(float x, float y) { return x + y; }
CUDAPERF_INLINE float __fsub_rn(float x, float y) { return x - y; }
CUDAPERF_INLINE float __fmul_rn(float x, float y) { return x * y; }
CUDAPERF_INLINE float __fdiv_rn(float x, float y) { return x / y; }
CUDAPERF_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
CUDAPERF_INLINE float __frcp_rn(float x) { return 1.0f / x; }
CUDAPERF_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
CUDAPERF_INLINE float __frsqrt_rn(float x) { return rsqrtf(x); }
CUDAPERF_INLINE double __dadd_rn(double x, double y) { return x + y; }
CUDAPERF_INLINE double __dsub_rn(double x, double y) { return x - y; }
CUDAPERF_INLINE double __dmul_rn(double x, double y) { return x * y; }
CUDAPERF_INLINE double __ddiv_rn(double x, double y) { return x / y; }
CUDAPERF_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
CUDAPERF_INLINE double __drcp_rn(double x) { return 1.0 / x; }
CUDAPERF_INLINE double __dsqrt_rn(double x) { return sqrt(x); }

CUDAPERF_INLINE int __float_as_int(float x) { return cudaperf::from_bits<int>(cudaperf::bits(x)); }
CUDAPERF_INLINE unsigned int __float_as_uint(float x) {
    return cudaperf::from_bits<unsigned int>(cudaperf::bits(x));
}
CUDAPERF_INLINE float __int_as_float(int x) { return cudaperf::from_bits<float>(cudaperf::bits(x)); }
CUDAPERF_INLINE float __uint_as_float(unsigned int x) {
    return cudaperf::from_bits<float>(cudaperf::bits(x));
}
CUDAPERF_INLINE long long __double_as_longlong(double x) {
    return cudaperf::from_bits<long long>(cudaperf::bits(x));
}
CUDAPERF_INLINE double __longlong_as_double(long long x) {
    return cudaperf::from_bits<double>(cudaperf::bits(x));
}
#include "device_casts.h"

CUDAPERF_INLINE int __popc(unsigned int x) { return __builtin_popcount(x); }
CUDAPERF_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUDAPERF_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned int>(x)) : 32; }
CUDAPERF_INLINE int __clzll(long long x) {
    return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
CUDAPERF_INLINE int __ffs(int x) { return __builtin_ffs(x); }
CUDAPERF_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
CUDAPERF_INLINE unsigned int __brev(unsigned int x) {
    unsigned int result = 0;
    for (int i = 0; i < 32; i++) result |= (x >> i & 1u) << (31 - i);
    return result;
}
CUDAPERF_INLINE unsigned long long __brevll(unsigned long long x) {
    unsigned long long low = __brev(static_cast<unsigned int>(x));
    return low << 32 | __brev(static_cast<unsigned int>(x >> 32));
}
CUDAPERF_INLINE int __mul24(int x, int y) { return x * y; }
CUDAPERF_INLINE unsigned int __umul24(unsigned int x, unsigned int y) { return x * y; }
CUDAPERF_INLINE int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
CUDAPERF_INLINE unsigned int __umulhi(unsigned int x, unsigned int y) {
    return static_cast<unsigned int>(static_cast<unsigned long long>(x) * y >> 32);
}
CUDAPERF_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
    unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned int result = 0;
    for (int i = 0; i < 4; i++)
        result |= static_cast<unsigned int>(bytes >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
    return result;
}
CUDAPERF_INLINE unsigned int __sad(int x, int y, unsigned int z) {
    return z + static_cast<unsigned int>(x < y ? y - x : x - y);
}
CUDAPERF_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    return shift & 31 ? high << (shift & 31) | low >> (32 - (shift & 31)) : high;
}
CUDAPERF_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    return shift & 31 ? high << (32 - (shift & 31)) | low >> (shift & 31) : low;
}

template <typename T> CUDAPERF_INLINE T __ldg(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE T __ldca(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE T __ldcg(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE T __ldcs(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE T __ldlu(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE T __ldcv(const T *address) { return *address; }
template <typename T> CUDAPERF_INLINE void __stwb(T *address, T value) { *address = value; }
template <typename T> CUDAPERF_INLINE void __stcg(T *address, T value) { *address = value; }
template <typename T> CUDAPERF_INLINE void __stcs(T *address, T value) { *address = value; }
template <typename T> CUDAPERF_INLINE void __stwt(T *address, T value) { *address = value; }

CUDAPERF_INLINE long long clock64() { return static_cast<long long>(cudaperf_clock()); }
CUDAPERF_INLINE long clock() { return static_cast<long>(clock64()); }

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_PI_F 3.141592654f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931

namespace std {
using ::abs, ::fabs, ::sqrt, ::cbrt, ::exp, ::exp2, ::expm1, ::log, ::log2, ::log10, ::log1p, ::pow, ::fmod,
    ::hypot;
using ::fmin, ::fmax, ::fma, ::min, ::max, ::isnan, ::isinf, ::isfinite, ::copysign, ::erf, ::erfc;
using ::sin, ::cos, ::tan, ::asin, ::acos, ::atan, ::atan2, ::sinh, ::cosh, ::tanh, ::floor, ::ceil, ::trunc,
    ::round;
using ::size_t;

template <typename T> const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <typename T> const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <typename T> void swap(T &a, T &b) {
    T before = a;
    a = b;
    b = before;
}
}  // namespace std
