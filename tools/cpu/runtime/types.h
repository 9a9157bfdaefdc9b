// CUDA's built-in vector types, for the host part and the device part alike.
#pragma once
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define CUDAPERF_VECTOR(type, name, align2, align4)                                                          \
    struct name##1 { type x; };                                                                              \
    struct alignas(align2) name##2 { type x, y; };                                                           \
    struct name##3 { type x, y, z; };                                                                        \
    struct alignas(align4) name##4 { type x, y, z, w; };                                                     \
    constexpr name##1 make_##name##1(type x) { return {x}; }                                                 \
    constexpr name##2 make_##name##2(type x, type y) { return {x, y}; }                                      \
    constexpr name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                           \
    constexpr name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

CUDAPERF_VECTOR(signed char, char, 2, 4)
CUDAPERF_VECTOR(unsigned char, uchar, 2, 4)
CUDAPERF_VECTOR(short, short, 4, 8)
CUDAPERF_VECTOR(unsigned short, ushort, 4, 8)
CUDAPERF_VECTOR(int, int, 8, 16)
CUDAPERF_VECTOR(unsigned int, uint, 8, 16)
CUDAPERF_VECTOR(long, long, 16, 16)
CUDAPERF_VECTOR(unsigned long, ulong, 16, 16)
CUDAPERF_VECTOR(long long, longlong, 16, 16)
CUDAPERF_VECTOR(unsigned long long, ulonglong, 16, 16)
CUDAPERF_VECTOR(float, float, 8, 16)
CUDAPERF_VECTOR(double, double, 16, 16)
#undef CUDAPERF_VECTOR

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

// Streams and events, which structures of both sides may hold.
struct CUstream_st;
struct CUevent_st;
typedef CUstream_st *cudaStream_t;
typedef CUevent_st *cudaEvent_t;
struct cudaArray;
typedef cudaArray *cudaArray_t;
typedef const cudaArray *cudaArray_const_t;

// Pitched memory, which kernels may be given as it is.
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};
constexpr cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
constexpr cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
constexpr cudaPitchedPtr make_cudaPitchedPtr(void *address, size_t pitch, size_t width, size_t height) {
    return {address, pitch, width, height};
}

#define __host__
#define __global__
#define __device__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(n)
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __restrict__ __restrict

namespace cudaperf {

// The packing of kernel arguments: natural alignment, as in CUDA's parameter buffer.
constexpr size_t aligned(size_t offset, size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
}

template <typename... P> constexpr size_t packed_size() {
    size_t offset = 0;
    ((offset = aligned(offset, alignof(P)) + sizeof(P)), ...);
    return offset;
}

// The memory of a __managed__ variable: its address is the same on both sides.
extern "C" void *cudaperf_managed(int index, size_t size);

// std::index_sequence, without the weight of <utility>.
template <size_t... I> struct Indices {};
#ifdef __clang__
template <typename T, T... I> struct Sequence {
    using type = Indices<I...>;
};
template <size_t N> using indices = typename __make_integer_seq<Sequence, size_t, N>::type;
#else
template <size_t N> using indices = Indices<__integer_pack(N)...>;
#endif

}  // namespace cudaperf
