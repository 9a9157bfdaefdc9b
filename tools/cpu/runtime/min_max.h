// min and max for the types that nvcc declares them for, in host and device code. <math.h> comes first.
#pragma once

#define CUDAPERF_MIN_MAX(type, a, b)                                                                         \
    constexpr type min(a x, b y) {                                                                              \
        return static_cast<type>(x) < static_cast<type>(y) ? static_cast<type>(x) : static_cast<type>(y);    \
    }                                                                                                        \
    constexpr type max(a x, b y) {                                                                              \
        return static_cast<type>(x) > static_cast<type>(y) ? static_cast<type>(x) : static_cast<type>(y);    \
    }
CUDAPERF_MIN_MAX(int, int, int)
CUDAPERF_MIN_MAX(unsigned int, unsigned int, unsigned int)
CUDAPERF_MIN_MAX(unsigned int, int, unsigned int)
CUDAPERF_MIN_MAX(unsigned int, unsigned int, int)
CUDAPERF_MIN_MAX(long, long, long)
CUDAPERF_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDAPERF_MIN_MAX(unsigned long, long, unsigned long)
CUDAPERF_MIN_MAX(unsigned long, unsigned long, long)
CUDAPERF_MIN_MAX(long long, long long, long long)
CUDAPERF_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDAPERF_MIN_MAX(unsigned long long, long long, unsigned long long)
CUDAPERF_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUDAPERF_MIN_MAX

inline float min(float x, float y) { return fminf(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline double min(float x, double y) { return fmin(static_cast<double>(x), y); }
inline double min(double x, float y) { return fmin(x, static_cast<double>(y)); }
inline float max(float x, float y) { return fmaxf(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
inline double max(float x, double y) { return fmax(static_cast<double>(x), y); }
inline double max(double x, float y) { return fmax(x, static_cast<double>(y)); }
