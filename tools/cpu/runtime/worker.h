// One core's state while it runs blocks, or that of a block of a cooperative launch: its fibers, their warps, and the block's shared memory.
#pragma once
#include "context.h"
#include "scheduler.h"
#include <atomic>
#include <setjmp.h>
#include <string>
#include <vector>

namespace cudaperf {

constexpr size_t stack_bytes = 128 << 10, guard_bytes = 16 << 10, arena_bytes = 512 << 10;
constexpr size_t signal_stack_bytes = 64 << 10;

enum class State : uint8_t { fresh, ready, at_barrier, at_named_barrier, at_grid_barrier, in_warp_operation, done };

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

constexpr unsigned int named_barriers = 16;
struct NamedBarrier {
    unsigned int arrived = 0;
    std::vector<Fiber *> waiting;
};

struct Worker {
    std::vector<Fiber> fibers;
    std::vector<Warp> warps;
    std::vector<uint32_t> warp_epochs;
    NamedBarrier named[named_barriers];
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

// What the scheduler's parts share. Each core has the worker that runs on it.
extern thread_local Worker *worker;
extern std::atomic<int> launch_error;
void begin_work(Worker &worker, const Launch &launch, Order order);
// Each guard costs the system two mappings, of which a process has some 65,000.
void make_fibers(Worker &worker, unsigned int threads, bool guarded);
void enter_block(Worker &worker, uint64_t block);
void begin_fibers(Worker &worker);
void resume_block(Worker &worker, uint64_t block);
// Until all threads of the block have ended, or all that live wait for other blocks.
void run_fibers(Worker &worker);
// A bijection on the blocks.
uint64_t reorder(Order order, uint64_t i, uint64_t blocks);
// Leaves the current fiber, in the state it has been given, for the next of its warp or for the scheduler.
void leave();
// The fiber that calls a function that waits.
Fiber &current(int line);
// All blocks at once; returns the static shared memory that a block used.
size_t run_together(const Launch &launch, Order order);

// Ends the case: threads wait for each other in a way that CUDA does not define.
[[noreturn]] void diverged(int line, const std::string &message);

// Finishes a warp operation that all its lanes have reached; false where there is none.
bool try_warp_operation(Worker &worker, size_t warp);

}  // namespace cudaperf
