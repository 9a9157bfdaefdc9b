// Complex numbers, under the names of CUDA's header.
#pragma once
#include "types.h"

#define CUDAPERF_COMPLEX(type, real, vector, name, root)                                                     \
    typedef vector type;                                                                                     \
    inline real cuCreal##name(type v) { return v.x; }                                                        \
    inline real cuCimag##name(type v) { return v.y; }                                                        \
    inline type cuConj##name(type v) { return {v.x, -v.y}; }                                                 \
    inline type cuCadd##name(type a, type b) { return {a.x + b.x, a.y + b.y}; }                              \
    inline type cuCsub##name(type a, type b) { return {a.x - b.x, a.y - b.y}; }                              \
    inline type cuCmul##name(type a, type b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }      \
    inline type cuCfma##name(type a, type b, type c) { return cuCadd##name(cuCmul##name(a, b), c); }         \
    /* Both operands are scaled, so that no intermediate overflows. */                                       \
    inline type cuCdiv##name(type a, type b) {                                                               \
        real scale = 1 / ((b.x < 0 ? -b.x : b.x) + (b.y < 0 ? -b.y : b.y));                                  \
        real ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                         \
        real norm = 1 / (bx * bx + by * by);                                                                 \
        return {(ax * bx + ay * by) * norm, (ay * bx - ax * by) * norm};                                     \
    }                                                                                                        \
    inline real cuCabs##name(type v) {                                                                       \
        real x = v.x < 0 ? -v.x : v.x, y = v.y < 0 ? -v.y : v.y;                                             \
        real large = x > y ? x : y, small = x > y ? y : x;                                                   \
        if (large == 0) return 0;                                                                            \
        real ratio = small / large;                                                                          \
        return large * root(1 + ratio * ratio);                                                              \
    }
CUDAPERF_COMPLEX(cuFloatComplex, float, float2, f, sqrtf)
CUDAPERF_COMPLEX(cuDoubleComplex, double, double2, , sqrt)
#undef CUDAPERF_COMPLEX

typedef cuFloatComplex cuComplex;
inline cuFloatComplex make_cuFloatComplex(float x, float y) { return {x, y}; }
inline cuDoubleComplex make_cuDoubleComplex(double x, double y) { return {x, y}; }
inline cuComplex make_cuComplex(float x, float y) { return {x, y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex v) {
    return {static_cast<float>(v.x), static_cast<float>(v.y)};
}
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex v) { return {v.x, v.y}; }
