// A kernel taken apart where its threads wait: one function runs a whole block, in loops over its threads, or over the
// lanes of one warp after the other. It returns false, before anything had an effect, where the block's threads do not
// go alike, so that they must be run one by one.
#pragma once

namespace cudaperf {

template <auto Kernel> struct WholeBlock;
template <typename... P, bool (*Kernel)(uint3, dim3, dim3, P...)> struct WholeBlock<Kernel> {
    static constexpr Offsets<P...> offsets{};

    template <size_t... I>
    static CUDAPERF_INLINE bool call(const unsigned char *arguments, uint3 b, dim3 size, dim3 grid, Indices<I...>) {
        return Kernel(b, size, grid, unpack<P>(arguments + offsets.at[I])...);
    }

    static bool block(const unsigned char *arguments, uint3 b, dim3 size, dim3 grid) {
        return call(arguments, b, size, grid, indices<sizeof...(P)>{});
    }

    template <bool checkable> static constexpr RunBlock entry() {
#ifdef CUDAPERF_CHECKED
        if constexpr (!checkable) return nullptr;
#endif
        return block;
    }
};

// What the lanes of a warp give to an exchange, between two rows whose values no lane takes.
struct Lanes {
    alignas(32) unsigned char bytes[3 * 32 * 8];
};

template <typename T> CUDAPERF_INLINE T *lane(Lanes &lanes, unsigned int index) {
    static_assert(sizeof(T) <= 8, "warp functions take values of at most 8 bytes");
    return reinterpret_cast<T *>(lanes.bytes) + 32 + index;
}

template <typename T> CUDAPERF_INLINE void give(Lanes &lanes, unsigned int index, same<T> value) {
    *lane<T>(lanes, index) = value;
}

// As __shfl_sync and its like among whole warps: a lane whose source lies outside of its segment keeps its own.
template <typename T> CUDAPERF_INLINE T shuffled(Lanes &lanes, unsigned int index, int source, int width = 32) {
    unsigned int within = static_cast<unsigned int>(width) - 1;
    return *lane<T>(lanes, (index & ~within) + (static_cast<unsigned int>(source) & within));
}
template <typename T>
CUDAPERF_INLINE T shuffled_up(Lanes &lanes, unsigned int index, unsigned int distance, int width = 32) {
    unsigned int place = index & (static_cast<unsigned int>(width) - 1), near = distance & 31;
    T own = *lane<T>(lanes, index), other = *(lane<T>(lanes, index) - near);
    return place >= distance ? other : own;
}
template <typename T>
CUDAPERF_INLINE T shuffled_down(Lanes &lanes, unsigned int index, unsigned int distance, int width = 32) {
    unsigned int place = index & (static_cast<unsigned int>(width) - 1), near = distance & 31;
    T own = *lane<T>(lanes, index), other = *(lane<T>(lanes, index) + near);
    return place + near < static_cast<unsigned int>(width) && distance < 32 ? other : own;
}
template <typename T> CUDAPERF_INLINE T shuffled_xor(Lanes &lanes, unsigned int index, int mask, int width = 32) {
    unsigned int size = static_cast<unsigned int>(width), source = index ^ static_cast<unsigned int>(mask);
    return *lane<T>(lanes, source < (index & ~(size - 1)) + size ? source : index);
}

// How many threads of a row of `size` have an index, `first` for the first of them, below a bound.
template <typename I, typename B> CUDAPERF_INLINE unsigned int below(I first, B bound, unsigned int size) {
    I last = first + static_cast<I>(size - 1);
    if (!(first < bound)) return 0;
    if (last < bound) return size;
    unsigned int count = static_cast<unsigned int>(bound - first);
    return first + static_cast<I>(count) < bound ? count + 1 : count;
}

CUDAPERF_INLINE void vote(unsigned int &ballot, unsigned int index, int predicate) {
    ballot |= static_cast<unsigned int>(predicate != 0) << index;
}

template <typename T, WarpOperation operation>
CUDAPERF_INLINE void fold(unsigned int &folded, unsigned int index, same<T> value) {
    T before = static_cast<T>(folded), result = value;
    if (index) switch (operation) {
        case WarpOperation::add: result = static_cast<T>(folded + static_cast<unsigned int>(value)); break;
        case WarpOperation::minimum: result = before < value ? before : value; break;
        case WarpOperation::maximum: result = before > value ? before : value; break;
        case WarpOperation::bit_and: result = before & value; break;
        case WarpOperation::bit_or: result = before | value; break;
        default: result = before ^ value;
        }
    folded = static_cast<unsigned int>(result);
}

}  // namespace cudaperf

#define CUDAPERF_BLOCK                                                                                       \
    [[maybe_unused]] const uint3 blockIdx, [[maybe_unused]] const dim3 blockDim, [[maybe_unused]] const dim3 gridDim
#ifdef CUDAPERF_CHECKED
#define CUDAPERF_ENTER_THREAD(index) cudaperf_enter_thread(index)
#define CUDAPERF_WHOLE_BARRIER cudaperf_whole_barrier();
#else
#define CUDAPERF_ENTER_THREAD(index) ((void)0)
#define CUDAPERF_WHOLE_BARRIER
#endif
#ifdef CUDAPERF_FUNCTIONS_USE_THREAD
#define CUDAPERF_SHOW_THREAD ::threadIdx = threadIdx
#else
#define CUDAPERF_SHOW_THREAD ((void)0)
#endif
// The threads of a block between two barriers have no order. What comes behind `begin` and `end` is done for each row.
#define CUDAPERF_EACH_THREAD(begin, end, ...)                                                                \
    for (unsigned int cudaperf_z = 0; cudaperf_z < blockDim.z; cudaperf_z++)                                 \
        for (unsigned int cudaperf_y = 0; cudaperf_y < blockDim.y; cudaperf_y++) {                           \
            [[maybe_unused]] const uint3 threadIdx{0, cudaperf_y, cudaperf_z};                               \
            __VA_ARGS__                                                                                      \
            _Pragma("GCC ivdep") for (int cudaperf_x = static_cast<int>(begin),                              \
                                          cudaperf_end = static_cast<int>(end);                              \
                                      cudaperf_x < cudaperf_end; cudaperf_x++) {                             \
                [[maybe_unused]] const uint3 threadIdx{static_cast<unsigned int>(cudaperf_x), cudaperf_y,    \
                                                       cudaperf_z};                                          \
                [[maybe_unused]] const unsigned int cudaperf_thread_index =                                  \
                    (cudaperf_z * blockDim.y + cudaperf_y) * blockDim.x + threadIdx.x;                       \
                CUDAPERF_ENTER_THREAD(cudaperf_thread_index);                                                \
                CUDAPERF_SHOW_THREAD;
#define CUDAPERF_END_EACH_THREAD }}

// Where rows of threads are made of whole warps. Outside of the loops over its lanes, a warp's first lane speaks for it.
#define CUDAPERF_EACH_WARP                                                                                   \
    for (unsigned int cudaperf_z = 0; cudaperf_z < blockDim.z; cudaperf_z++)                                 \
        for (unsigned int cudaperf_y = 0; cudaperf_y < blockDim.y; cudaperf_y++)                             \
            for (unsigned int cudaperf_first = 0; cudaperf_first < blockDim.x; cudaperf_first += 32) {       \
                [[maybe_unused]] const uint3 threadIdx{cudaperf_first, cudaperf_y, cudaperf_z};
#define CUDAPERF_END_EACH_WARP }
// The lanes of a warp between two exchanges have no order.
#define CUDAPERF_EACH_LANE(begin, end, ...)                                                                  \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
        _Pragma("GCC ivdep") for (int cudaperf_x = begin; cudaperf_x < end; cudaperf_x++) {                  \
            const unsigned int cudaperf_in_warp = static_cast<unsigned int>(cudaperf_x);                     \
            [[maybe_unused]] const uint3 threadIdx{cudaperf_first + cudaperf_in_warp, cudaperf_y, cudaperf_z}; \
            [[maybe_unused]] const unsigned int cudaperf_thread_index =                                      \
                (cudaperf_z * blockDim.y + cudaperf_y) * blockDim.x + cudaperf_first + cudaperf_in_warp;     \
            CUDAPERF_SHOW_THREAD;

#define CUDAPERF_UNPACKED(...) __VA_ARGS__
#define CUDAPERF_WHOLE_KERNEL(name, checkable, whole, ...)                                                   \
    {name,                                                                                                   \
     ::cudaperf::Entry<__VA_ARGS__>::argument_bytes,                                                         \
     ::cudaperf::Entry<__VA_ARGS__>::arguments.at,                                                           \
     ::cudaperf::Entry<__VA_ARGS__>::argument_count,                                                         \
     true,                                                                                                   \
     ::cudaperf::Entry<__VA_ARGS__>::thread,                                                                 \
     ::cudaperf::WholeBlock<CUDAPERF_UNPACKED whole>::template entry<checkable>()},
