// Cooperative groups within a block: the block, tiles of a warp, and the active lanes.
#pragma once
#include "device.h"

namespace cooperative_groups {

class thread_block {
  public:
    static void sync(CUDAPERF_LINE) { cudaperf_barrier(cudaperf::BarrierKind::plain, 0, line); }
    static unsigned int thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    static unsigned int size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int num_threads() { return size(); }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 dim_threads() { return blockDim; }
};

inline thread_block this_thread_block() { return {}; }

// The whole launch; only a cooperative one has its blocks wait for each other.
class grid_group {
  public:
    static unsigned long long size() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z * thread_block::size();
    }
    static unsigned long long num_threads() { return size(); }
    static unsigned long long block_rank() {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static bool is_valid() { return cudaperf_is_cooperative(); }
    static void sync(CUDAPERF_LINE) { cudaperf_grid_barrier(line); }
};

inline grid_group this_grid() { return {}; }

// Applies a warp function to each word of a value of any size.
template <typename T, typename Exchange> T by_words(T value, Exchange exchange) {
    if constexpr (sizeof(T) <= 8) {
        return exchange(value);
    } else {
        uint64_t words[(sizeof(T) + 7) / 8] = {};
        __builtin_memcpy(words, &value, sizeof value);
        for (uint64_t &word : words) word = exchange(word);
        __builtin_memcpy(&value, words, sizeof value);
        return value;
    }
}

template <unsigned int N> class thread_block_tile {
    static_assert(N && N <= 32 && (N & (N - 1)) == 0, "tiles have 1, 2, 4, 8, 16 or 32 lanes");

    static unsigned int first() { return cudaperf_lane() / N * N; }
    static unsigned int mask() { return (N == 32 ? ~0u : (1u << N % 32) - 1) << first(); }

  public:
    static unsigned int lane_mask() { return mask(); }
    static constexpr unsigned int size() { return N; }
    static constexpr unsigned int num_threads() { return N; }
    static unsigned int thread_rank() { return cudaperf_lane() % N; }
    static unsigned int meta_group_rank() { return thread_block::thread_rank() / N; }
    static unsigned int meta_group_size() { return (thread_block::size() + N - 1) / N; }
    static void sync(CUDAPERF_LINE) { __syncwarp(mask(), line); }
    template <typename T> static T shfl(T value, int lane, CUDAPERF_LINE) {
        return by_words(value, [=](auto word) { return __shfl_sync(mask(), word, lane, N, line); });
    }
    template <typename T> static T shfl_up(T value, unsigned int distance, CUDAPERF_LINE) {
        return by_words(value, [=](auto word) { return __shfl_up_sync(mask(), word, distance, N, line); });
    }
    template <typename T> static T shfl_down(T value, unsigned int distance, CUDAPERF_LINE) {
        return by_words(value, [=](auto word) { return __shfl_down_sync(mask(), word, distance, N, line); });
    }
    template <typename T> static T shfl_xor(T value, unsigned int lanes, CUDAPERF_LINE) {
        int lane_mask = static_cast<int>(lanes);
        return by_words(value, [=](auto word) { return __shfl_xor_sync(mask(), word, lane_mask, N, line); });
    }
    static unsigned int ballot(int predicate, CUDAPERF_LINE) {
        return (__ballot_sync(mask(), predicate, line) & mask()) >> first();
    }
    static int any(int predicate, CUDAPERF_LINE) { return __any_sync(mask(), predicate, line); }
    static int all(int predicate, CUDAPERF_LINE) { return __all_sync(mask(), predicate, line); }
};

// The lanes of a warp that ran together when the group was made.
class coalesced_group {
    unsigned int mask;

    unsigned int lane_of(unsigned int rank) const {
        unsigned int left = mask;
        for (; rank && left; rank--) left &= left - 1;
        return left ? static_cast<unsigned int>(__builtin_ctz(left)) : cudaperf_lane();
    }

  public:
    explicit coalesced_group(unsigned int mask) : mask(mask) {}
    unsigned int lane_mask() const { return mask; }
    unsigned int size() const { return static_cast<unsigned int>(__builtin_popcount(mask)); }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return static_cast<unsigned int>(__builtin_popcount(mask & ((1u << cudaperf_lane()) - 1)));
    }
    void sync(CUDAPERF_LINE) const { __syncwarp(mask, line); }
    template <typename T> T shfl(T value, unsigned int rank, CUDAPERF_LINE) const {
        int lane = static_cast<int>(lane_of(rank));
        return by_words(value, [=, *this](auto word) { return __shfl_sync(mask, word, lane, 32, line); });
    }
    template <typename T> T shfl_down(T value, unsigned int distance, CUDAPERF_LINE) const {
        unsigned int rank = thread_rank() + distance;
        return shfl(value, rank < size() ? rank : thread_rank(), line);
    }
    template <typename T> T shfl_up(T value, unsigned int distance, CUDAPERF_LINE) const {
        unsigned int rank = thread_rank();
        return shfl(value, rank < distance ? rank : rank - distance, line);
    }
    int any(int predicate, CUDAPERF_LINE) const { return __any_sync(mask, predicate, line); }
    int all(int predicate, CUDAPERF_LINE) const { return __all_sync(mask, predicate, line); }
};

// Any of the groups, whose kind is known only as the kernel runs.
class thread_group {
    unsigned int mask;  // of a warp's lanes; none for the whole block

    coalesced_group lanes() const { return coalesced_group(mask); }

  public:
    thread_group(thread_block) : mask(0) {}
    thread_group(coalesced_group group) : mask(group.lane_mask()) {}
    template <unsigned int N> thread_group(thread_block_tile<N> tile) : mask(tile.lane_mask()) {}
    unsigned int size() const { return mask ? lanes().size() : thread_block::size(); }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const { return mask ? lanes().thread_rank() : thread_block::thread_rank(); }
    void sync(CUDAPERF_LINE) const { mask ? lanes().sync(line) : thread_block::sync(line); }
};

// Tiles of a size that is known only as the kernel runs.
inline thread_group tiled_partition(const thread_group &, unsigned int size) {
    unsigned int first = cudaperf_lane() / size * size;
    return coalesced_group((size == 32 ? ~0u : (1u << size % 32) - 1) << first);
}

// The lanes of a group of a warp for which `side` is the caller's, or `label` the same.
template <typename Group> coalesced_group binary_partition(const Group &group, bool side, CUDAPERF_LINE) {
    unsigned int mask = group.lane_mask(), chosen = __ballot_sync(mask, side, line) & mask;
    return coalesced_group(side ? chosen : mask & ~chosen);
}
template <typename Group, typename T>
coalesced_group labeled_partition(const Group &group, T label, CUDAPERF_LINE) {
    return coalesced_group(__match_any_sync(group.lane_mask(), label, line));
}
inline coalesced_group coalesced_threads(CUDAPERF_LINE) { return coalesced_group(__activemask(line)); }

template <unsigned int N, typename Group> thread_block_tile<N> tiled_partition(const Group &) { return {}; }

template <typename Group> void sync(const Group &group, CUDAPERF_LINE) { group.sync(line); }

template <typename T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct less {
    T operator()(T a, T b) const { return a < b ? a : b; }
};
template <typename T> struct greater {
    T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename T, typename Operation>
T reduce(const coalesced_group &group, T value, Operation operation, CUDAPERF_LINE) {
    T result = group.shfl(value, 0, line);
    for (unsigned int rank = 1; rank < group.size(); rank++)
        result = operation(result, group.shfl(value, rank, line));
    return result;
}
template <typename Group, typename T, typename Operation>
T reduce(const Group &group, T value, Operation operation, CUDAPERF_LINE) {
    for (unsigned int distance = Group::size() / 2; distance; distance /= 2)
        value = operation(value, group.shfl_xor(value, distance, line));
    return value;
}

}  // namespace cooperative_groups
