// Counts of memory transactions, a warp's request at a time, under NVIDIA's definitions.
#pragma once
#include "checks.h"

namespace cudaperf::checks::counts {

void begin_case();
void begin_launch(const Launch &launch, uint64_t traced_blocks);
void end_launch();
void end_block(bool traced);
void note(uintptr_t address, size_t size, Access kind, Space space, const void *site);
// A global sector that the block touched; `first` in its block, in its launch.
void note_sector(bool first_in_block, bool first_in_launch);
void report_case();

}  // namespace cudaperf::checks::counts
