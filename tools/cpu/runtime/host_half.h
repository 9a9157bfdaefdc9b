// Half precision and bfloat16 on the host: storage, and conversions that round to nearest even.
#pragma once
#include "half.h"

struct __half {
    unsigned short bits;
    __half() = default;
    __half(float v) : bits(cudaperf::to_half(v)) {}
    __half(double v) : bits(cudaperf::to_half(v)) {}
    __half(int v) : bits(cudaperf::to_half(v)) {}
    operator float() const { return cudaperf::from_half(bits); }
};
struct alignas(4) __half2 {
    __half x, y;
};
struct __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    __nv_bfloat16(float v) : bits(cudaperf::to_bfloat(v)) {}
    __nv_bfloat16(double v) : bits(cudaperf::to_bfloat(v)) {}
    operator float() const { return cudaperf::from_bfloat(bits); }
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
inline float __half2float(__half v) { return v; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline float __low2float(__half2 v) { return v.x; }
inline float __high2float(__half2 v) { return v.y; }
inline __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
inline float __bfloat162float(__nv_bfloat16 v) { return v; }
