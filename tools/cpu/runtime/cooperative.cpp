// Cooperative launches: all blocks live at once, and may wait for each other.
#include "worker.h"
#include <memory>

namespace cudaperf {

// Every block has its fibers, and runs until it ends or waits for the grid.
size_t run_together(const Launch &launch, Order order) {
    constexpr uint64_t most_guarded = 16384;
    static std::vector<std::unique_ptr<Worker>> blocks;
    while (blocks.size() < launch.blocks) blocks.push_back(std::make_unique<Worker>());
    for (uint64_t i = 0; i < launch.blocks; i++) {
        Worker &w = *blocks[i];
        begin_work(w, launch, order);
        make_fibers(w, launch.threads, launch.blocks * launch.threads <= most_guarded);
        enter_block(w, i);
        begin_fibers(w);
    }
    for (bool waiting = true; waiting && !launch_error;) {
        waiting = false;
        for (uint64_t turn = 0; turn < launch.blocks; turn++) {
            uint64_t i = reorder(order, turn, launch.blocks);
            Worker &w = *blocks[i];
            resume_block(w, i);
            run_fibers(w);
            waiting |= w.live != 0;
        }
        for (uint64_t i = 0; i < launch.blocks; i++)
            for (unsigned int thread = 0; thread < launch.threads; thread++)
                if (Fiber &fiber = blocks[i]->fibers[thread]; fiber.state == State::at_grid_barrier) {
                    fiber.state = State::ready;
                    blocks[i]->warps[thread / 32].ready |= 1u << thread % 32;
                }
    }
    position = {};
    return blocks[0]->static_shared;
}

}  // namespace cudaperf

using namespace cudaperf;

extern "C" {

int cudaperf_is_cooperative() { return worker->launch->cooperative; }

void cudaperf_grid_barrier(int line) {
    if (!worker->launch->cooperative) cudaperf_trap("waits for the grid in a launch that is not cooperative", line);
    Fiber &self = current(line);
    self.state = State::at_grid_barrier;
    self.line = line;
    leave();
}
}
