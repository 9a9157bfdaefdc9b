// Warp-level primitives; values of up to 8 bytes travel as 64 bits.
#pragma once

namespace cudaperf {

template <typename T> CUDAPERF_INLINE uint64_t bits(T value) {
    static_assert(sizeof(T) <= 8, "warp functions take values of at most 8 bytes");
    uint64_t result = 0;
    __builtin_memcpy(&result, &value, sizeof value);
    return result;
}

template <typename T> CUDAPERF_INLINE T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace cudaperf

#define CUDAPERF_SHUFFLE(name, kind, lane_type)                                                              \
    template <typename T>                                                                                    \
    CUDAPERF_INLINE T name(unsigned int mask, T value, lane_type lane, int width = 32, CUDAPERF_LINE) {      \
        return cudaperf::from_bits<T>(cudaperf_warp(cudaperf::WarpOperation::kind, mask,                     \
                                                    cudaperf::bits(value), static_cast<int>(lane), width,    \
                                                    line));                                                  \
    }
CUDAPERF_SHUFFLE(__shfl_sync, shuffle, int)
CUDAPERF_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned int)
CUDAPERF_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned int)
CUDAPERF_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
#undef CUDAPERF_SHUFFLE

#define CUDAPERF_VOTE(type, name, kind)                                                                      \
    CUDAPERF_INLINE type name(unsigned int mask, int predicate, CUDAPERF_LINE) {                             \
        return static_cast<type>(                                                                            \
            cudaperf_warp(cudaperf::WarpOperation::kind, mask, predicate != 0, 0, 32, line));                \
    }
CUDAPERF_VOTE(unsigned int, __ballot_sync, ballot)
CUDAPERF_VOTE(int, __any_sync, any)
CUDAPERF_VOTE(int, __all_sync, all)
#undef CUDAPERF_VOTE

#define CUDAPERF_REDUCE(type, name, kind)                                                                    \
    CUDAPERF_INLINE type name(unsigned int mask, type value, CUDAPERF_LINE) {                                \
        return static_cast<type>(                                                                            \
            cudaperf_warp(cudaperf::WarpOperation::kind, mask, cudaperf::bits(value), 0, 32, line));         \
    }
CUDAPERF_REDUCE(unsigned int, __reduce_add_sync, add)
CUDAPERF_REDUCE(int, __reduce_add_sync, add)
CUDAPERF_REDUCE(unsigned int, __reduce_min_sync, minimum)
CUDAPERF_REDUCE(int, __reduce_min_sync, signed_minimum)
CUDAPERF_REDUCE(unsigned int, __reduce_max_sync, maximum)
CUDAPERF_REDUCE(int, __reduce_max_sync, signed_maximum)
CUDAPERF_REDUCE(unsigned int, __reduce_and_sync, bit_and)
CUDAPERF_REDUCE(unsigned int, __reduce_or_sync, bit_or)
CUDAPERF_REDUCE(unsigned int, __reduce_xor_sync, bit_xor)
#undef CUDAPERF_REDUCE

CUDAPERF_INLINE void __syncwarp(unsigned int mask = 0xffffffffu, CUDAPERF_LINE) {
    cudaperf_warp(cudaperf::WarpOperation::sync, mask, 0, 0, 32, line);
}
template <typename T>
CUDAPERF_INLINE unsigned int __match_any_sync(unsigned int mask, T value, CUDAPERF_LINE) {
    return static_cast<unsigned int>(
        cudaperf_warp(cudaperf::WarpOperation::match_any, mask, cudaperf::bits(value), 0, 32, line));
}
template <typename T>
CUDAPERF_INLINE unsigned int __match_all_sync(unsigned int mask, T value, int *same, CUDAPERF_LINE) {
    unsigned int result = static_cast<unsigned int>(
        cudaperf_warp(cudaperf::WarpOperation::match_all, mask, cudaperf::bits(value), 0, 32, line));
    *same = result != 0;
    return result;
}
CUDAPERF_INLINE unsigned int __activemask(CUDAPERF_LINE) { return cudaperf_active_mask(line); }
