// What C++ made from PTX is compiled against. Registers are unsigned integers of their width; instructions see them
// as the type that they name. Semantics: NVIDIA, "Parallel Thread Execution ISA".
#pragma once
#include "half.h"
#include "kernel_abi.h"
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdlib.h>
#include <string.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

extern "C" {
void cudaperf_access(const void *address, unsigned int size, int kind, int strength);
void cudaperf_count(unsigned int block);
}

namespace ptx {

#define PTX_INLINE inline __attribute__((always_inline))

using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

// Who runs, and where its block's shared memory begins. Shared addresses are offsets from there.
struct Thread {
    uint3 tid, ctaid;
    dim3 ntid, nctaid;
    unsigned char *shared;
};

// Kernels whose threads do not wait run as loops, in which the scheduler does not know the thread.
PTX_INLINE u32 rank_of(const Thread &T) { return (T.tid.z * T.ntid.y + T.tid.y) * T.ntid.x + T.tid.x; }
PTX_INLINE u32 lane_of(const Thread &T) { return rank_of(T) % 32; }

template <typename T, typename F> PTX_INLINE T as(F from) {
    static_assert(sizeof(T) == sizeof(F), "as() keeps the width");
    T to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

template <typename T> PTX_INLINE T load(const void *from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}
template <typename T> PTX_INLINE void store(void *to, T value) { __builtin_memcpy(to, &value, sizeof value); }

PTX_INLINE unsigned char *at(u64 address) { return reinterpret_cast<unsigned char *>(address); }

#ifdef CUDAPERF_CHECKED
#define PTX_ACCESS(address, size, kind, strength) cudaperf_access(address, size, kind, strength)
#define PTX_COUNT(block) cudaperf_count(block)
#else
#define PTX_ACCESS(address, size, kind, strength) ((void)0)
#define PTX_COUNT(block) ((void)0)
#endif

// Flushes denormals to zero, where an instruction says so.
PTX_INLINE float ftz(float x) { return __builtin_fabsf(x) < 1.17549435e-38f ? __builtin_copysignf(0.0f, x) : x; }
PTX_INLINE float saturated(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }
PTX_INLINE double saturated(double x) { return x > 0 ? x < 1 ? x : 1.0 : 0.0; }

// Minimum and maximum: the other operand where one is NaN, -0 below +0; with `nan` NaN wins.
template <typename T> PTX_INLINE T minimum(T a, T b, bool nan = false) {
    if (a != a || b != b) return nan ? T(NAN) : a != a ? b : a;
    if (a == b) return __builtin_signbit(a) ? a : b;
    return a < b ? a : b;
}
template <typename T> PTX_INLINE T maximum(T a, T b, bool nan = false) {
    if (a != a || b != b) return nan ? T(NAN) : a != a ? b : a;
    if (a == b) return __builtin_signbit(a) ? b : a;
    return a > b ? a : b;
}
template <typename T> PTX_INLINE T least(T a, T b) { return a < b ? a : b; }
template <typename T> PTX_INLINE T most(T a, T b) { return a > b ? a : b; }

using cudaperf::from_bfloat, cudaperf::from_half, cudaperf::to_bfloat, cudaperf::to_half;
PTX_INLINE u32 pair(u16 low, u16 high) { return low | u32(high) << 16; }
PTX_INLINE u16 low(u32 v) { return static_cast<u16>(v); }
PTX_INLINE u16 high(u32 v) { return static_cast<u16>(v >> 16); }

// Float to integer: NaN is zero, what is out of range becomes the nearest limit.
template <typename I> PTX_INLINE I to_integer(double x) {
    constexpr bool is_signed = I(-1) < I(0);
    constexpr double top = is_signed ? double(u64{1} << (sizeof(I) * 8 - 1)) : 2.0 * double(u64{1} << (sizeof(I) * 8 - 1));
    constexpr I largest = is_signed ? I((u64{1} << (sizeof(I) * 8 - 1)) - 1) : I(-1);
    if (x != x) return sizeof(I) == 8 ? (is_signed ? I(u64{1} << 63) : I(u64{1} << 63)) : 0;
    if (x >= top) return largest;
    if (x <= (is_signed ? -top : 0.0)) return is_signed ? I(-largest - 1) : 0;
    return static_cast<I>(x);
}
template <typename To, typename From> PTX_INLINE To clamped(From v) {
    using W = __int128;
    constexpr bool is_signed = To(-1) < To(0);
    constexpr W largest = is_signed ? (W(1) << (sizeof(To) * 8 - 1)) - 1 : (W(1) << (sizeof(To) * 8)) - 1,
                smallest = is_signed ? -largest - 1 : 0;
    return static_cast<To>(W(v) > largest ? largest : W(v) < smallest ? smallest : W(v));
}
PTX_INLINE float toward_zero(double x) {
    float f = static_cast<float>(x);
    return __builtin_fabs(static_cast<double>(f)) > __builtin_fabs(x) ? __builtin_nextafterf(f, 0.0f) : f;
}
PTX_INLINE float downward(double x) {
    float f = static_cast<float>(x);
    return static_cast<double>(f) > x ? __builtin_nextafterf(f, -HUGE_VALF) : f;
}
PTX_INLINE float upward(double x) {
    float f = static_cast<float>(x);
    return static_cast<double>(f) < x ? __builtin_nextafterf(f, HUGE_VALF) : f;
}

// Ten bits of fraction: to the nearest, ties away from zero or to even.
PTX_INLINE float to_tf32(float x, bool away) {
    u32 held = as<u32>(x);
    if (__builtin_isfinite(x)) held += away ? 0x1000 : 0xfff + (held >> 13 & 1);
    return as<float>(held & 0xffffe000u);
}

// Integer operations. Shifts beyond the width give zero, or the sign.
template <typename T> PTX_INLINE T shift_left(T a, u32 n) { return n >= sizeof(T) * 8 ? T(0) : static_cast<T>(a << n); }
template <typename T> PTX_INLINE T shift_right(T a, u32 n) {
    constexpr u32 width = sizeof(T) * 8;
    if (T(-1) < T(0)) return static_cast<T>(a >> (n >= width ? width - 1 : n));
    return n >= width ? T(0) : static_cast<T>(a >> n);
}
template <typename T> PTX_INLINE T quotient(T a, T b) {
    if (b == 0) return T(-1);
    return T(-1) < T(0) && b == T(-1) ? static_cast<T>(u64(0) - static_cast<u64>(a)) : static_cast<T>(a / b);
}
template <typename T> PTX_INLINE T remainder_of(T a, T b) {
    if (b == 0) return a;
    return T(-1) < T(0) && b == T(-1) ? T(0) : static_cast<T>(a % b);
}
template <typename T> PTX_INLINE T high_product(T a, T b) {
    return static_cast<T>((static_cast<__int128>(a) * static_cast<__int128>(b)) >> (sizeof(T) * 8));
}
PTX_INLINE u64 high_product(u64 a, u64 b) {
    return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
}
PTX_INLINE u32 reversed(u32 v) {
    v = (v >> 1 & 0x55555555) | (v & 0x55555555) << 1;
    v = (v >> 2 & 0x33333333) | (v & 0x33333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f) | (v & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(v);
}
PTX_INLINE u64 reversed(u64 v) { return u64(reversed(u32(v))) << 32 | reversed(u32(v >> 32)); }
template <typename T> PTX_INLINE u32 find_bit(T a, bool amount) {
    u64 v = static_cast<u64>(T(-1) < T(0) && a < 0 ? T(~a) : a);
    if (sizeof(T) == 4) v = static_cast<u32>(v);
    if (!v) return ~0u;
    u32 place = 63u - static_cast<u32>(__builtin_clzll(v));
    return amount ? static_cast<u32>(sizeof(T) * 8 - 1) - place : place;
}
template <typename T> PTX_INLINE T extract(T a, u32 begin, u32 length) {
    constexpr u32 top = sizeof(T) * 8 - 1;
    begin &= 255, length &= 255;
    u64 bits = static_cast<u64>(a), sign = 0;
    if (sizeof(T) == 4) bits = static_cast<u32>(bits);
    if (T(-1) < T(0) && length) sign = bits >> least(begin + length - 1, top) & 1;
    u64 result = 0;
    for (u32 i = 0; i <= top; i++)
        result |= (i < length && begin + i <= top ? bits >> (begin + i) & 1 : sign) << i;
    return static_cast<T>(result);
}
template <typename T> PTX_INLINE T insert(T a, T b, u32 begin, u32 length) {
    begin &= 255, length &= 255;
    for (u32 i = 0; i < length && begin + i < sizeof(T) * 8; i++)
        b = static_cast<T>((b & ~(T(1) << (begin + i))) | (T(a >> i & 1) << (begin + i)));
    return b;
}
PTX_INLINE u32 mask_of(u32 begin, u32 length) {
    u64 ones = length >= 32 ? 0xffffffffu : (u64{1} << length) - 1;
    return begin >= 32 ? 0 : static_cast<u32>(ones << begin);
}
PTX_INLINE u32 permuted(u32 a, u32 b, u32 selection) {
    u64 bytes = u64(b) << 32 | a;
    u32 result = 0;
    for (int i = 0; i < 4; i++) {
        u32 pick = selection >> (4 * i), byte = static_cast<u32>(bytes >> (8 * (pick & 7))) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}
PTX_INLINE u32 funnel_left(u32 low, u32 high, u32 n) { return n ? high << n | static_cast<u32>(u64(low) >> (32 - n)) : high; }
PTX_INLINE u32 funnel_right(u32 low, u32 high, u32 n) { return static_cast<u32>((u64(high) << 32 | low) >> n); }
template <typename T> PTX_INLINE T logic(T a, T b, T c, int table) {
    T result = 0;
    for (int i = 0; i < 8; i++)
        if (table >> i & 1) result |= (i & 4 ? a : T(~a)) & (i & 2 ? b : T(~b)) & (i & 1 ? c : T(~c));
    return result;
}

// Memory: atomically for the CPU too, since other blocks run on other cores.
template <typename T, typename Change> PTX_INLINE T change(void *address, Change compute) {
    T *word = static_cast<T *>(address), before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &before, static_cast<T>(compute(before)), true, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {}
    return before;
}

// Warp functions.
PTX_INLINE u32 lane() { return cudaperf_lane(); }
PTX_INLINE u64 warp(cudaperf::WarpOperation operation, u32 mask, u64 value, int line, u32 source = 0) {
    return cudaperf_warp(operation, mask, value, static_cast<int>(source), 32, line);
}
// The lane that a shuffle reads from, and whether it lies inside the segment.
template <int kind> PTX_INLINE bool shuffle_source(u32 b, u32 c, u32 &source) {
    u32 me = lane(), segment = c >> 8 & 31, clamp = c & 31, last = (me & segment) | (clamp & ~segment), first = me & segment;
    bool inside;
    b &= 31;
    if (kind == 0) source = first | (b & ~segment), inside = source <= last;       // idx
    if (kind == 1) source = me - b, inside = static_cast<i32>(source) >= static_cast<i32>(last);  // up
    if (kind == 2) source = me + b, inside = source <= last;                       // down
    if (kind == 3) source = me ^ b, inside = source <= last;                       // bfly
    if (!inside) source = me;
    return inside;
}

}  // namespace ptx
