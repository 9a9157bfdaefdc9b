// Two accesses of different threads race when one of them writes, not both are strong (atomic or volatile), and
// nothing orders them. What orders: the launch, __syncthreads between threads of a block, any warp function
// between lanes of a warp, and the pattern of __threadfence followed by an atomic or a volatile store on one side
// and an atomic or a volatile load on the other ("last block", locks, flags). Two writes of the same value are let
// pass, and so is a plain read of a word that the same thread then updates with an atomic (the usual start of a
// compare-and-swap loop). Volatile accesses of two lanes of a warp to shared memory do race: that is code which
// trusts that a warp runs in lockstep.
#include "races.h"
#include "report.h"
#include <set>
#include <string.h>
#include <tuple>
#include <vector>

namespace cudaperf::checks::races {

constexpr size_t most_reports = 20;

// Who published what it wrote (a fence, then an atomic), and who has looked (an atomic).
struct Signals {
    bool fenced = false, published = false, acquired = false;
};

static uint32_t serial, first_serial;
static std::vector<Signals> blocks, threads;
static std::vector<uint64_t> block_numbers;  // in the grid, by serial number in the launch
static std::set<std::tuple<const void *, const void *>> reported;

struct Conflict {
    const char *first_action, *second_action;
    Stamp earlier;
    uint64_t block;
    unsigned int thread;
    uintptr_t address;
    const void *site;
    Place place;
};

// A write over another's write, told once the second value is known; at most one is open.
static struct {
    bool open = false;
    Conflict conflict;
    size_t size;
    unsigned char before[16];
} pending_write;

// Plain reads of words that others update atomically; forgiven when the reader does so itself.
static std::vector<Conflict> pending_reads;

static void tell(const Conflict &c) {
    if (reported.size() >= most_reports || !reported.insert({c.site, code_at(c.earlier.site)}).second) return;
    const Launch &launch = *position.launch;
    std::string other = name_thread(launch, block_numbers[c.earlier.block - first_serial], c.earlier.thread);
    report_finding("race", "error", 0, {c.site, code_at(c.earlier.site)},
                   name_thread(launch, c.block, c.thread) + " " + c.second_action + " " + c.place.name +
                       text("+%zu at {0}, and ", c.address - c.place.begin) + other + " " + c.first_action +
                       " it at {1}, with nothing that orders the two");
}

static void settle() {
    if (!pending_write.open) return;
    pending_write.open = false;
    if (memcmp(reinterpret_cast<void *>(pending_write.conflict.address), pending_write.before,
               pending_write.size))
        tell(pending_write.conflict);
}

void begin_launch() {
    first_serial = serial + 1;
    blocks.clear();
    block_numbers.clear();
}

void begin_block(uint32_t new_serial) {
    serial = new_serial;
    blocks.resize(serial - first_serial + 1);
    block_numbers.resize(blocks.size());
    block_numbers.back() = position.block;
    threads.assign(1024, {});
}

void end_block() {
    settle();
    for (const Conflict &conflict : pending_reads) tell(conflict);
    pending_reads.clear();
}

void fence() {
    blocks.back().fenced = true;
    threads[position.thread].fenced = true;
}

static void note_strong(Signals &signals, bool reads, bool writes) {
    signals.acquired |= reads;
    signals.published |= writes && signals.fenced;
}

static bool both_strong(const Stamp &earlier, const Stamp &now, Space space) {
    if (earlier.strength == Strength::weak || now.strength == Strength::weak) return false;
    bool same_block = earlier.block == now.block, same_warp = same_block && earlier.thread / 32 == now.thread / 32;
    if (earlier.strength == Strength::block_atomic || now.strength == Strength::block_atomic) return same_block;
    bool atomic = earlier.strength == Strength::atomic || now.strength == Strength::atomic;
    return atomic || space == Space::global || !same_warp;
}

static bool ordered(const Stamp &earlier, Space space) {
    if (earlier.block == serial) {
        unsigned int warp = position.thread / 32;
        if (earlier.thread == position.thread) return true;
        if (earlier.barrier != static_cast<uint16_t>(position.barrier_epoch)) return true;
        if (earlier.thread / 32 == warp && earlier.warp != static_cast<uint16_t>(position.warp_epochs[warp]))
            return true;
        return threads[earlier.thread].published && threads[position.thread].acquired;
    }
    if (space == Space::shared || earlier.block < first_serial) return true;
    return blocks[earlier.block - first_serial].published && blocks.back().acquired;
}

static void against_write(const Cell &cell, const Stamp &now, const Place &place, uintptr_t address, size_t size,
                          Access kind, const void *site) {
    const Stamp &write = cell.write;
    if (!write.block || !(write.bytes & now.bytes) || both_strong(write, now, place.space) ||
        ordered(write, place.space))
        return;
    bool atomic = write.strength >= Strength::block_atomic;
    Conflict conflict{atomic ? "updates" : "writes",
                      kind == Access::load ? "reads" : "writes",
                      write,
                      position.block,
                      position.thread,
                      address,
                      site,
                      place};
    if (kind == Access::load && atomic)
        pending_reads.push_back(conflict);
    else if (kind == Access::store && !atomic && size <= sizeof pending_write.before) {
        pending_write.open = true;
        pending_write.conflict = conflict;
        pending_write.size = size;
        memcpy(pending_write.before, reinterpret_cast<void *>(address), size);
    } else
        tell(conflict);
}

static void against_reads(Cell &cell, const Stamp &now, const Place &place, uintptr_t address, Access kind,
                          const void *site) {
    for (Stamp &read : cell.reads) {
        if (!read.block || !(read.bytes & now.bytes) || both_strong(read, now, place.space)) continue;
        if (kind == Access::atomic && read.block == serial && read.thread == position.thread)
            read.block = 0;  // the start of a compare-and-swap loop
        else if (!ordered(read, place.space)) {
            tell({"reads", kind == Access::atomic ? "updates" : "writes", read, position.block,
                  position.thread, address, site, place});
            return;
        }
    }
}

static void remember(Cell &cell, const Stamp &now, Access kind) {
    if (kind != Access::load) {
        cell.write = now;
        return;
    }
    Stamp &last = cell.reads[0], &before = cell.reads[1];
    if (last.block == now.block && last.thread == now.thread)
        last = now;
    else if (before.block == now.block && before.thread == now.thread)
        before = now;
    else
        before = last, last = now;
}

void check(const Place &place, uintptr_t address, size_t size, Access kind, Strength strength, const void *site) {
    settle();
    if (strength != Strength::weak) {
        note_strong(blocks.back(), kind != Access::store, kind != Access::load);
        note_strong(threads[position.thread], kind != Access::store, kind != Access::load);
    }
    if (kind == Access::atomic)
        std::erase_if(pending_reads,
                      [&](const Conflict &c) { return c.thread == position.thread && c.address == address; });
    unsigned int warp = position.thread / 32;
    Stamp now{serial,
              static_cast<uint16_t>(position.thread),
              static_cast<uint16_t>(position.barrier_epoch),
              static_cast<uint16_t>(position.warp_epochs[warp]),
              0,
              strength,
              static_cast<uint32_t>(code_offset(site))};
    for (uintptr_t at = address; at < address + size;) {
        size_t offset = at - place.begin, within = offset % 4,
               count = std::min<size_t>(4 - within, address + size - at);
        Cell &cell = place.cells[offset / 4];
        now.bytes = static_cast<uint8_t>(((1u << count) - 1) << within);
        against_write(cell, now, place, address, size, kind, site);
        if (kind != Access::load) against_reads(cell, now, place, address, kind, site);
        remember(cell, now, kind);
        at += count;
    }
}

}  // namespace cudaperf::checks::races
