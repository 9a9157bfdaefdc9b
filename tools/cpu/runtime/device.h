// What the device part of a candidate is compiled against: CUDA's built-ins on top of the scheduler.
#pragma once
#include "kernel_abi.h"
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS  // C's own headers: the C++ ones cost 0.1 s a build
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#define CUDAPERF_INLINE inline __attribute__((always_inline))
#define __CUDA_ARCH__ 900

constexpr int warpSize = 32;
// Structures of both sides may hold one.
typedef struct _IO_FILE FILE;

// Kernels take these as hidden parameters, so that loops over threads vectorize; functions that they call see
// the thread-local ones.
#define CUDAPERF_THREAD                                                                                      \
    [[maybe_unused]] const uint3 threadIdx, [[maybe_unused]] const uint3 blockIdx,                           \
        [[maybe_unused]] const dim3 blockDim, [[maybe_unused]] const dim3 gridDim
extern __thread uint3 threadIdx __attribute__((tls_model("initial-exec")));
extern __thread uint3 blockIdx __attribute__((tls_model("initial-exec")));
extern __thread dim3 blockDim __attribute__((tls_model("initial-exec")));
extern __thread dim3 gridDim __attribute__((tls_model("initial-exec")));

namespace cudaperf {

template <typename T> struct Same {
    using type = T;
};
template <typename T> using same = typename Same<T>::type;

template <typename T> T &managed(int index) { return *static_cast<T *>(cudaperf_managed(index, sizeof(T))); }

template <typename... P> struct Offsets {
    size_t at[sizeof...(P) + 1] = {};
    constexpr Offsets() {
        size_t offset = 0, i = 0;
        ((at[i++] = offset = aligned(offset, alignof(P)), offset += sizeof(P)), ...);
    }
};

template <typename T> CUDAPERF_INLINE T unpack(const unsigned char *from) {
    alignas(T) unsigned char value[sizeof(T)];
    __builtin_memcpy(value, from, sizeof(T));
    return *reinterpret_cast<T *>(value);
}

template <auto Kernel> struct Entry;
template <typename... P, void (*Kernel)(uint3, uint3, dim3, dim3, P...)> struct Entry<Kernel> {
    static constexpr Offsets<P...> offsets{};
    static constexpr unsigned int argument_count = sizeof...(P);
    static constexpr auto arguments = [] {
        constexpr size_t sizes[] = {sizeof(P)..., 0};
        struct {
            Argument at[sizeof...(P) + 1] = {};
        } result;
        for (size_t i = 0; i < sizeof...(P); i++)
            result.at[i] = {static_cast<uint16_t>(offsets.at[i]), static_cast<uint16_t>(sizes[i])};
        return result;
    }();

    template <size_t... I>
    static CUDAPERF_INLINE void call(const unsigned char *arguments, uint3 t, uint3 b, dim3 size, dim3 grid,
                                     Indices<I...>) {
        Kernel(t, b, size, grid, unpack<P>(arguments + offsets.at[I])...);
    }

    static void thread(const unsigned char *arguments, uint3 t, uint3 b, dim3 size, dim3 grid) {
        call(arguments, t, b, size, grid, indices<sizeof...(P)>{});
    }

    static CUDAPERF_INLINE void loop(uint3 b, dim3 size, dim3 grid, P... arguments) {
        for (unsigned int z = 0; z < size.z; z++)
            for (unsigned int y = 0; y < size.y; y++)
                _Pragma("GCC ivdep")  // threads that do not wait for each other have no order
                    for (unsigned int x = 0; x < size.x; x++) {
#ifdef CUDAPERF_FUNCTIONS_USE_THREAD
                    threadIdx = {x, y, z};
#endif
                    Kernel(uint3{x, y, z}, b, size, grid, arguments...);
                }
    }

    template <size_t... I>
    static CUDAPERF_INLINE void loop(const unsigned char *arguments, uint3 b, dim3 size, dim3 grid,
                                     Indices<I...>) {
        loop(b, size, grid, unpack<P>(arguments + offsets.at[I])...);
    }

    __attribute__((flatten)) static bool block(const unsigned char *arguments, uint3 b, dim3 size,
                                               dim3 grid) {
        loop(arguments, b, size, grid, indices<sizeof...(P)>{});
        return true;
    }

    template <bool waits> static constexpr RunBlock whole_block() {
#ifndef CUDAPERF_CHECKED
        if constexpr (!waits) return block;
#endif
        return nullptr;
    }

    static constexpr size_t argument_bytes = packed_size<P...>();
};

}  // namespace cudaperf

// __shared__ variables, by name and type; `alignment` is an alignas of its own.
#define CUDAPERF_SHARED(name, alignment, ...)                                                                \
    struct name##_type {                                                                                     \
        alignment::cudaperf::same<__VA_ARGS__> value;                                                        \
    };                                                                                                       \
    static ::cudaperf::Shared name##_slot = {#name, sizeof(__VA_ARGS__), alignof(name##_type), 0};           \
    auto &name = *static_cast<::cudaperf::same<__VA_ARGS__> *>(cudaperf_shared(&name##_slot));
#define CUDAPERF_DYNAMIC_SHARED(name, ...)                                                                   \
    ::cudaperf::same<__VA_ARGS__> *const name =                                                              \
        static_cast<::cudaperf::same<__VA_ARGS__> *>(cudaperf_dynamic_shared());
#define CUDAPERF_FILE_SHARED(name, ...) static constexpr ::cudaperf::DynamicShared<__VA_ARGS__> name{};
#define CUDAPERF_KERNEL(name, waits, ...)                                                                    \
    {name,                                                                                                   \
     ::cudaperf::Entry<__VA_ARGS__>::argument_bytes,                                                         \
     ::cudaperf::Entry<__VA_ARGS__>::arguments.at,                                                           \
     ::cudaperf::Entry<__VA_ARGS__>::argument_count,                                                         \
     waits,                                                                                                  \
     ::cudaperf::Entry<__VA_ARGS__>::thread,                                                                 \
     ::cudaperf::Entry<__VA_ARGS__>::template whole_block<waits>()},

namespace cudaperf {

// An `extern __shared__` array at file scope, which each block sees at its own address.
template <typename T> struct DynamicShared {
    operator T *() const { return static_cast<T *>(cudaperf_dynamic_shared()); }
    template <typename U> explicit operator U *() const {
        return static_cast<U *>(cudaperf_dynamic_shared());
    }
};

}  // namespace cudaperf

#define CUDAPERF_LINE int line = __builtin_LINE()

CUDAPERF_INLINE void __syncthreads(CUDAPERF_LINE) { cudaperf_barrier(cudaperf::BarrierKind::plain, 0, line); }
CUDAPERF_INLINE int __syncthreads_or(int p, CUDAPERF_LINE) {
    return cudaperf_barrier(cudaperf::BarrierKind::any, p, line);
}
CUDAPERF_INLINE int __syncthreads_and(int p, CUDAPERF_LINE) {
    return cudaperf_barrier(cudaperf::BarrierKind::all, p, line);
}
CUDAPERF_INLINE int __syncthreads_count(int p, CUDAPERF_LINE) {
    return cudaperf_barrier(cudaperf::BarrierKind::count, p, line);
}
CUDAPERF_INLINE void __threadfence() { cudaperf_fence(); }
CUDAPERF_INLINE void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
CUDAPERF_INLINE void __threadfence_system() { cudaperf_fence(); }
CUDAPERF_INLINE void __nanosleep(unsigned int) { cudaperf_yield(); }
[[noreturn]] CUDAPERF_INLINE void __trap(CUDAPERF_LINE) { cudaperf_trap("__trap()", line); }
#define assert(condition) ((condition) ? (void)0 : cudaperf_assert(#condition, __LINE__))
#define printf(...) cudaperf_printf(__VA_ARGS__)

// Memory that threads allocate lies in a heap of its own, as on a GPU.
#define malloc(size) cudaperf_malloc(size)
#define free(address) cudaperf_free(address)
inline void *operator new(size_t size) { return cudaperf_malloc(size); }
inline void *operator new[](size_t size) { return cudaperf_malloc(size); }
inline void operator delete(void *address) noexcept { cudaperf_free(address); }
inline void operator delete[](void *address) noexcept { cudaperf_free(address); }
inline void operator delete(void *address, size_t) noexcept { cudaperf_free(address); }
inline void operator delete[](void *address, size_t) noexcept { cudaperf_free(address); }
CUDAPERF_INLINE void *operator new(size_t, void *place) noexcept { return place; }
CUDAPERF_INLINE void *operator new[](size_t, void *place) noexcept { return place; }

#include "device_warp.h"
#include "whole_block.h"
#include "device_atomics.h"
#include "device_math.h"
#include "device_simd.h"
#include "device_texture.h"
