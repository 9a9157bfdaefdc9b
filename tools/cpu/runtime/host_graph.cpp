// Graphs keep their operations as closures; a launch runs them in an order that honours the dependencies.
#include "abi.h"
#include "host.h"
#include "launcher_process.h"
#include <algorithm>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

using Closure = std::shared_ptr<cudaperf::Work>;

struct CUgraphNode_st {
    cudaGraphNodeType type;
    Closure work;
    std::vector<CUgraphNode_st *> after;
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
    struct Step {
        const CUgraphNode_st *node;
        Closure work;
    };
    std::vector<Step> steps;
};

namespace cudaperf {

bool capturing;
static cudaGraph_t captured;
static std::set<const void *> graph_memory;

bool is_graph_memory(const void *address) { return graph_memory.count(address); }

void keep(const void *address) { graph_memory.insert(address); }

void record(Work *work) {
    // All streams run in order, so a captured graph is a chain.
    auto node = new CUgraphNode_st{cudaGraphNodeTypeKernel, Closure(work), {}};
    if (!captured->nodes.empty()) node->after = {captured->nodes.back().get()};
    captured->nodes.emplace_back(node);
}

template <typename F> static Closure work_of(F function) { return std::make_shared<WorkOf<F>>(std::move(function)); }

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                       cudaGraphNodeType type, Closure work) {
    graph->nodes.emplace_back(*node = new CUgraphNode_st{type, std::move(work), {after, after + count}});
    return cudaSuccess;
}

// The arguments are copied now, as CUDA does.
static Closure kernel_work(const cudaKernelNodeParams &p) {
    auto packed = std::make_shared<std::vector<unsigned char>>();
    if (pack_arguments(p.func, p.kernelParams, *packed)) return nullptr;
    return work_of([p, packed] {
        configure(p.gridDim, p.blockDim, p.sharedMemBytes);
        launch(p.func, packed->data(), packed->size());
        return cudaSuccess;
    });
}

static cudaError_t fill(const cudaMemsetParams &p) {
    if (p.elementSize == 1)
        return cudaMemset2D(p.dst, std::max(p.pitch, p.width), static_cast<int>(p.value), p.width, p.height);
    size_t bytes = p.width * p.elementSize;
    std::vector<unsigned char> rows(bytes * p.height);
    for (size_t i = 0; i < rows.size(); i++) rows[i] = static_cast<unsigned char>(p.value >> i % p.elementSize * 8);
    return cudaMemcpy2D(p.dst, std::max(p.pitch, bytes), rows.data(), bytes, bytes, p.height, cudaMemcpyHostToDevice);
}

static void visit(CUgraphNode_st *node, std::vector<CUgraphExec_st::Step> &steps) {
    for (auto &step : steps)
        if (step.node == node) return;
    for (CUgraphNode_st *before : node->after) visit(before, steps);
    steps.push_back({node, node->work});
}

static std::vector<CUgraphExec_st::Step> ordered(cudaGraph_t graph) {
    std::vector<CUgraphExec_st::Step> steps;
    for (auto &node : graph->nodes) visit(node.get(), steps);
    return steps;
}

static cudaError_t run_steps(const std::vector<CUgraphExec_st::Step> &steps) {
    for (auto &step : steps)
        if (cudaError_t failed = step.work->run()) return failed;
    return cudaSuccess;
}

}  // namespace cudaperf

using namespace cudaperf;

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
    if (capturing) return cudaErrorIllegalState;
    return captured = new CUgraph_st, capturing = true, cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
    if (!capturing) return cudaErrorIllegalState;
    return *graph = captured, capturing = false, cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
    return *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone, cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int) { return *graph = new CUgraph_st, cudaSuccess; }

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
    *clone = new CUgraph_st;
    std::unordered_map<CUgraphNode_st *, CUgraphNode_st *> copies;
    for (auto &node : graph->nodes) (*clone)->nodes.emplace_back(copies[node.get()] = new CUgraphNode_st(*node));
    for (auto &node : (*clone)->nodes)
        for (CUgraphNode_st *&before : node->after) before = copies[before];
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    size_t room = nodes ? std::min(*count, graph->nodes.size()) : 0;
    for (size_t i = 0; i < room; i++) nodes[i] = graph->nodes[i].get();
    return *count = nodes ? room : graph->nodes.size(), cudaSuccess;
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    return *type = node->type, cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     size_t count) {
    for (size_t i = 0; i < count; i++) to[i]->after.push_back(from[i]);
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const cudaKernelNodeParams *parameters) {
    Closure work = kernel_work(*parameters);
    return work ? add(node, graph, after, count, cudaGraphNodeTypeKernel, work) : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const cudaMemcpy3DParms *parameters) {
    auto work = work_of([p = *parameters] { return cudaMemcpy3D(&p); });
    return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    auto work = work_of([=] { return cudaMemcpy(to, from, size, kind); });
    return add(node, graph, after, count, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                   size_t count, const cudaMemsetParams *parameters) {
    return add(node, graph, after, count, cudaGraphNodeTypeMemset, work_of([p = *parameters] { return fill(p); }));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                                 const cudaHostNodeParams *parameters) {
    auto work = work_of([p = *parameters] { return cudaDeviceSynchronize(), p.fn(p.userData), cudaSuccess; });
    return add(node, graph, after, count, cudaGraphNodeTypeHost, work);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                  size_t count) {
    return add(node, graph, after, count, cudaGraphNodeTypeEmpty, work_of([] { return cudaSuccess; }));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                       size_t count, cudaGraph_t child) {
    auto work = work_of([steps = ordered(child)] { return run_steps(steps); });
    return add(node, graph, after, count, cudaGraphNodeTypeGraph, work);
}

// A graph's memory keeps one address for its life, so it is allocated with the node and given back by the process.
cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                     size_t count, cudaMemAllocNodeParams *parameters) {
    if (cudaError_t failed = cudaMalloc(&parameters->dptr, parameters->bytesize)) return failed;
    graph_memory.insert(parameters->dptr);
    return add(node, graph, after, count, cudaGraphNodeTypeMemAlloc, work_of([] { return cudaSuccess; }));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                                    size_t count, void *) {
    return add(node, graph, after, count, cudaGraphNodeTypeMemFree, work_of([] { return cudaSuccess; }));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long) {
    return *executable = new CUgraphExec_st{ordered(graph)}, cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return delete executable, cudaSuccess; }

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
    return on_stream([steps = executable->steps] { return run_steps(steps); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *parameters) {
    for (auto &step : executable->steps)
        if (step.node == node) {
            Closure work = kernel_work(*parameters);
            return work ? (step.work = work, cudaSuccess) : cudaErrorInvalidDeviceFunction;
        }
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *parameters) {
    Closure work = kernel_work(*parameters);
    return work ? (node->work = work, cudaSuccess) : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *result) {
    auto steps = ordered(graph);
    bool same = steps.size() == executable->steps.size();
    *result = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
    if (!same) return cudaErrorGraphExecUpdateFailure;
    // Nodes of the first graph still name the steps.
    for (size_t i = 0; i < steps.size(); i++) executable->steps[i].work = steps[i].work;
    return cudaSuccess;
}
