// Runs launches: blocks over the cores, the threads of a block as fibers or in a loop.
#pragma once
#include "kernel_abi.h"
#include <string>

namespace cudaperf {

enum class Order { forward, reverse, shuffled };

struct Launch {
    const KernelEntry *kernel;
    unsigned int index;
    const unsigned char *arguments;
    dim3 grid, block;
    size_t shared;
    uint64_t blocks;
    unsigned int threads;  // in a block
    bool cooperative;      // all blocks run at once, and may wait for each other
};

// Threads that all multiprocessors of the device hold at once.
constexpr uint64_t resident_threads = 132 * 2048;

constexpr size_t default_shared_limit = 48 << 10, largest_shared_limit = 227 << 10;

// Bytes before a block's shared memory that belong to nothing, so that an underrun hits nothing.
constexpr size_t shared_lead = 4096;

struct Ran {
    size_t static_shared;  // bytes that a block used
    int error;             // the cudaError_t that a thread ended the launch with; 0 for none
};
Ran run(const Launch &launch, Order order, unsigned int workers);

// A failed assertion ends its launch, as on a GPU; else it ends everything.
extern bool assertions_end_launch;

// Who runs at this moment on this core; null outside kernels.
struct Position {
    const Launch *launch;
    uint64_t block;          // linear index in the grid
    unsigned int thread;     // linear index in the block
    uint32_t barrier_epoch;  // barriers passed by the block
    uint32_t *warp_epochs;   // warp operations passed by each warp
};
extern constinit thread_local Position position;

// Where a block runs as one loop, nobody knows which thread is at work.
constexpr unsigned int any_thread = ~0u;

// "thread (3,0,0) of block (1,0,0)"
std::string name_thread(const Launch &launch, uint64_t block, unsigned int thread);

// The address is in the guard page below a fiber's stack.
bool overflows_stack(const void *address);

}  // namespace cudaperf
