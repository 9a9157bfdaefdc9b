// Atomic functions. Other blocks run on other cores, so they are atomic for the CPU as well.
#pragma once

// Checked builds keep them out of line: the checkers see one atomic access from the caller's place.
#ifdef CUDAPERF_CHECKED
#define CUDAPERF_ATOMIC inline __attribute__((noinline, no_sanitize("thread")))
#define CUDAPERF_TRACE(address, of_block)                                                                    \
    cudaperf_atomic(address, sizeof *(address), of_block, __builtin_return_address(0))
#define CUDAPERF_UNTRACED __attribute__((always_inline, no_sanitize("thread")))
#else
#define CUDAPERF_ATOMIC inline
#define CUDAPERF_TRACE(address, of_block) ((void)0)
#define CUDAPERF_UNTRACED __attribute__((always_inline))
#endif

namespace cudaperf {

template <size_t> struct Bits;
template <> struct Bits<2> {
    using type = uint16_t;
};
template <> struct Bits<4> {
    using type = uint32_t;
};
template <> struct Bits<8> {
    using type = uint64_t;
};

template <typename T, typename Change> inline CUDAPERF_UNTRACED T change(T *address, Change compute) {
    using Word = typename Bits<sizeof(T)>::type;
    Word before = __atomic_load_n(reinterpret_cast<Word *>(address), __ATOMIC_SEQ_CST), after;
    T old;
    do {
        __builtin_memcpy(&old, &before, sizeof old);
        T changed = compute(old);
        __builtin_memcpy(&after, &changed, sizeof after);
    } while (!__atomic_compare_exchange_n(reinterpret_cast<Word *>(address), &before, after, true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return old;
}

}  // namespace cudaperf

#define CUDAPERF_ATOMIC_SCOPE(name, of_block, type, expression)                                              \
    CUDAPERF_ATOMIC type name(type *address, type value) {                                                   \
        CUDAPERF_TRACE(address, of_block);                                                                   \
        return cudaperf::change(address,                                                                     \
                                [value](type old) CUDAPERF_UNTRACED { return (type)(expression); });         \
    }
#define CUDAPERF_ATOMIC_FUNCTION(name, type, expression)                                                     \
    CUDAPERF_ATOMIC_SCOPE(name, false, type, expression)                                                     \
    CUDAPERF_ATOMIC_SCOPE(name##_block, true, type, expression)                                              \
    CUDAPERF_ATOMIC_SCOPE(name##_system, false, type, expression)

#define CUDAPERF_ATOMIC_INTEGERS(name, expression)                                                           \
    CUDAPERF_ATOMIC_FUNCTION(name, int, expression)                                                          \
    CUDAPERF_ATOMIC_FUNCTION(name, unsigned int, expression)                                                 \
    CUDAPERF_ATOMIC_FUNCTION(name, unsigned long long, expression)

CUDAPERF_ATOMIC_INTEGERS(atomicAdd, old + value)
CUDAPERF_ATOMIC_FUNCTION(atomicAdd, float, old + value)
CUDAPERF_ATOMIC_FUNCTION(atomicAdd, double, old + value)
CUDAPERF_ATOMIC_FUNCTION(atomicSub, int, old - value)
CUDAPERF_ATOMIC_FUNCTION(atomicSub, unsigned int, old - value)
CUDAPERF_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
CUDAPERF_ATOMIC_FUNCTION(atomicMin, long long, value < old ? value : old)
CUDAPERF_ATOMIC_INTEGERS(atomicMax, value > old ? value : old)
CUDAPERF_ATOMIC_FUNCTION(atomicMax, long long, value > old ? value : old)
CUDAPERF_ATOMIC_INTEGERS(atomicExch, ((void)old, value))
CUDAPERF_ATOMIC_FUNCTION(atomicExch, float, ((void)old, value))
CUDAPERF_ATOMIC_INTEGERS(atomicAnd, old &value)
CUDAPERF_ATOMIC_INTEGERS(atomicOr, old | value)
CUDAPERF_ATOMIC_INTEGERS(atomicXor, old ^ value)
CUDAPERF_ATOMIC_FUNCTION(atomicInc, unsigned int, old >= value ? 0 : old + 1)
CUDAPERF_ATOMIC_FUNCTION(atomicDec, unsigned int, old == 0 || old > value ? value : old - 1)

#define CUDAPERF_CAS_SCOPE(name, of_block, type)                                                             \
    CUDAPERF_ATOMIC type name(type *address, type compare, type value) {                                     \
        CUDAPERF_TRACE(address, of_block);                                                                   \
        return cudaperf::change(address,                                                                     \
                                [=](type old) CUDAPERF_UNTRACED { return old == compare ? value : old; });   \
    }
#define CUDAPERF_ATOMIC_CAS(type)                                                                            \
    CUDAPERF_CAS_SCOPE(atomicCAS, false, type)                                                               \
    CUDAPERF_CAS_SCOPE(atomicCAS_block, true, type)                                                          \
    CUDAPERF_CAS_SCOPE(atomicCAS_system, false, type)
CUDAPERF_ATOMIC_CAS(int)
CUDAPERF_ATOMIC_CAS(unsigned int)
CUDAPERF_ATOMIC_CAS(unsigned long long)
CUDAPERF_ATOMIC_CAS(unsigned short)

#undef CUDAPERF_ATOMIC_CAS
#undef CUDAPERF_CAS_SCOPE
#undef CUDAPERF_ATOMIC_INTEGERS
#undef CUDAPERF_ATOMIC_FUNCTION
#undef CUDAPERF_ATOMIC_SCOPE

// The compiler's atomic built-ins. All are as strong as the strongest order.
enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL,
       __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
       __NV_THREAD_SCOPE_SYSTEM };

template <typename T>
CUDAPERF_ATOMIC T __nv_atomic_load_n(T *address, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    CUDAPERF_TRACE(address, scope <= __NV_THREAD_SCOPE_BLOCK);
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);
}
template <typename T>
CUDAPERF_ATOMIC void __nv_atomic_store_n(T *address, T value, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    CUDAPERF_TRACE(address, scope <= __NV_THREAD_SCOPE_BLOCK);
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}
template <typename T>
CUDAPERF_ATOMIC T __nv_atomic_fetch_add(T *address, T value, int, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    CUDAPERF_TRACE(address, scope <= __NV_THREAD_SCOPE_BLOCK);
    return cudaperf::change(address, [value](T old) CUDAPERF_UNTRACED { return static_cast<T>(old + value); });
}
