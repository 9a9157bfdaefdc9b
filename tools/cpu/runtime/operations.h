// How often each basic block of engine B's code runs, by thread and by warp.
#pragma once
#include "scheduler.h"

namespace cudaperf::checks::operations {

void begin_case();
void begin_launch(const Launch &launch, uint64_t traced_blocks);
void end_launch();
void begin_block(bool traced);
void end_block();
void report_case();

}  // namespace cudaperf::checks::operations
