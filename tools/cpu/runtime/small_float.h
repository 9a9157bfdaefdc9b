// 16-bit floating-point types for both parts: computed in float, and rounded once.
#pragma once
#include "half.h"
#include "types.h"

#define CUDAPERF_SMALL_OPERATOR(type, name, op)                                                              \
    inline type operator op(type a, type b) { return type(static_cast<float>(a) op static_cast<float>(b)); } \
    inline type &operator op##=(type &a, type b) { return a = a op b; }                                      \
    inline type name(type a, type b) { return a op b; }                                                      \
    inline type##2 operator op(type##2 a, type##2 b) { return {a.x op b.x, a.y op b.y}; }                    \
    inline type##2 &operator op##=(type##2 &a, type##2 b) { return a = a op b; }                             \
    inline type##2 name##2(type##2 a, type##2 b) { return a op b; }
#define CUDAPERF_SMALL_COMPARISON(type, name, op)                                                            \
    inline bool operator op(type a, type b) { return static_cast<float>(a) op static_cast<float>(b); }       \
    inline bool name(type a, type b) { return a op b; }                                                      \
    inline type##2 name##2(type##2 a, type##2 b) {                                                           \
        return {type(a.x op b.x ? 1.0f : 0.0f), type(a.y op b.y ? 1.0f : 0.0f)};                             \
    }                                                                                                        \
    inline bool name##2_all(type##2 a, type##2 b) { return a.x op b.x && a.y op b.y; }
#define CUDAPERF_SMALL_FUNCTION(type, name, expression)                                                      \
    inline type h##name(type v) {                                                                            \
        float x = static_cast<float>(v);                                                                     \
        return type(expression);                                                                             \
    }                                                                                                        \
    inline type##2 h2##name(type##2 v) { return {h##name(v.x), h##name(v.y)}; }

#define CUDAPERF_SMALL_FLOAT(type, widen, round)                                                             \
    struct alignas(2) type {                                                                                 \
        type() = default;                                                                                    \
        type(float value) : type(static_cast<double>(value)) {}                                              \
        type(double value) : bits(cudaperf::round(value)) {}                                                 \
        type(int value) : type(static_cast<double>(value)) {}                                                \
        type(unsigned int value) : type(static_cast<double>(value)) {}                                       \
        type(long value) : type(static_cast<double>(value)) {}                                               \
        type(unsigned long value) : type(static_cast<double>(value)) {}                                      \
        type(long long value) : type(static_cast<double>(value)) {}                                          \
        type(unsigned long long value) : type(static_cast<double>(value)) {}                                 \
        operator float() const { return cudaperf::widen(bits); }                                             \
        static type from_bits(uint16_t bits) {                                                               \
            type result;                                                                                     \
            result.bits = bits;                                                                              \
            return result;                                                                                   \
        }                                                                                                    \
        uint16_t bits;                                                                                       \
    };                                                                                                       \
    struct alignas(4) type##2 {                                                                              \
        type##2() = default;                                                                                 \
        type##2(type x, type y) : x(x), y(y) {}                                                              \
        type x, y;                                                                                           \
    };                                                                                                       \
    CUDAPERF_SMALL_OPERATOR(type, __hadd, +)                                                                 \
    CUDAPERF_SMALL_OPERATOR(type, __hsub, -)                                                                 \
    CUDAPERF_SMALL_OPERATOR(type, __hmul, *)                                                                 \
    CUDAPERF_SMALL_OPERATOR(type, __hdiv, /)                                                                 \
    CUDAPERF_SMALL_COMPARISON(type, __heq, ==)                                                               \
    CUDAPERF_SMALL_COMPARISON(type, __hne, !=)                                                               \
    CUDAPERF_SMALL_COMPARISON(type, __hlt, <)                                                                \
    CUDAPERF_SMALL_COMPARISON(type, __hle, <=)                                                               \
    CUDAPERF_SMALL_COMPARISON(type, __hgt, >)                                                                \
    CUDAPERF_SMALL_COMPARISON(type, __hge, >=)                                                               \
    inline type operator-(type v) { return type::from_bits(v.bits ^ 0x8000); }                               \
    inline type##2 operator-(type##2 v) { return {-v.x, -v.y}; }                                             \
    inline type __hneg(type v) { return -v; }                                                                \
    inline type##2 __hneg2(type##2 v) { return -v; }                                                         \
    inline type __habs(type v) { return type::from_bits(v.bits & 0x7fff); }                                  \
    inline type##2 __habs2(type##2 v) { return {__habs(v.x), __habs(v.y)}; }                                 \
    inline bool __hisnan(type v) { return __builtin_isnan(static_cast<float>(v)); }                          \
    inline int __hisinf(type v) { return __builtin_isinf_sign(static_cast<float>(v)); }                      \
    inline type __hmax(type a, type b) { return type(fmaxf(a, b)); }                                         \
    inline type __hmin(type a, type b) { return type(fminf(a, b)); }                                         \
    inline type##2 __hmax2(type##2 a, type##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }            \
    inline type##2 __hmin2(type##2 a, type##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }            \
    inline type __hfma(type a, type b, type c) {                                                             \
        return type(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));               \
    }                                                                                                        \
    inline type##2 __hfma2(type##2 a, type##2 b, type##2 c) {                                                \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                               \
    }                                                                                                        \
    CUDAPERF_SMALL_FUNCTION(type, sqrt, sqrtf(x))                                                            \
    CUDAPERF_SMALL_FUNCTION(type, rsqrt, 1.0f / sqrtf(x))                                                    \
    CUDAPERF_SMALL_FUNCTION(type, rcp, 1.0f / x)                                                             \
    CUDAPERF_SMALL_FUNCTION(type, exp, expf(x))                                                              \
    CUDAPERF_SMALL_FUNCTION(type, exp2, exp2f(x))                                                            \
    CUDAPERF_SMALL_FUNCTION(type, log, logf(x))                                                              \
    CUDAPERF_SMALL_FUNCTION(type, log2, log2f(x))                                                            \
    CUDAPERF_SMALL_FUNCTION(type, sin, sinf(x))                                                              \
    CUDAPERF_SMALL_FUNCTION(type, cos, cosf(x))                                                              \
    CUDAPERF_SMALL_FUNCTION(type, tanh, tanhf(x))                                                            \
    CUDAPERF_SMALL_FUNCTION(type, floor, floorf(x))                                                          \
    CUDAPERF_SMALL_FUNCTION(type, ceil, ceilf(x))                                                            \
    CUDAPERF_SMALL_FUNCTION(type, trunc, truncf(x))                                                          \
    CUDAPERF_SMALL_FUNCTION(type, rint, rintf(x))                                                            \
    inline float __low2float(type##2 v) { return v.x; }                                                      \
    inline float __high2float(type##2 v) { return v.y; }                                                     \
    CUDAPERF_SMALL_ATOMICS(type)

// Only device code has atomic functions.
#ifdef CUDAPERF_THREAD
#define CUDAPERF_SMALL_ATOMICS(type)                                                                         \
    CUDAPERF_ATOMIC type atomicAdd(type *address, type value) {                                              \
        CUDAPERF_TRACE(address, false);                                                                      \
        return cudaperf::change(address, [value](type old) CUDAPERF_UNTRACED { return old + value; });       \
    }                                                                                                        \
    CUDAPERF_ATOMIC type##2 atomicAdd(type##2 *address, type##2 value) {                                     \
        CUDAPERF_TRACE(address, false);                                                                      \
        return cudaperf::change(address, [value](type##2 old) CUDAPERF_UNTRACED { return old + value; });    \
    }
#else
#define CUDAPERF_SMALL_ATOMICS(type)
#endif
