#include "worker.h"
#include "checks.h"
#include "report.h"
#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <thread>
#include <time.h>

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

namespace cudaperf {

constinit thread_local Position position;

thread_local Worker *worker;
static std::vector<std::unique_ptr<Worker>> workers;
static std::mutex slot_mutex;
static unsigned int slot_count = 1;
std::atomic<int> launch_error;
bool assertions_end_launch = false;

static char *map(size_t bytes) {
    void *p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) fail("out-of-memory");
    return static_cast<char *>(p);
}

std::string name_thread(const Launch &launch, uint64_t block, unsigned int thread) {
    const dim3 &b = launch.block, &g = launch.grid;
    std::string which = "a thread";
    if (thread != any_thread)
        which = text("thread (%u,%u,%u)", thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
    return which + text(" of block (%u,%u,%u)", static_cast<unsigned int>(block % g.x),
                        static_cast<unsigned int>(block / g.x % g.y),
                        static_cast<unsigned int>(block / g.x / g.y));
}

static std::string name_fiber(const Worker &w, const Fiber &fiber) {
    return name_thread(*w.launch, position.block, static_cast<unsigned int>(&fiber - w.fibers.data()));
}

bool overflows_stack(const void *address) {
    if (!worker) return false;
    for (const Fiber &fiber : worker->fibers)
        if (address >= fiber.stack && address < fiber.stack + guard_bytes) return true;
    return false;
}

static uint64_t draw(Worker &w, uint64_t below) {
    w.random ^= w.random << 13, w.random ^= w.random >> 7, w.random ^= w.random << 17;
    return w.random % below;
}

static unsigned int pick_lane(Worker &w, uint32_t mask) {
    if (w.order == Order::forward) return static_cast<unsigned int>(__builtin_ctz(mask));
    if (w.order == Order::reverse) return 31u - static_cast<unsigned int>(__builtin_clz(mask));
    for (uint64_t skip = draw(w, static_cast<uint64_t>(__builtin_popcount(mask))); skip; skip--)
        mask &= mask - 1;
    return static_cast<unsigned int>(__builtin_ctz(mask));
}

static void fiber_main();

// Takes a ready lane of the warp and makes it the current fiber.
static Fiber &take_ready(Worker &w, size_t warp) {
    unsigned int lane = pick_lane(w, w.warps[warp].ready),
                 thread = static_cast<unsigned int>(warp) * 32 + lane;
    Fiber &fiber = w.fibers[thread];
    w.warps[warp].ready &= ~(1u << lane);
    if (fiber.state == State::fresh) {
        size_t color = thread % 64 * 128;  // stacks that start at one cache set would evict each other
        prepare(fiber.context, fiber.stack + guard_bytes, fiber.stack + guard_bytes + stack_bytes - color,
                fiber_main);
    }
    fiber.state = State::ready;
    w.current = &fiber;
    position.thread = thread;
    threadIdx = fiber.thread;
    return fiber;
}

void leave() {
    Worker &w = *worker;
    Fiber &self = *w.current;
    size_t thread = static_cast<size_t>(&self - w.fibers.data());
    Warp &warp = w.warps[thread / 32];
    uint32_t bit = 1u << thread % 32;
    if (self.state == State::done) warp.done |= bit, w.live--;
    if (self.state == State::in_warp_operation) warp.waiting |= bit;
    if (self.state == State::ready) warp.yielded |= bit;
    if (warp.ready)
        switch_context(self.context, take_ready(w, thread / 32).context);
    else
        switch_context(self.context, w.home);
}

static void fiber_main() {
    Worker &w = *worker;
    const Launch &launch = *w.launch;
    launch.kernel->thread(launch.arguments, w.current->thread, blockIdx, launch.block, launch.grid);
    w.current->state = State::done;
    leave();
    __builtin_trap();
}

void diverged(int line, const std::string &message) {
    report_finding("barrier-divergence", "error", line, {}, message);
    fail("barrier-divergence");
}

// Nobody can run: the block stands at a barrier, or it is stuck.
static void release_barrier(Worker &w) {
    unsigned int threads = w.launch->threads;
    Fiber *first = nullptr;
    int count = 0, arrived = 0;
    for (unsigned int i = 0; i < threads; i++)
        if (w.fibers[i].state == State::at_grid_barrier)
            diverged(w.fibers[i].line, name_fiber(w, w.fibers[i]) + " waits for the grid while others of its block do not");
        else if (w.fibers[i].state == State::at_barrier) {
            if (!first) first = &w.fibers[i];
            count += w.fibers[i].predicate != 0;
            arrived++;
        }
    for (unsigned int i = 0; i < threads; i++) {
        Fiber &fiber = w.fibers[i];
        if (fiber.state == State::at_named_barrier)
            diverged(fiber.line, name_fiber(w, fiber) +
                                     text(" waits at the barrier of line %d for threads that never come", fiber.line));
        if (fiber.state == State::in_warp_operation)
            diverged(
                fiber.line,
                name_fiber(w, fiber) +
                    text(" waits in the warp function of line %d for lanes that never come", fiber.line) +
                    (first ? text(": others wait at the barrier of line %d", first->line) : ""));
        if (fiber.state == State::at_barrier && (fiber.barrier != first->barrier ||
                                                 (checks::options.barriers && fiber.line != first->line)))
            diverged(fiber.line,
                     name_fiber(w, fiber) + text(" waits at the barrier of line %d while ", fiber.line) +
                         name_fiber(w, *first) + text(" waits at the barrier of line %d", first->line));
    }
    if (arrived < static_cast<int>(threads))
        checks::exited_before_barrier(first->line, threads - static_cast<unsigned int>(arrived));
    for (unsigned int i = 0; i < threads; i++) {
        Fiber &fiber = w.fibers[i];
        if (fiber.state != State::at_barrier) continue;
        switch (fiber.barrier) {
        case BarrierKind::plain: break;
        case BarrierKind::any: fiber.predicate = count > 0; break;
        case BarrierKind::all: fiber.predicate = count == arrived; break;
        case BarrierKind::count: fiber.predicate = count; break;
        }
        fiber.state = State::ready;
        w.warps[i / 32].ready |= 1u << i % 32;
    }
    position.barrier_epoch++;
}

void make_fibers(Worker &w, unsigned int threads, bool guarded) {
    size_t before = w.fibers.size();
    if (before >= threads) return;
    w.fibers.resize((threads + 31) / 32 * 32);
    size_t stride = stack_bytes + guard_bytes;
    char *stacks = map((w.fibers.size() - before) * stride);
    for (size_t i = before; i < w.fibers.size(); i++) {
        w.fibers[i].stack = stacks + (i - before) * stride;
        if (guarded) mprotect(w.fibers[i].stack, guard_bytes, PROT_NONE);
    }
}

void begin_fibers(Worker &w) {
    const Launch &launch = *w.launch;
    size_t warps = (launch.threads + 31) / 32;
    unsigned int i = 0;
    for (unsigned int z = 0; z < launch.block.z; z++)
        for (unsigned int y = 0; y < launch.block.y; y++)
            for (unsigned int x = 0; x < launch.block.x; x++, i++) {
                w.fibers[i].thread = {x, y, z};
                w.fibers[i].state = State::fresh;
            }
    for (size_t warp = 0; warp < warps; warp++) {
        unsigned int lanes = std::min(32u, launch.threads - static_cast<unsigned int>(warp) * 32);
        uint32_t members = lanes == 32 ? ~0u : (1u << lanes) - 1;
        w.warps[warp] = {members, members, 0, 0, 0};
    }
    for (NamedBarrier &barrier : w.named) barrier = {};
    w.live = launch.threads;
}

static bool all_wait_for_grid(const Worker &w) {
    auto waits = [](const Fiber &fiber) { return fiber.state == State::at_grid_barrier; };
    return std::count_if(w.fibers.begin(), w.fibers.begin() + w.launch->threads, waits) == w.live;
}

void run_fibers(Worker &w) {
    size_t warps = (w.launch->threads + 31) / 32;
    std::vector<size_t> sequence(warps);
    for (size_t warp = 0; warp < warps; warp++) sequence[warp] = w.order == Order::reverse ? warps - 1 - warp : warp;
    while (w.live) {
        bool progress = false;
        if (w.order == Order::shuffled)
            for (size_t last = warps; last > 1; last--)
                std::swap(sequence[last - 1], sequence[draw(w, last)]);
        for (size_t index : sequence) {
            Warp &warp = w.warps[index];
            do
                while (warp.ready) {
                    switch_context(w.home, take_ready(w, index).context);
                    progress = true;
                }
            while (warp.waiting && try_warp_operation(w, index));
            warp.ready = warp.yielded;
            progress |= warp.yielded != 0;
            warp.yielded = 0;
        }
        if (w.live && !progress) {
            if (w.launch->cooperative && all_wait_for_grid(w)) break;
            release_barrier(w);
        }
    }
    w.current = nullptr;
}

// A function of its own, since what setjmp's caller holds in registers is lost where the thread is stopped.
__attribute__((noinline)) static void run_thread(Worker &w) {
    const Launch &launch = *w.launch;
    if (!setjmp(w.escape)) launch.kernel->thread(launch.arguments, threadIdx, blockIdx, launch.block, launch.grid);
}

// Threads that never wait for each other, one after the other.
static void run_threads(Worker &w) {
    const Launch &launch = *w.launch;
    std::vector<unsigned int> sequence(launch.threads);
    for (unsigned int i = 0; i < launch.threads; i++)
        sequence[i] = w.order == Order::reverse ? launch.threads - 1 - i : i;
    if (w.order == Order::shuffled)
        for (unsigned int last = launch.threads; last > 1; last--)
            std::swap(sequence[last - 1], sequence[draw(w, last)]);
    for (unsigned int i : sequence) {
        position.thread = i;
        threadIdx = {i % launch.block.x, i / launch.block.x % launch.block.y,
                     i / launch.block.x / launch.block.y};
        run_thread(w);
    }
}

// Ends the running thread, or where its block runs as a loop the whole block; no other block begins.
[[noreturn]] static void stop_launch(int error) {
    launch_error = error;
    if (!worker->current) longjmp(worker->escape, 1);
    worker->current->state = State::done;
    leave();
    __builtin_trap();
}

static bool runs_whole(const Launch &launch, Order order) {
    return launch.kernel->block && order == Order::forward;
}

// False where the block's threads do not go alike; nothing has happened then.
__attribute__((noinline)) static bool run_whole(Worker &w) {
    const Launch &launch = *w.launch;
    position.thread = any_thread;
    return setjmp(w.escape) || launch.kernel->block(launch.arguments, blockIdx, launch.block, launch.grid);
}

static uint3 block_index(const Launch &launch, uint64_t block) {
    return {static_cast<unsigned int>(block % launch.grid.x),
            static_cast<unsigned int>(block / launch.grid.x % launch.grid.y),
            static_cast<unsigned int>(block / launch.grid.x / launch.grid.y)};
}

void enter_block(Worker &w, uint64_t block) {
    const Launch &launch = *w.launch;
    position.block = block;
    position.thread = 0;
    position.barrier_epoch = 0;
    std::fill(w.warp_epochs.begin(), w.warp_epochs.end(), 0);
    blockIdx = block_index(launch, block);
    w.serial++;
    w.static_shared = 0;
    memset(w.arena, 0xff, launch.shared);
    w.arena_used = launch.shared + checks::shared_gap();
    checks::begin_block(w.arena, arena_bytes, launch.shared);
}

void resume_block(Worker &w, uint64_t block) {
    worker = &w;
    position = {w.launch, block, 0, 0, w.warp_epochs.data()};
    blockIdx = block_index(*w.launch, block);
}

static void run_block(Worker &w, uint64_t block) {
    const Launch &launch = *w.launch;
    enter_block(w, block);
    bool done = runs_whole(launch, w.order) && run_whole(w);
    if (!done && launch.kernel->waits) {
        begin_fibers(w);
        run_fibers(w);
    } else if (!done) {
        run_threads(w);
    }
    checks::end_block();
}

uint64_t reorder(Order order, uint64_t i, uint64_t blocks) {
    if (order == Order::reverse) return blocks - 1 - i;
    if (order == Order::shuffled) {
        uint64_t stride = blocks / 2 | 1;
        while (std::__gcd(stride, blocks) != 1) stride += 2;
        return (i * stride + blocks / 3) % blocks;
    }
    return i;
}

void begin_work(Worker &w, const Launch &launch, Order order) {
    worker = &w;
    w.launch = &launch;
    w.order = order;
    w.random = 0x9e3779b97f4a7c15;
    w.warps.resize(32);
    w.warp_epochs.resize(32);
    if (!w.arena)
        w.arena = map(shared_lead + arena_bytes) + shared_lead, w.signal_stack = map(signal_stack_bytes);
    stack_t signal_stack{};
    signal_stack.ss_sp = w.signal_stack;
    signal_stack.ss_size = signal_stack_bytes;
    sigaltstack(&signal_stack, nullptr);
    blockDim = launch.block;
    gridDim = launch.grid;
    position = {&launch, 0, 0, 0, w.warp_epochs.data()};
}

static void work(Worker &w, const Launch &launch, Order order, std::atomic<uint64_t> &next) {
    begin_work(w, launch, order);
    if (launch.kernel->waits) make_fibers(w, launch.threads, true);
    uint64_t chunk = std::clamp<uint64_t>(launch.blocks / 64, 1, 64);
    for (uint64_t begin; (begin = next.fetch_add(chunk)) < launch.blocks;)
        for (uint64_t i = begin; i < std::min(launch.blocks, begin + chunk) && !launch_error; i++)
            run_block(w, reorder(order, i, launch.blocks));
    position = {};
}

Ran run(const Launch &launch, Order order, unsigned int count) {
    launch_error = 0;
    if (launch.cooperative && launch.kernel->waits) {
        size_t static_shared = run_together(launch, order);
        return {static_shared, launch_error};
    }
    // Small launches are done before another thread would have started.
    if (launch.blocks * launch.threads < 4096) count = 1;
    count = static_cast<unsigned int>(std::min<uint64_t>(count, launch.blocks));
    while (workers.size() < count) workers.push_back(std::make_unique<Worker>());
    std::atomic<uint64_t> next{0};
    std::vector<std::thread> threads;
    for (unsigned int i = 1; i < count; i++)
        threads.emplace_back([&, i] { work(*workers[i], launch, order, next); });
    work(*workers[0], launch, order, next);
    for (std::thread &thread : threads) thread.join();
    return {workers[0]->static_shared, launch_error};
}

Fiber &current(int line) {
    if (!worker || !worker->current)
        diverged(line, "a thread waits in a kernel that was taken for one without waiting");
    return *worker->current;
}

}  // namespace cudaperf

using namespace cudaperf;

static void report_trap(const char *severity, const std::string &message, int line) {
    report_finding("trap", severity, line, {},
                   name_thread(*position.launch, position.block, position.thread) + ": " + message);
}

extern "C" {

void *cudaperf_shared(Shared *slot) {
    Worker &w = *worker;
    unsigned int id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
    if (!id) {
        std::lock_guard<std::mutex> lock(slot_mutex);
        if (!slot->id) __atomic_store_n(&slot->id, slot_count++, __ATOMIC_RELEASE);
        id = slot->id;
    }
    if (id >= w.slots.size()) w.slots.resize(id + 16), w.slot_block.resize(id + 16);
    if (w.slot_block[id] != w.serial) {
        w.static_shared += slot->size;
        if (w.static_shared > default_shared_limit) {
            report_finding(
                "launch-error", "error", 0, {},
                text("kernel %s declares more than 48 KiB of static shared memory", w.launch->kernel->name));
            fail("launch-error");
        }
        size_t alignment = std::max<size_t>({slot->alignment, 16, checks::shared_gap()});
        size_t offset = (w.arena_used + alignment - 1) / alignment * alignment;
        w.arena_used = offset + slot->size + checks::shared_gap();
        w.slots[id] = w.arena + offset;
        w.slot_block[id] = w.serial;
        memset(w.slots[id], 0xff, slot->size);
        checks::declare_shared(w.slots[id], slot->size, slot->name);
    }
    return w.slots[id];
}

void *cudaperf_dynamic_shared() { return worker->arena; }

int cudaperf_barrier(BarrierKind kind, int predicate, int line) {
    Fiber &self = current(line);
    self.state = State::at_barrier;
    self.barrier = kind;
    self.predicate = predicate;
    self.line = line;
    leave();
    return self.predicate;
}

uint64_t cudaperf_warp(WarpOperation operation, unsigned int mask, uint64_t value, int lane, int width,
                       int line) {
    Fiber &self = current(line);
    if (!(mask >> cudaperf_lane() & 1))
        diverged(line, name_fiber(*worker, self) +
                           text(" calls a warp function with a mask (0x%08x) that leaves it out", mask));
    self.state = State::in_warp_operation;
    self.operation = operation;
    self.compute = nullptr;
    self.mask = mask;
    self.value = value;
    self.lane = lane;
    self.width = width;
    self.line = line;
    leave();
    return self.value;
}

void cudaperf_together(void (*compute)(void *const *), void *mine, int line) {
    Fiber &self = current(line);
    self.state = State::in_warp_operation;
    self.operation = WarpOperation::together;
    self.compute = compute;
    self.mask = ~0u;
    self.value = reinterpret_cast<uint64_t>(mine);
    self.line = line;
    leave();
}

unsigned int cudaperf_lane() { return position.thread % 32; }

unsigned int cudaperf_active_mask(int line) {
    return static_cast<unsigned int>(cudaperf_warp(WarpOperation::active_mask, 1u << cudaperf_lane(), 0, 0, 32, line));
}

void cudaperf_yield() {
    Fiber &self = current(0);
    self.state = State::ready;
    leave();
}

void cudaperf_assert(const char *condition, int line) {
    constexpr int error_assert = 710, most_told = 16;
    static std::atomic<int> told;
    std::string message = std::string("assertion failed: ") + condition;
    if (!assertions_end_launch) cudaperf_trap(message.c_str(), line);
    if (told++ < most_told) report_trap("warning", message, line);
    stop_launch(error_assert);
}

// A thread that does nothing but read the clock waits for it, as all threads of a GPU do at once: its time flies.
uint64_t cudaperf_clock() {
    constexpr uint64_t pause = 1000, longest = 1 << 20;
    static thread_local uint64_t last, skipped, step;
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t real = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    step = real - last < pause ? std::min(2 * step + 1, longest) : 0;
    last = real;
    return real + (skipped += step);
}

// Blocks that run as loops over their threads tell which thread is at work, and where a barrier stands.
void cudaperf_whole_barrier() { position.barrier_epoch++; }
void cudaperf_enter_thread(unsigned int thread) { position.thread = thread; }

unsigned int cudaperf_thread() { return position.thread; }

void cudaperf_trap(const char *message, int line) {
    report_trap("error", message, line);
    fail("crash");
}
}
