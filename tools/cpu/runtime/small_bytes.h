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

}  // namespace cudaperf
