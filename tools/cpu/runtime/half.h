// IEEE half precision and bfloat16, both as 16 bits; rounding is to nearest even.
#pragma once
#include <stdint.h>

namespace cudaperf {

inline float half_bits_as_float(uint32_t bits) {
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

inline float from_half(uint16_t h) {
    uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 31) return half_bits_as_float(sign | 0x7f800000 | fraction << 13);
    if (exponent) return half_bits_as_float(sign | (exponent + 112) << 23 | fraction << 13);
    float value = static_cast<float>(fraction) * 5.9604644775390625e-8f;  // 2^-24
    return sign ? -value : value;
}

// From double, so that a fused operation is rounded once.
inline uint16_t to_half(double x) {
    uint16_t sign = __builtin_signbit(x) ? 0x8000 : 0;
    double a = __builtin_fabs(x);
    if (a != a) return 0x7fff;
    if (a >= 65520) return sign | 0x7c00;
    if (a < 6.103515625e-05)  // 2^-14: a multiple of 2^-24
        return static_cast<uint16_t>(sign | static_cast<uint16_t>(__builtin_nearbyint(a * 16777216.0)));
    uint64_t bits, tie = uint64_t{1} << 41;
    __builtin_memcpy(&bits, &a, sizeof bits);
    uint64_t half = bits >> 42, rest = bits & ((uint64_t{1} << 42) - 1);
    half += rest > tie || (rest == tie && (half & 1));
    return static_cast<uint16_t>(sign | (half - (uint64_t{1023 - 15} << 10)));
}

inline float from_bfloat(uint16_t b) { return half_bits_as_float(static_cast<uint32_t>(b) << 16); }

inline uint16_t to_bfloat(double x) {
    if (x != x) return 0x7fff;
    float f = static_cast<float>(x);
    uint32_t bits;
    __builtin_memcpy(&bits, &f, sizeof bits);
    // The first rounding is made one to odd, so that the second cannot go wrong.
    if (static_cast<double>(f) != x && !(bits & 1))
        bits = (__builtin_fabs(static_cast<double>(f)) < __builtin_fabs(x)) ? bits | 1 : bits - 1;
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace cudaperf
