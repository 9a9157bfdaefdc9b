// Work on a stream: done at once, or recorded while a graph is captured.
#pragma once

namespace cudaperf {

struct Work {
    virtual ~Work() = default;
    virtual cudaError_t run() = 0;
};

template <typename F> struct WorkOf final : Work {
    F function;
    explicit WorkOf(F function) : function(static_cast<F &&>(function)) {}
    cudaError_t run() override { return function(); }
};

extern bool capturing;
// Takes the work over.
void record(Work *work);
// Memory that a graph allocates keeps its address for every launch, so that to free it changes nothing.
void keep(const void *address);
bool is_graph_memory(const void *address);

template <typename F> cudaError_t on_stream(F function) {
    if (!capturing) return function();
    record(new WorkOf<F>(static_cast<F &&>(function)));
    return cudaSuccess;
}

}  // namespace cudaperf
