// What compiled kernels and the scheduler know of each other.
#pragma once
#include "types.h"

namespace cudaperf {

using RunThread = void (*)(const unsigned char *arguments, uint3 thread, uint3 block, dim3 block_size,
                           dim3 grid);
// False, before anything had an effect: this block must be run thread by thread.
using RunBlock = bool (*)(const unsigned char *arguments, uint3 block, dim3 block_size, dim3 grid);

// Where an argument of a kernel lies in its packed arguments.
struct Argument {
    uint16_t offset, size;
};

// A kernel as the scheduler runs it: one thread at a time or, where `block` is given, a whole block in a
// loop. `waits` tells that its threads may wait for each other.
struct KernelEntry {
    const char *name;
    size_t argument_bytes;
    const Argument *arguments;
    unsigned int argument_count;
    bool waits;
    RunThread thread;
    RunBlock block;
};

// A __device__ or __constant__ variable.
struct Symbol {
    const char *name;
    void *address;
    size_t size;
    bool constant;
};

// A __shared__ variable: one slot for each instantiation; its memory comes from the running block's arena.
struct Shared {
    const char *name;
    unsigned int size, alignment, id;
};

enum class WarpOperation : int {
    active_mask,
    sync,
    together,
    shuffle,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    ballot,
    any,
    all,
    uniform,
    match_any,
    match_all,
    add,
    minimum,
    maximum,
    signed_minimum,
    signed_maximum,
    bit_and,
    bit_or,
    bit_xor,
};

enum class BarrierKind : int { plain, any, all, count };

}  // namespace cudaperf

extern "C" {
void *cudaperf_shared(cudaperf::Shared *slot);
void *cudaperf_dynamic_shared();
void cudaperf_named_barrier(unsigned int number, unsigned int threads, bool waits, int line);
int cudaperf_barrier(cudaperf::BarrierKind kind, int predicate, int line);
uint64_t cudaperf_warp(cudaperf::WarpOperation operation, unsigned int mask, uint64_t value, int lane,
                       int width, int line);
void cudaperf_together(void (*compute)(void *const *), void *mine, int line);
unsigned int cudaperf_active_mask(int line);
int cudaperf_is_cooperative();
void cudaperf_grid_barrier(int line);
unsigned int cudaperf_lane();
void cudaperf_atomic(const volatile void *address, unsigned int size, bool of_block, const void *site);
__attribute__((format(printf, 1, 2))) int cudaperf_printf(const char *format, ...);
int cudaperf_vprintf(const char *format, const unsigned char *arguments);
[[noreturn]] void cudaperf_assert(const char *condition, int line);
uint64_t cudaperf_clock();
unsigned int cudaperf_thread();
void cudaperf_whole_barrier();
void cudaperf_enter_thread(unsigned int thread);
void cudaperf_fence();
void *cudaperf_malloc(size_t size);
void cudaperf_free(void *address);
void cudaperf_yield();
[[noreturn]] void cudaperf_trap(const char *message, int line);
}
