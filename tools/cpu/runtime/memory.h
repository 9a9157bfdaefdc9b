// The device's memory: the buffers of a case in a file shared with the tool, and a heap for cudaMalloc.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string>
#include <vector>

namespace cudaperf {

struct Allocation {
    uintptr_t begin;
    size_t size;
    std::string name;
    uint32_t id;
    bool constant;  // a __constant__ variable
    unsigned char *written = nullptr;  // one for each byte that has been written; null: all of them

    uintptr_t end() const { return begin + size; }
};

// Maps the tool's file at `device_begin`. Its first page is no buffer: it tells the tool what is running.
void map_buffers(int descriptor, size_t size);
void add_allocation(uintptr_t begin, size_t size, const std::string &name, bool constant = false);

// Both return a cudaError_t. Fresh memory is zero, as a GPU's mostly is; `poisoned`, it is filled with 0xff: NaN for
// floats, so that reading it shows. With `watched` it is also remembered which bytes have been written since.
int allocate(size_t size, uint64_t *address, bool poisoned, bool watched);

// The same in the memory that host and device share, for programs only: `map_shared` first, in both processes.
bool map_shared(int descriptor);
int allocate_shared(size_t size, uint64_t *address);
int release(uintptr_t address);

// Forgets the buffers of a case. What cudaMalloc gave stays, as on a GPU: a launcher may keep it between
// calls.
void forget_buffers();

// The allocation that holds the address, or the nearest below or else above it; null where there is none.
const Allocation *nearest_allocation(uintptr_t address);
bool inside_allocation(uintptr_t address, size_t size);

// The host wrote or copied inside allocations.
void note_written(uintptr_t address, size_t size);
void note_copied(uintptr_t to, uintptr_t from, size_t size);

// Zeroed memory for the checkers' own notes; null where there is none left. Shared mappings, since the limit on
// memory is the candidate's and counts private ones only.
void *map_notes(size_t bytes);

std::vector<const Allocation *> all_allocations();

// The kernel that runs at this moment, or -1; in the tool's file where there is one.
extern volatile int32_t *running_kernel;

// Grows with every change of the allocations.
extern uint64_t memory_version;

}  // namespace cudaperf
