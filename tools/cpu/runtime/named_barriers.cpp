// Barriers with a number and a count of threads, some of which may arrive without waiting.
// Source: NVIDIA, "Parallel Thread Execution ISA", section "bar, barrier".
#include "report.h"
#include "worker.h"

using namespace cudaperf;

extern "C" void cudaperf_named_barrier(unsigned int number, unsigned int threads, bool waits, int line) {
    Fiber &self = current(line);
    Worker &w = *worker;
    if (number >= named_barriers || !threads || threads % 32)
        diverged(line, text("barrier %u of %u threads: there are 16 barriers, of a multiple of 32 threads", number,
                            threads));
    NamedBarrier &barrier = w.named[number];
    self.line = line;
    if (waits) barrier.waiting.push_back(&self);
    if (++barrier.arrived < threads) {
        if (!waits) return;
        self.state = State::at_named_barrier;
        leave();
        return;
    }
    for (Fiber *fiber : barrier.waiting) {
        if (fiber == &self) continue;
        size_t thread = static_cast<size_t>(fiber - w.fibers.data());
        fiber->state = State::ready;
        w.warps[thread / 32].ready |= 1u << thread % 32;
    }
    barrier = {};
    position.barrier_epoch++;  // orders more than the barrier does: all threads' accesses before and after
}
