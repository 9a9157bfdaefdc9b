// The floating-point numbers of eight bits: E4M3 (no infinity, largest 448) and E5M2 (as IEEE, largest 57344).
// Source: Open Compute Project, "OCP 8-bit Floating Point Specification".
#pragma once
#include "half.h"

namespace cudaperf {

// E5M2 is the upper byte of a half.
inline float from_e5m2(uint8_t v) { return from_half(static_cast<uint16_t>(v << 8)); }

inline float from_e4m3(uint8_t v) {
    if ((v & 0x7f) == 0x7f) return half_bits_as_float(0x7fffffff);
    // The exponent is one bit narrower than a half's: as a half, the value is 2^8 times too small.
    return from_half(static_cast<uint16_t>((v & 0x80) << 8 | (v & 0x7f) << 7)) * 256.0f;
}

// To the nearest, ties to even; what is too large becomes the largest number. `exponent_bits` 4 or 5.
template <int exponent_bits> inline uint8_t to_byte_float(double x) {
    constexpr int fraction_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
    constexpr uint8_t largest = exponent_bits == 4 ? 0x7e : 0x7b;
    uint8_t sign = __builtin_signbit(x) ? 0x80 : 0;
    double a = __builtin_fabs(x);
    if (a != a) return 0x7f;
    int exponent = 0;
    if (a > 0) exponent = __builtin_ilogb(a);
    if (exponent < 1 - bias) exponent = 1 - bias;
    // A number counts steps of its binade; a carry into the next binade has the right code by itself.
    double steps = __builtin_nearbyint(__builtin_ldexp(a, fraction_bits - exponent));
    int code = static_cast<int>(a > 1e6 ? 1e6 : steps) + ((exponent + bias - 1) << fraction_bits);
    return static_cast<uint8_t>(sign | (code > largest || a > 1e6 ? largest : code));
}

}  // namespace cudaperf
