// What checked builds look for while kernels run: bounds, races, and counts of memory transactions.
// Compilers call `__tsan_*` before each access of a checked build; those calls end in `access`.
// A launch with checks runs on one core, one block after the other.
#pragma once
#include "memory.h"
#include "scheduler.h"

namespace cudaperf::checks {

struct Options {
    bool bounds = false, races = false, uninitialized = false;
    bool barriers = false;  // the threads of a block must meet at one barrier of the source
    uint64_t trace_blocks = 0;
};
extern Options options;
extern bool active;

enum class Access : uint8_t { load, store, atomic };
enum class Space : uint8_t { global, shared, constant };

// How an access stands to others at the same time. In the words of CUDA's memory model all but the first are strong:
// they do not race with each other. A block's atomics are strong among its own threads only.
enum class Strength : uint8_t { weak, is_volatile, block_atomic, atomic };

// The range of the device's variables, where the library knows it: what lies in it and in no variable is nobody's.
void set_variables(const unsigned char *const *range);
void begin_case(const Options &chosen);
void end_case();
void begin_launch(const Launch &launch);
void end_launch();
void begin_traced_block(char *arena, size_t arena_bytes, size_t dynamic_bytes);
void end_traced_block();
void add_shared(const void *begin, size_t size, const char *name);
void exited_before_barrier(int line, unsigned int threads);
void access(uintptr_t address, size_t size, Access kind, Strength strength, const void *site);

inline void begin_block(char *arena, size_t arena_bytes, size_t dynamic_bytes) {
    if (active) begin_traced_block(arena, arena_bytes, dynamic_bytes);
}
inline void end_block() {
    if (active) end_traced_block();
}
inline void declare_shared(const void *begin, size_t size, const char *name) {
    if (active) add_shared(begin, size, name);
}
// Bytes left free between shared variables, so that an overrun hits nothing.
inline size_t shared_gap() { return active ? 128 : 0; }

}  // namespace cudaperf::checks
