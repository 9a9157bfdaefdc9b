// CUDA's SIMD intrinsics: two halves or four bytes of a word, each on its own.
#pragma once

namespace cudaperf {

// Applies an operation to each lane of two words. Lane is the type as which a lane is read; the result wraps.
template <typename Lane, typename F> CUDAPERF_INLINE unsigned int by_lane(unsigned int a, unsigned int b, F operation) {
    constexpr unsigned int bits = 8 * sizeof(Lane), mask = (1u << bits) - 1;
    unsigned int result = 0;
    for (unsigned int at = 0; at < 32; at += bits) {
        int x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
        result |= (static_cast<unsigned int>(operation(x, y)) & mask) << at;
    }
    return result;
}

template <typename Lane> CUDAPERF_INLINE int saturated(int value) {
    constexpr int bits = 8 * sizeof(Lane), most = static_cast<Lane>(-1) < 0 ? (1 << (bits - 1)) - 1 : (1 << bits) - 1,
                  least = static_cast<Lane>(-1) < 0 ? -(1 << (bits - 1)) : 0;
    return value < least ? least : value > most ? most : value;
}

template <typename Lane> CUDAPERF_INLINE unsigned int sum_of_differences(unsigned int a, unsigned int b) {
    unsigned int sum = 0;
    for (unsigned int at = 0; at < 32; at += 8 * sizeof(Lane)) {
        int x = static_cast<Lane>(a >> at), y = static_cast<Lane>(b >> at);
        sum += static_cast<unsigned int>(x < y ? y - x : x - y);
    }
    return sum;
}

}  // namespace cudaperf

#define CUDAPERF_SIMD(name, lane, expression)                                                                \
    CUDAPERF_INLINE unsigned int name(unsigned int a, unsigned int b) {                                      \
        return ::cudaperf::by_lane<lane>(a, b, [](int x, int y) -> int { return expression; });             \
    }
#define CUDAPERF_SIMD_ONE(name, lane, expression)                                                            \
    CUDAPERF_INLINE unsigned int name(unsigned int a) {                                                      \
        return ::cudaperf::by_lane<lane>(a, 0, [](int x, int) -> int { return expression; });               \
    }
#define CUDAPERF_SIMD_COMPARISON(name, n, lane, operation)                                                   \
    CUDAPERF_SIMD(__vcmp##name##n, lane, -(x operation y))                                                   \
    CUDAPERF_SIMD(__vset##name##n, lane, x operation y)
#define CUDAPERF_SIMD_WIDTH(n, s, u)                                                                         \
    CUDAPERF_SIMD(__vadd##n, u, x + y)                                                                       \
    CUDAPERF_SIMD(__vaddss##n, s, ::cudaperf::saturated<s>(x + y))                                           \
    CUDAPERF_SIMD(__vaddus##n, u, ::cudaperf::saturated<u>(x + y))                                           \
    CUDAPERF_SIMD(__vsub##n, u, x - y)                                                                       \
    CUDAPERF_SIMD(__vsubss##n, s, ::cudaperf::saturated<s>(x - y))                                           \
    CUDAPERF_SIMD(__vsubus##n, u, ::cudaperf::saturated<u>(x - y))                                           \
    CUDAPERF_SIMD(__vabsdiffs##n, s, x < y ? y - x : x - y)                                                  \
    CUDAPERF_SIMD(__vabsdiffu##n, u, x < y ? y - x : x - y)                                                  \
    CUDAPERF_SIMD(__vavgs##n, s, (x + y + (x + y >= 0)) >> 1)                                                \
    CUDAPERF_SIMD(__vavgu##n, u, (x + y + 1) >> 1)                                                           \
    CUDAPERF_SIMD(__vhaddu##n, u, (x + y) >> 1)                                                              \
    CUDAPERF_SIMD(__vmaxs##n, s, x < y ? y : x)                                                              \
    CUDAPERF_SIMD(__vmaxu##n, u, x < y ? y : x)                                                              \
    CUDAPERF_SIMD(__vmins##n, s, y < x ? y : x)                                                              \
    CUDAPERF_SIMD(__vminu##n, u, y < x ? y : x)                                                              \
    CUDAPERF_SIMD_ONE(__vabs##n, s, x < 0 ? -x : x)                                                          \
    CUDAPERF_SIMD_ONE(__vabsss##n, s, ::cudaperf::saturated<s>(x < 0 ? -x : x))                              \
    CUDAPERF_SIMD_ONE(__vneg##n, s, -x)                                                                      \
    CUDAPERF_SIMD_ONE(__vnegss##n, s, ::cudaperf::saturated<s>(-x))                                          \
    CUDAPERF_SIMD_COMPARISON(eq, n, u, ==)                                                                   \
    CUDAPERF_SIMD_COMPARISON(ne, n, u, !=)                                                                   \
    CUDAPERF_SIMD_COMPARISON(ges, n, s, >=)                                                                  \
    CUDAPERF_SIMD_COMPARISON(geu, n, u, >=)                                                                  \
    CUDAPERF_SIMD_COMPARISON(gts, n, s, >)                                                                   \
    CUDAPERF_SIMD_COMPARISON(gtu, n, u, >)                                                                   \
    CUDAPERF_SIMD_COMPARISON(les, n, s, <=)                                                                  \
    CUDAPERF_SIMD_COMPARISON(leu, n, u, <=)                                                                  \
    CUDAPERF_SIMD_COMPARISON(lts, n, s, <)                                                                   \
    CUDAPERF_SIMD_COMPARISON(ltu, n, u, <)                                                                   \
    CUDAPERF_INLINE unsigned int __vsads##n(unsigned int a, unsigned int b) {                                \
        return ::cudaperf::sum_of_differences<s>(a, b);                                                      \
    }                                                                                                        \
    CUDAPERF_INLINE unsigned int __vsadu##n(unsigned int a, unsigned int b) {                                \
        return ::cudaperf::sum_of_differences<u>(a, b);                                                      \
    }
CUDAPERF_SIMD_WIDTH(2, int16_t, uint16_t)
CUDAPERF_SIMD_WIDTH(4, int8_t, uint8_t)
#undef CUDAPERF_SIMD
#undef CUDAPERF_SIMD_ONE
#undef CUDAPERF_SIMD_COMPARISON
#undef CUDAPERF_SIMD_WIDTH
