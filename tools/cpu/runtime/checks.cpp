#include "checks.h"
#include "abi.h"
#include "counts.h"
#include "operations.h"
#include "races.h"
#include "report.h"
#include "typed_checks.h"
#include <algorithm>
#include <map>
#include <set>
#include <string.h>
#include <sys/mman.h>
#include <vector>

namespace cudaperf::checks {

Options options;
bool active = false;

// A live allocation or device variable, with what the detectors remember of it.
struct Region {
    Allocation allocation;
    Space space = Space::global;
    Cell *cells = nullptr;
    uint32_t *sectors = nullptr;  // the last block that touched each sector

    size_t cell_bytes() const { return (allocation.size / 4 + 2) * sizeof(Cell); }
    size_t sector_bytes() const { return (allocation.size / 32 + 2) * sizeof(uint32_t); }
    void release() const {
        if (cells) munmap(cells, cell_bytes());
        if (sectors) munmap(sectors, sector_bytes());
    }
};

struct SharedVariable {
    uintptr_t begin;
    size_t size;
    const char *name;
};

static std::map<uint32_t, Region> regions;  // by allocation
static std::vector<Region *> sorted;        // by address
static uint64_t known_version;
static Region *last_region;
static uint32_t serial, first_serial;
static bool traced;
static std::vector<SharedVariable> shared_variables;
static uintptr_t arena_begin, arena_end;
static std::vector<Cell> arena_cells;
static std::vector<unsigned char> arena_written;  // one for each byte of the arena
static std::set<const void *> out_of_bounds_sites, uninitialized_sites;
static std::set<std::pair<unsigned int, int>> early_exits;

static uintptr_t variables_begin, variables_end;

void set_variables(const unsigned char *const *range) {
    if (!range) return;
    variables_begin = reinterpret_cast<uintptr_t>(range[0]);
    variables_end = reinterpret_cast<uintptr_t>(range[1]);
}

void begin_case(const Options &chosen) {
    options = chosen;
    active = chosen.bounds || chosen.races || chosen.uninitialized || chosen.trace_blocks;
    for (auto &[id, region] : regions) region.release();
    regions.clear();
    known_version = 0;
    out_of_bounds_sites.clear();
    uninitialized_sites.clear();
    typed::begin_case();
    early_exits.clear();
    counts::begin_case();
    operations::begin_case();
}

void end_case() {
    if (!options.trace_blocks) return;
    operations::report_case();  // first: the counts take them in
    counts::report_case();
}

template <typename T> static T *zeroed(size_t bytes) {
    void *p = map_notes(bytes);
    if (!p) {
        report_finding("out-of-memory", "error", 0, {},
                       "the checkers have no memory left to watch this case");
        fail("out-of-memory");
    }
    return static_cast<T *>(p);
}

static void follow_memory() {
    if (known_version == memory_version) return;
    known_version = memory_version;
    std::set<uint32_t> live;
    for (const Allocation *a : all_allocations()) {
        live.insert(a->id);
        if (regions.count(a->id)) continue;
        Region region{*a, a->constant ? Space::constant : Space::global};
        if (options.races) region.cells = zeroed<Cell>(region.cell_bytes());
        if (options.trace_blocks) region.sectors = zeroed<uint32_t>(region.sector_bytes());
        regions.emplace(a->id, region);
    }
    for (auto i = regions.begin(); i != regions.end();)
        if (live.count(i->first))
            ++i;
        else
            i->second.release(), i = regions.erase(i);
    sorted.clear();
    for (auto &[id, region] : regions) sorted.push_back(&region);
    std::sort(sorted.begin(), sorted.end(),
              [](Region *a, Region *b) { return a->allocation.begin < b->allocation.begin; });
    last_region = sorted.empty() ? nullptr : sorted.front();
}

void begin_launch(const Launch &launch) {
    follow_memory();
    first_serial = serial + 1;
    if (options.races) races::begin_launch();
    if (!options.trace_blocks) return;
    counts::begin_launch(launch, std::min(options.trace_blocks, launch.blocks));
    operations::begin_launch(launch, std::min(options.trace_blocks, launch.blocks));
}

void end_launch() {
    if (!options.trace_blocks) return;
    counts::end_launch();
    operations::end_launch();
}

// The traced blocks lie evenly spread over the grid.
static bool is_traced(uint64_t block, uint64_t blocks) {
    uint64_t wanted = std::min(options.trace_blocks, blocks);
    return wanted && (block == 0 || block * wanted / blocks != (block - 1) * wanted / blocks);
}

void begin_traced_block(char *arena, size_t arena_bytes, size_t dynamic_bytes) {
    serial++;
    traced = is_traced(position.block, position.launch->blocks);
    operations::begin_block(traced);
    arena_begin = reinterpret_cast<uintptr_t>(arena) - shared_lead;
    arena_end = reinterpret_cast<uintptr_t>(arena) + arena_bytes;
    shared_variables.clear();
    if (options.uninitialized) arena_written.resize(arena_end - arena_begin);
    if (dynamic_bytes) add_shared(arena, dynamic_bytes, "dynamic shared memory");
    if (!options.races) return;
    arena_cells.resize((arena_end - arena_begin) / 4);
    races::begin_block(serial);
}

void end_traced_block() {
    if (options.races) races::end_block();
    operations::end_block();
    if (options.trace_blocks) counts::end_block(traced);
}

void add_shared(const void *begin, size_t size, const char *name) {
    uintptr_t address = reinterpret_cast<uintptr_t>(begin);
    shared_variables.push_back({address, size, name});
    if (options.uninitialized) memset(&arena_written[address - arena_begin], 0, size);
}

void exited_before_barrier(int line, unsigned int threads) {
    if (!early_exits.insert({position.launch->index, line}).second) return;
    report_finding(
        "exit-before-barrier", "warning", line, {},
        text("%u threads of a block had returned before the barrier of line %d: hardware tolerates it, the "
             "programming guide does not",
             threads, line));
}

static const char *verb(Access kind) {
    return kind == Access::load ? "reads" : kind == Access::store ? "writes" : "updates";
}

static void out_of_bounds(uintptr_t address, size_t size, Access kind, const void *site,
                          const std::string &where) {
    (void)address;
    if (!options.bounds || out_of_bounds_sites.size() > 20 || !out_of_bounds_sites.insert(site).second)
        return;
    report_finding("out-of-bounds", "error", 0, {site},
                   name_thread(*position.launch, position.block, position.thread) +
                       text(" %s %zu bytes %s at {0}", verb(kind), size, where.c_str()));
}

// Aggregates are copied with their padding, which is never written: they count as read where no byte was.
static void follow_writes(unsigned char *written, uintptr_t address, size_t size, Access kind, const void *site,
                          const char *name, uintptr_t begin) {
    if (kind != Access::store) {
        bool aggregate = size > 16 || size & (size - 1);
        bool fresh = aggregate ? !memchr(written, 1, size) : memchr(written, 0, size) != nullptr;
        if (fresh && uninitialized_sites.size() < 20 && uninitialized_sites.insert(site).second)
            report_finding("uninitialized-read", "error", 0, {site},
                           name_thread(*position.launch, position.block, position.thread) +
                               text(" %s %zu bytes of %s+%zu at {0}, which nothing has written", verb(kind), size,
                                    name, address - begin));
    }
    if (kind != Access::load) memset(written, 1, size);
}

static void access_shared(uintptr_t address, size_t size, Access kind, Strength strength, const void *site) {
    const SharedVariable *nearest = nullptr;
    for (const SharedVariable &v : shared_variables) {
        if (address >= v.begin && address + size <= v.begin + v.size) {
            if (traced) counts::note(address, size, kind, Space::shared, site);
            if (options.uninitialized)
                follow_writes(&arena_written[address - arena_begin], address, size, kind, site, v.name, v.begin);
            if (options.races)
                races::check({v.begin, v.name, Space::shared, &arena_cells[(v.begin - arena_begin) / 4]},
                             address, size, kind, strength, site);
            return;
        }
        if (address >= v.begin && (!nearest || v.begin > nearest->begin)) nearest = &v;
    }
    out_of_bounds(address, size, kind, site,
                  nearest ? text("of shared memory %zu bytes past the start of %s (%zu bytes)",
                                 address - nearest->begin, nearest->name, nearest->size)
                          : "of shared memory outside every __shared__ variable");
}

static std::string beside(uintptr_t address) {
    const Region *nearest = nullptr;
    for (const Region *r : sorted)
        if (!nearest || r->allocation.begin <= address) nearest = r;
    if (!nearest) return "outside every buffer";
    const Allocation &a = nearest->allocation;
    if (address < a.begin)
        return text("%zu bytes before %s (%zu bytes)", a.begin - address, a.name.c_str(), a.size);
    if (address < a.end()) return text("across the end of %s (%zu bytes)", a.name.c_str(), a.size);
    return text("%zu bytes past the end of %s (%zu bytes)", address - a.end(), a.name.c_str(), a.size);
}

static Region *region_of(uintptr_t address, size_t size) {
    auto inside = [&](const Region &r) {
        return address >= r.allocation.begin && address + size <= r.allocation.end();
    };
    follow_memory();  // threads may have allocated
    if (last_region && inside(*last_region)) return last_region;
    auto above = std::upper_bound(sorted.begin(), sorted.end(), address,
                                  [](uintptr_t a, Region *r) { return a < r->allocation.begin; });
    if (above == sorted.begin() || !inside(**(above - 1))) return nullptr;
    return last_region = *(above - 1);
}

void access(uintptr_t address, size_t size, Access kind, Strength strength, const void *site) {
    if (!active || !position.launch) return;
    if (address >= arena_begin && address < arena_end)
        return access_shared(address, size, kind, strength, site);
    Region *region = region_of(address, size);
    if (!region) {  // outside the device's range it is a thread's own stack, or faults by itself
        bool beside_variables = address >= variables_begin && address < variables_end;
        if (is_device(reinterpret_cast<void *>(address)) || beside_variables)
            out_of_bounds(address, size, kind, site, beside(address));
        return;
    }
    uintptr_t begin = region->allocation.begin;
    if (options.trace_blocks && region->space == Space::global) {
        for (size_t sector = (address - begin) / 32; sector <= (address + size - 1 - begin) / 32; sector++) {
            uint32_t before = region->sectors[sector];
            if (before != serial) counts::note_sector(true, before < first_serial);
            region->sectors[sector] = serial;
        }
        if (traced) counts::note(address, size, kind, Space::global, site);
    }
    if (region->allocation.written)
        follow_writes(region->allocation.written + (address - begin), address, size, kind, site,
                      region->allocation.name.c_str(), begin);
    if (options.races)
        races::check({begin, region->allocation.name.c_str(), region->space, region->cells}, address, size,
                     kind, strength, site);
}

}  // namespace cudaperf::checks

using namespace cudaperf;
using namespace cudaperf::checks;

#define SITE __builtin_return_address(0)
#define HOOK(name, n, kind, strength)                                                                        \
    void __tsan_##name##n(void *p) {                                                                         \
        access(reinterpret_cast<uintptr_t>(p), n, Access::kind, Strength::strength, SITE);                   \
    }
#define HOOKS(n)                                                                                             \
    HOOK(read, n, load, weak)                                                                                \
    HOOK(write, n, store, weak)                                                                              \
    HOOK(unaligned_read, n, load, weak)                                                                      \
    HOOK(unaligned_write, n, store, weak)                                                                    \
    HOOK(volatile_read, n, load, is_volatile)                                                                \
    HOOK(volatile_write, n, store, is_volatile)                                                              \
    HOOK(unaligned_volatile_read, n, load, is_volatile)                                                      \
    HOOK(unaligned_volatile_write, n, store, is_volatile)                                                    \
    void __tsan_read_write##n(void *p) {                                                                     \
        access(reinterpret_cast<uintptr_t>(p), n, Access::load, Strength::weak, SITE);                       \
        access(reinterpret_cast<uintptr_t>(p), n, Access::store, Strength::weak, SITE);                      \
    }

extern "C" {
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *p, size_t n) {
    access(reinterpret_cast<uintptr_t>(p), n, Access::load, Strength::weak, SITE);
}
void __tsan_write_range(void *p, size_t n) {
    access(reinterpret_cast<uintptr_t>(p), n, Access::store, Strength::weak, SITE);
}
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void *) {}
void __tsan_vptr_update(void *, void *) {}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

void cudaperf_atomic(const volatile void *address, unsigned int size, bool of_block, const void *site) {
    access(reinterpret_cast<uintptr_t>(address), size, Access::atomic,
           of_block ? Strength::block_atomic : Strength::atomic, site);
}

// Engine B's accesses: it knows each one's width and strength from the instruction.
void cudaperf_access(const void *address, unsigned int size, int kind, int strength) {
    uintptr_t place = reinterpret_cast<uintptr_t>(address);
    if (active && options.bounds && place & (size - 1) && !(size & (size - 1)) && position.launch &&
        out_of_bounds_sites.insert(SITE).second)
        report_finding("misaligned-access", "error", 0, {SITE},
                       name_thread(*position.launch, position.block, position.thread) +
                           text(" accesses %u bytes at {0} at an address that is no multiple of that", size));
    access(place, size, static_cast<Access>(kind), static_cast<Strength>(strength), SITE);
}

void cudaperf_fence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (active && options.races && position.launch) races::fence();
}
}
