// The n-th execution of each lane at a basic block makes up the warp's n-th: where lanes go different ways a warp runs
// both, as hardware does. So a warp's executions are the largest number among its lanes.
#include "operations.h"
#include "report.h"
#include <algorithm>
#include <map>
#include <vector>

namespace cudaperf::checks::operations {

struct Executions {
    double lanes = 0, warps = 0;
};

static std::map<unsigned int, std::map<unsigned int, Executions>> kernels;  // kernel, basic block
static std::vector<Executions> launch_totals;
static std::vector<std::vector<uint32_t>> counts;  // basic block, thread
static const Launch *launch;
static double scale;
static bool counting;

void begin_case() { kernels.clear(); }

void begin_launch(const Launch &started, uint64_t traced_blocks) {
    launch = &started;
    scale = static_cast<double>(started.blocks) / static_cast<double>(std::max<uint64_t>(traced_blocks, 1));
    launch_totals.clear();
}

void begin_block(bool traced) { counting = traced; }

void end_block() {
    if (!counting) return;
    counting = false;
    launch_totals.resize(std::max(launch_totals.size(), counts.size()));
    for (size_t block = 0; block < counts.size(); block++) {
        std::vector<uint32_t> &threads = counts[block];
        for (size_t first = 0; first < threads.size(); first += 32) {
            uint32_t most = 0;
            for (size_t i = first; i < std::min(first + 32, threads.size()); i++) {
                launch_totals[block].lanes += threads[i];
                most = std::max(most, threads[i]);
            }
            launch_totals[block].warps += most;
        }
        threads.clear();
    }
}

void end_launch() {
    for (size_t block = 0; block < launch_totals.size(); block++)
        if (launch_totals[block].lanes > 0) {
            Executions &total = kernels[launch->index][static_cast<unsigned int>(block)];
            total.lanes += scale * launch_totals[block].lanes;
            total.warps += scale * launch_totals[block].warps;
        }
}

void report_case() {
    for (const auto &[kernel, blocks] : kernels) {
        std::string list;
        for (const auto &[block, total] : blocks)
            list += text("%s[%u,%.0f,%.0f]", list.empty() ? "" : ",", block, total.lanes, total.warps);
        report(R"({"event":"executions","kernel":%u,"blocks":[%s]})", kernel, list.c_str());
    }
}

}  // namespace cudaperf::checks::operations

extern "C" void cudaperf_count(unsigned int block) {
    using namespace cudaperf::checks::operations;
    if (!counting) return;
    if (block >= counts.size()) counts.resize(block + 1);
    std::vector<uint32_t> &threads = counts[block];
    unsigned int thread = cudaperf::position.thread;
    if (thread >= threads.size()) threads.resize(thread + 1);
    threads[thread]++;
}
