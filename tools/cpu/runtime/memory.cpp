#include "memory.h"
#include "abi.h"
#include "checks.h"
#include "report.h"
#include <map>
#include <mutex>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0  // the address is then a hint, and checked
#endif

namespace cudaperf {

constexpr int success = 0, invalid_value = 1, out_of_memory = 2;
constexpr size_t page = 64 << 10;

uint64_t memory_version = 1;
static volatile int32_t nowhere;
volatile int32_t *running_kernel = &nowhere;
static std::map<uintptr_t, Allocation> allocations;
static uintptr_t heap_top = heap_begin;
static uint32_t next_id = 0, next_heap_number = 1;

static size_t whole_pages(size_t size) { return (size + page - 1) / page * page; }

static bool map_at(uintptr_t address, size_t size, int flags, int descriptor) {
    void *wanted = reinterpret_cast<void *>(address);
    return mmap(wanted, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, descriptor, 0) == wanted;
}

void map_buffers(int descriptor, size_t size) {
    if (!map_at(device_begin, size, MAP_SHARED, descriptor)) fail("out-of-memory");
    running_kernel = reinterpret_cast<volatile int32_t *>(device_begin);
    *running_kernel = -1;
}

void add_allocation(uintptr_t begin, size_t size, const std::string &name, bool constant) {
    allocations[begin] = {begin, size, name, next_id++, constant};
    memory_version++;
}

void *map_notes(size_t bytes) {
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? nullptr : p;
}

int allocate(size_t size, uint64_t *address, bool poisoned, bool watched) {
    *address = 0;
    if (!size) return success;
    if (size > heap_begin - device_begin) return out_of_memory;
    size_t bytes = whole_pages(size);
    if (heap_top + bytes + page > device_end || !map_at(heap_top, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1))
        return out_of_memory;
    *address = heap_top;
    if (poisoned) memset(reinterpret_cast<void *>(heap_top), 0xff, size);
    add_allocation(heap_top, size, "cudaMalloc #" + std::to_string(next_heap_number++));
    if (watched && !(allocations[heap_top].written = static_cast<unsigned char *>(map_notes(bytes))))
        return release(heap_top), out_of_memory;
    heap_top += bytes + page;  // an unmapped page behind each allocation
    return success;
}

static bool shares;

bool map_shared(int descriptor) {
    return shares = map_at(shared_begin, shared_end - shared_begin, MAP_SHARED | MAP_NORESERVE, descriptor);
}

int allocate_shared(size_t size, uint64_t *address) {
    *address = 0;
    if (!size) return success;
    if (!shares) return out_of_memory;
    // The first gap that is large enough.
    uintptr_t begin = shared_begin;
    for (auto next = allocations.lower_bound(begin); next != allocations.end(); ++next) {
        if (next->first - begin >= whole_pages(size) + page) break;
        begin = next->first + whole_pages(next->second.size) + page;
    }
    if (begin >= shared_end || size > shared_end - begin) return out_of_memory;
    *address = begin;
    add_allocation(begin, size, "shared memory #" + std::to_string(next_heap_number++));
    return success;
}

// Each variable has its own part of the shared memory.
extern "C" void *cudaperf_managed(int index, size_t size) {
    constexpr size_t stride = 64 << 20;
    uintptr_t begin = shared_begin + static_cast<size_t>(index) * stride;
    return size <= stride && begin + size <= shared_end ? reinterpret_cast<void *>(begin) : nullptr;
}

int release(uintptr_t address) {
    auto found = allocations.find(address);
    if (address < heap_begin || found == allocations.end()) return invalid_value;
    void *memory = reinterpret_cast<void *>(address);
#ifdef MADV_REMOVE
    if (is_shared(memory)) madvise(memory, whole_pages(found->second.size), MADV_REMOVE);
#endif
    if (!is_shared(memory)) munmap(memory, whole_pages(found->second.size));
    if (found->second.written) munmap(found->second.written, whole_pages(found->second.size));
    allocations.erase(found);
    memory_version++;
    return success;
}

// Threads allocate much and often: the heap of the process serves them, unless checkers must know each allocation.
static std::mutex device_heap;

extern "C" void *cudaperf_malloc(size_t size) {
    if (!checks::active) return malloc(size);
    std::lock_guard<std::mutex> lock(device_heap);
    uint64_t address;
    return allocate(size, &address, true, checks::options.uninitialized) ? nullptr : reinterpret_cast<void *>(address);
}

extern "C" void cudaperf_free(void *address) {
    if (!checks::active) return free(address);
    std::lock_guard<std::mutex> lock(device_heap);
    if (address && release(reinterpret_cast<uintptr_t>(address)))
        report_finding("api-error", "error", 0, {__builtin_return_address(0)},
                       "free of an address that no thread allocated, or freed twice, at {0}");
}

void forget_buffers() {
    allocations.erase(allocations.lower_bound(device_begin), allocations.lower_bound(heap_begin));
    memory_version++;
}

const Allocation *nearest_allocation(uintptr_t address) {
    auto above = allocations.upper_bound(address);
    if (above != allocations.begin()) return &std::prev(above)->second;
    return above == allocations.end() ? nullptr : &above->second;
}

bool inside_allocation(uintptr_t address, size_t size) {
    const Allocation *a = nearest_allocation(address);
    return a && address >= a->begin && size <= a->size && address - a->begin <= a->size - size;
}

void note_written(uintptr_t address, size_t size) {
    const Allocation *a = nearest_allocation(address);
    if (a && a->written) memset(a->written + (address - a->begin), 1, size);
}

void note_copied(uintptr_t to, uintptr_t from, size_t size) {
    const Allocation *target = nearest_allocation(to), *source = nearest_allocation(from);
    if (source && source->written && target && target->written)
        memmove(target->written + (to - target->begin), source->written + (from - source->begin), size);
    else
        note_written(to, size);
}

std::vector<const Allocation *> all_allocations() {
    std::vector<const Allocation *> all;
    for (auto &[begin, allocation] : allocations) all.push_back(&allocation);
    return all;
}

}  // namespace cudaperf
