// Half precision, under the names of CUDA's header.
#pragma once
#include "small_float.h"

CUDAPERF_SMALL_FLOAT(__half, from_half, to_half)
typedef __half half;
typedef __half2 half2;

inline __half __float2half(float v) { return __half(v); }
inline __half __float2half_rn(float v) { return __half(v); }
inline __half __double2half(double v) { return __half(v); }
inline float __half2float(__half v) { return v; }
inline __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {v.x, v.y}; }
inline __half2 __half2half2(__half v) { return {v, v}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half __low2half(__half2 v) { return v.x; }
inline __half __high2half(__half2 v) { return v.y; }
inline __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
inline __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
inline __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
inline __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline __half __int2half_rn(int v) { return __half(v); }
inline __half __uint2half_rn(unsigned int v) { return __half(v); }
inline int __half2int_rn(__half v) { return static_cast<int>(rintf(v)); }
inline int __half2int_rz(__half v) { return static_cast<int>(truncf(v)); }
inline unsigned int __half2uint_rn(__half v) { return static_cast<unsigned int>(rintf(v)); }
inline short __half_as_short(__half v) { return static_cast<short>(v.bits); }
inline unsigned short __half_as_ushort(__half v) { return v.bits; }
inline __half __short_as_half(short v) { return __half::from_bits(static_cast<uint16_t>(v)); }
inline __half __ushort_as_half(unsigned short v) { return __half::from_bits(v); }
