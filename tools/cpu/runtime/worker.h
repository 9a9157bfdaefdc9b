// One core's state while it runs blocks, or that of a block of a cooperative launch: its fibers, their warps, and the block's shared memory.
#pragma once
#include "context.h"
#include "scheduler.h"
#include <setjmp.h>
#include <string>
#include <vector>

namespace cudaperf {

constexpr size_t stack_bytes = 128 << 10, guard_bytes = 16 << 10, arena_bytes = 512 << 10;
constexpr size_t signal_stack_bytes = 64 << 10;

enum class State : uint8_t { fresh, ready, at_barrier, at_grid_barrier, in_warp_operation, done };

struct Fiber {
    Context context;
    char *stack;
    uint3 thread;
    State state;
    int line;
    BarrierKind barrier;
    int predicate;
    WarpOperation operation;
    unsigned int mask;
    uint64_t value;
    void (*compute)(void *const *);  // of an operation on all lanes' values together
    int lane, width;
};

// One bit a lane.
struct Warp {
    uint32_t members, ready, yielded, waiting, done;
};

struct Worker {
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<uint32_t> warp_epochs;
    std::vector<void *> slots;         // shared variables by id
    std::vector<uint64_t> slot_block;  // the block serial for which a slot is valid
    uint64_t serial = 0;
    Context home;
    Fiber *current = nullptr;
    jmp_buf escape;  // out of a thread or a loop over threads that runs on the core's own stack
    const Launch *launch = nullptr;
    Order order = Order::forward;
    uint64_t random = 1;
    unsigned int live = 0;
    char *arena = nullptr;
    size_t arena_used = 0, static_shared = 0;
    char *signal_stack = nullptr;  // a fiber that overflowed cannot run the signal handler itself
};

// Ends the case: threads wait for each other in a way that CUDA does not define.
[[noreturn]] void diverged(int line, const std::string &message);

// Finishes a warp operation that all its lanes have reached; false where there is none.
bool try_warp_operation(Worker &worker, size_t warp);

}  // namespace cudaperf
