// The n-th access of each lane at one instruction makes up the warp's n-th request there.
// Global: the 32-byte sectors that a request touches. Shared: its wavefronts, the most words that one of the
// 32 banks must give; accesses of 8 and 16 bytes go by half and quarter warps.
#include "counts.h"
#include "report.h"
#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace cudaperf::checks::counts {

struct Request {
    uint32_t lanes = 0;
    uintptr_t addresses[32];
};

// The unfinished requests of one warp at one instruction; `first` is the number of the front one.
struct Queue {
    uint32_t first = 0;
    std::deque<Request> requests;
};

struct Totals {
    double requests = 0, lanes = 0, sectors = 0, ideal = 0;

    void add(const Totals &other, double scale) {
        requests += scale * other.requests, lanes += scale * other.lanes;
        sectors += scale * other.sectors, ideal += scale * other.ideal;
    }
};

struct Instruction {
    const void *site;
    Access kind;
    Space space;
    size_t size;
    std::vector<uint32_t> passes;  // accesses so far of each thread of the block
    std::vector<Queue> queues;     // a warp each
    Totals launch;
};

struct KernelTotals {
    uint64_t launches = 0, threads = 0, barriers = 0, unique_sectors = 0, block_unique_sectors = 0;
    std::map<std::tuple<const void *, Access, Space, size_t>, Totals> instructions;
};

static std::map<unsigned int, KernelTotals> kernels;
static KernelTotals *kernel;
static const Launch *launch;
static double scale;
static std::vector<Instruction> instructions;
static std::unordered_map<uint64_t, size_t> index_of;

void begin_case() { kernels.clear(); }

void begin_launch(const Launch &started, uint64_t traced_blocks) {
    launch = &started;
    kernel = &kernels[started.index];
    kernel->launches++;
    kernel->threads += started.blocks * started.threads;
    scale = static_cast<double>(started.blocks) / static_cast<double>(std::max<uint64_t>(traced_blocks, 1));
    instructions.clear();
    index_of.clear();
}

void end_launch() {
    for (const Instruction &i : instructions)
        kernel->instructions[{i.site, i.kind, i.space, i.size}].add(i.launch, scale);
}

static void count_global(const Request &request, size_t size, Totals &totals) {
    uintptr_t sectors[32 * 2], starts[32];
    size_t count = 0, lanes = 0;
    for (uint32_t rest = request.lanes; rest; rest &= rest - 1) {
        uintptr_t address = request.addresses[__builtin_ctz(rest)];
        starts[lanes++] = address;
        for (uintptr_t sector = address / 32; sector <= (address + size - 1) / 32 && count < 64; sector++)
            sectors[count++] = sector;
    }
    std::sort(sectors, sectors + count);
    std::sort(starts, starts + lanes);
    totals.sectors += static_cast<double>(std::unique(sectors, sectors + count) - sectors);
    size_t distinct = static_cast<size_t>(std::unique(starts, starts + lanes) - starts);
    totals.ideal += static_cast<double>((distinct * size + 31) / 32);
}

static void count_shared(const Request &request, size_t size, Totals &totals) {
    unsigned int words = static_cast<unsigned int>(std::max<size_t>(1, size / 4)),
                 group = std::max(32 / words, 1u);
    for (unsigned int first = 0; first < 32; first += group) {
        uintptr_t wanted[32 * 4];
        size_t count = 0;
        for (unsigned int lane = first; lane < first + group; lane++)
            if (request.lanes >> lane & 1)
                for (unsigned int word = 0; word < std::min(words, 4u); word++)
                    wanted[count++] = request.addresses[lane] / 4 + word;
        if (!count) continue;
        std::sort(wanted, wanted + count);
        count = static_cast<size_t>(std::unique(wanted, wanted + count) - wanted);
        unsigned int in_bank[32] = {};
        for (size_t i = 0; i < count; i++) in_bank[wanted[i] % 32]++;
        totals.sectors += *std::max_element(in_bank, in_bank + 32);
        totals.ideal += static_cast<double>((count + 31) / 32);
    }
}

static void finish(Instruction &instruction, const Request &request) {
    Totals &totals = instruction.launch;
    totals.requests++;
    totals.lanes += __builtin_popcount(request.lanes);
    if (instruction.space == Space::shared)
        count_shared(request, instruction.size, totals);
    else
        count_global(request, instruction.size, totals);
}

void end_block(bool traced) {
    kernel->barriers += static_cast<uint64_t>(position.barrier_epoch) * launch->threads;
    if (!traced) return;
    for (Instruction &instruction : instructions) {
        for (Queue &queue : instruction.queues) {
            for (const Request &request : queue.requests)
                if (request.lanes) finish(instruction, request);
            queue = {};
        }
        std::fill(instruction.passes.begin(), instruction.passes.end(), 0);
    }
}

static Instruction &instruction_at(size_t size, Access kind, Space space, const void *site) {
    uint64_t key = reinterpret_cast<uint64_t>(site) << 8 | std::min<size_t>(size, 31) << 3 |
                   static_cast<uint64_t>(kind) << 1 | static_cast<uint64_t>(space == Space::shared);
    auto [found, is_new] = index_of.try_emplace(key, instructions.size());
    if (is_new)
        instructions.push_back(
            {site, kind, space, size, std::vector<uint32_t>(1024), std::vector<Queue>(32), {}});
    return instructions[found->second];
}

void note(uintptr_t address, size_t size, Access kind, Space space, const void *site) {
    Instruction &instruction = instruction_at(size, kind, space, site);
    unsigned int warp = position.thread / 32, lane = position.thread % 32;
    Queue &queue = instruction.queues[warp];
    uint32_t place = instruction.passes[position.thread]++ - queue.first;
    while (queue.requests.size() <= place) queue.requests.emplace_back();
    Request &request = queue.requests[place];
    request.lanes |= 1u << lane;
    request.addresses[lane] = address;
    while (!queue.requests.empty() && queue.requests.front().lanes == ~0u) {
        finish(instruction, queue.requests.front());
        queue.requests.pop_front();
        queue.first++;
    }
}

void note_sector(bool first_in_block, bool first_in_launch) {
    kernel->block_unique_sectors += first_in_block;
    kernel->unique_sectors += first_in_launch;
}

void report_case() {
    static const char *const operations[] = {"load", "store", "atomic"};
    for (auto &[index, totals] : kernels) {
        std::string accesses;
        for (auto &[key, t] : totals.instructions) {
            auto &[site, kind, space, size] = key;
            accesses += text(
                R"(%s{"site":%lu,"operation":"%s","space":"%s","bytes":%zu,"requests":%.0f,"lanes":%.0f,)"
                R"("sectors":%.0f,"ideal":%.0f})",
                accesses.empty() ? "" : ",", code_offset(site), operations[static_cast<int>(kind)],
                space == Space::shared ? "shared" : "global", size, t.requests, t.lanes, t.sectors, t.ideal);
        }
        double barriers = static_cast<double>(totals.barriers) / static_cast<double>(totals.threads);
        report(R"({"event":"counts","kernel":%u,"launches":%lu,"threads":%lu,"barriers":%g,)"
               R"("unique":%lu,"block_unique":%lu,"accesses":[%s]})",
               index, totals.launches, totals.threads, barriers, totals.unique_sectors * 32,
               totals.block_unique_sectors * 32, accesses.c_str());
    }
}

}  // namespace cudaperf::checks::counts
