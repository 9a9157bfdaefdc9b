// The launcher's side of the launch ABI: each call of CUDA's runtime API becomes a request to the device.
#include "abi.h"
#include "host.h"
#include "host_registered.h"
#include "launcher_process.h"
#include "kernel_abi.h"
#include <algorithm>
#include <mutex>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

struct CUevent_st {
    double seconds;
};

namespace cudaperf {

static int channel = -1;
static const void *const *shadows;
static int shadow_count;
static std::vector<const void *> kernels;  // the stubs, in the order of the device's table
static thread_local Request next_launch{Operation::launch};

void open_channel(int descriptor) { channel = descriptor; }

void declare_symbols(const void *const *addresses, int count) {
    shadows = addresses;
    shadow_count = count;
}

void declare_kernels(std::vector<const void *> stubs) { kernels = std::move(stubs); }

static void print(uint32_t size) {
    std::vector<char> text(size);
    if (receive_all(channel, text.data(), size)) fwrite(text.data(), 1, size, stdout);
}

// The device ended the case, and has told why. What the program and its kernels printed so far is theirs.
[[noreturn]] static void device_is_gone() {
    Reply reply;
    while (receive_all(channel, &reply, sizeof reply) && !reply.payload) print(reply.printed);
    fflush(nullptr);
    _exit(1);
}

// Programs ask from several threads; a request and its reply belong together.
static std::recursive_mutex asking;

void send_request(const Request &request, const void *payload) {
    std::lock_guard<std::recursive_mutex> lock(asking);
    if (!send_all(channel, &request, sizeof request) || !send_all(channel, payload, request.payload))
        device_is_gone();
}

// Sends a request and waits for its reply; `into` receives at most `size` bytes of the reply's payload.
static Reply ask(const Request &request, const void *payload = nullptr, void *into = nullptr) {
    std::lock_guard<std::recursive_mutex> lock(asking);
    Reply reply;
    send_request(request, payload);
    if (!receive_all(channel, &reply, sizeof reply)) device_is_gone();
    if (reply.payload && !receive_all(channel, into, reply.payload)) device_is_gone();
    if (reply.printed) print(reply.printed);
    if (reply.error == gone) device_is_gone();
    return reply;
}

static cudaError_t error(const Reply &reply) { return static_cast<cudaError_t>(reply.error); }

cudaError_t allocate(void **address, size_t size, bool shared) {
    Request request{Operation::allocate, shared};
    request.size = size;
    Reply reply = ask(request);
    *address = reinterpret_cast<void *>(reply.value);
    return error(reply);
}

// The kernel's place in the table; beyond its end for what is no kernel.
static uint32_t index_of(const void *kernel) {
    return static_cast<uint32_t>(std::find(kernels.begin(), kernels.end(), kernel) - kernels.begin());
}

void configure(dim3 grid, dim3 block, size_t shared, cudaStream_t, int line) {
    next_launch = Request{Operation::launch};
    next_launch.grid = {grid.x, grid.y, grid.z};
    next_launch.block = {block.x, block.y, block.z};
    next_launch.size = shared;
    next_launch.line = static_cast<uint32_t>(line);
}

void make_cooperative() { next_launch.value = 1; }

void launch(const void *kernel, const void *arguments, size_t size) {
    Request request = next_launch;
    next_launch = Request{Operation::launch};  // an empty grid, which the device refuses
    request.index = index_of(kernel);
    request.payload = size;
    if (!capturing) return send_request(request, arguments);
    auto bytes = static_cast<const unsigned char *>(arguments);
    on_stream([request, packed = std::vector<unsigned char>(bytes, bytes + size)] {
        return send_request(request, packed.data()), cudaSuccess;
    });
}

int pack_arguments(const void *kernel, void **arguments, std::vector<unsigned char> &packed) {
    Argument layout[1024];
    Reply reply = ask(Request{Operation::describe_kernel, index_of(kernel)}, nullptr, layout);
    if (reply.error) return error(reply);
    packed.resize(reply.value);
    for (size_t i = 0; i < reply.payload / sizeof(Argument); i++)
        memcpy(&packed[layout[i].offset], arguments[i], layout[i].size);
    return cudaSuccess;
}

int symbol(const void *shadow) {
    for (int i = 0; i < shadow_count; i++)
        if (shadows[i] == shadow) return i;
    return -1;
}

cudaError_t write_symbol(int symbol, const void *from, size_t size, size_t offset) {
    if (is_device(from)) return cudaErrorInvalidValue;
    Request request{Operation::write_symbol, static_cast<uint32_t>(symbol)};
    request.to = offset;
    request.payload = size;
    return error(ask(request, from));
}

cudaError_t read_symbol(void *to, int symbol, size_t size, size_t offset) {
    if (is_device(to)) return cudaErrorInvalidValue;
    Request request{Operation::read_symbol, static_cast<uint32_t>(symbol)};
    request.from = offset;
    request.size = size;
    return error(ask(request, nullptr, to));
}

cudaError_t symbol_address(void **address, int symbol) {
    Reply reply = ask(Request{Operation::symbol_address, static_cast<uint32_t>(symbol)});
    *address = reinterpret_cast<void *>(reply.value);
    return error(reply);
}

cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    Request request{Operation::set_shared_limit, index_of(kernel)};
    request.size = value < 0 ? SIZE_MAX : static_cast<size_t>(value);
    return error(ask(request));
}

}  // namespace cudaperf

using namespace cudaperf;

static uint64_t address(const void *p) { return reinterpret_cast<uint64_t>(p); }

cudaError_t cudaFree(void *p) {
    if (!p || is_graph_memory(p)) return cudaSuccess;
    Request request{Operation::release};
    request.to = address(p);
    return error(ask(request));
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    bool to_device = is_device(to), from_device = is_device(from);
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!size) return cudaSuccess;
    if (kind != cudaMemcpyDefault && !is_shared(to) && !is_shared(from)) {
        bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
        bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
        if (wants_to != to_device || wants_from != from_device) {
            Request request{
                Operation::copy_within};  // the device notes the mix-up and answers with the error
            return error(ask(request));
        }
    }
    if (!to_device && !from_device) return memmove(to, from, size), cudaSuccess;
    Request request{to_device ? from_device ? Operation::copy_within : Operation::copy_in
                              : Operation::copy_out};
    request.to = address(to);
    request.from = address(from);
    request.size = size;
    request.payload = request.operation == Operation::copy_in ? size : 0;
    return error(ask(request, from, to));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
    for (size_t row = 0; row < height; row++) {
        cudaError_t failed = cudaMemcpy(static_cast<char *>(to) + row * to_pitch,
                                        static_cast<const char *>(from) + row * from_pitch, width, kind);
        if (failed) return failed;
    }
    return cudaSuccess;
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++)
        if (cudaError_t failed = cudaMemset(static_cast<char *>(to) + row * pitch, value, width)) return failed;
    return cudaSuccess;
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
    for (size_t z = 0; z < extent.depth; z++)
        if (cudaError_t failed = cudaMemset2D(static_cast<char *>(to.ptr) + z * to.pitch * to.ysize, to.pitch, value,
                                              extent.width, extent.height))
            return failed;
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters) {
    if (!parameters) return cudaErrorInvalidValue;
    cudaMemcpy3DParms p = *parameters;
    // With an array the extent counts its texels.
    if (p.srcArray || p.dstArray) p.extent.width *= texel_bytes(p.srcArray ? p.srcArray : p.dstArray);
    if (p.srcArray) p.srcPtr = pitched(p.srcArray), p.srcPos.x *= texel_bytes(p.srcArray);
    if (p.dstArray) p.dstPtr = pitched(p.dstArray), p.dstPos.x *= texel_bytes(p.dstArray);
    if (!p.dstPtr.ptr || !p.srcPtr.ptr) return cudaErrorInvalidValue;
    for (size_t z = 0; z < p.extent.depth; z++) {
        auto start = [z](const cudaPitchedPtr &ptr, const cudaPos &pos) {
            return static_cast<char *>(ptr.ptr) + ((pos.z + z) * ptr.ysize + pos.y) * ptr.pitch + pos.x;
        };
        cudaError_t failed = cudaMemcpy2D(start(p.dstPtr, p.dstPos), p.dstPtr.pitch, start(p.srcPtr, p.srcPos),
                                          p.srcPtr.pitch, p.extent.width, p.extent.height, p.kind);
        if (failed) return failed;
    }
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p) {
    void *address = const_cast<void *>(p), *mapped = device_pointer(p);
    bool shared = is_shared(p), device = is_device(p);
    *attributes = {shared   ? cudaMemoryTypeManaged
                   : device ? cudaMemoryTypeDevice
                   : mapped ? cudaMemoryTypeHost
                            : cudaMemoryTypeUnregistered,
                   0, shared || device ? address : mapped, device ? nullptr : address};
    return cudaSuccess;
}

cudaError_t cudaMemset(void *to, int value, size_t size) {
    Request request{Operation::fill};
    request.to = address(to);
    request.size = size;
    request.value = value;
    return error(ask(request));
}

cudaError_t cudaDeviceSynchronize() { return error(ask(Request{Operation::synchronize})); }

static cudaError_t last_error(bool clear) {
    Request request{Operation::last_error};
    request.value = clear;
    return error(ask(request));
}

cudaError_t cudaGetLastError() { return last_error(true); }
cudaError_t cudaPeekAtLastError() { return last_error(false); }

static const struct {
    cudaError_t error;
    const char *name, *text;
} messages[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources",
     "too many resources requested for launch"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

const char *cudaGetErrorString(cudaError_t error) {
    for (auto &message : messages)
        if (message.error == error) return message.text;
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error) {
    for (auto &message : messages)
        if (message.error == error) return message.name;
    return "unrecognized error code";
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    std::vector<unsigned char> packed;
    if (int failed = pack_arguments(kernel, arguments, packed)) return static_cast<cudaError_t>(failed);
    configure(grid, block, shared, stream);
    launch(kernel, packed.data(), packed.size());
    return cudaSuccess;
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream) {
    std::vector<unsigned char> packed;
    if (int failed = pack_arguments(kernel, arguments, packed)) return static_cast<cudaError_t>(failed);
    configure(grid, block, shared, stream);
    make_cooperative();
    launch(kernel, packed.data(), packed.size());
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel) {
    if (index_of(kernel) == kernels.size()) return cudaErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    attributes->maxDynamicSharedSizeBytes = 48 << 10;
    return cudaSuccess;
}

// The figures of an H100, the default target.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    if (device) return cudaErrorInvalidDevice;
    *properties = {};
    strcpy(properties->name, "cudaperf CPU device");
    properties->totalGlobalMem = heap_begin - device_begin;
    properties->sharedMemPerBlock = 48 << 10;
    properties->sharedMemPerBlockOptin = 227 << 10;
    properties->sharedMemPerMultiprocessor = 228 << 10;
    properties->totalConstMem = 64 << 10;
    properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
    properties->maxThreadsDim[2] = 64;
    properties->maxGridSize[0] = INT_MAX;
    properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
    properties->major = 9;
    properties->multiProcessorCount = 132;
    properties->l2CacheSize = 50 << 20;
    properties->maxBlocksPerMultiProcessor = 32;
    properties->persistingL2CacheMaxSize = 32 << 20;
    properties->accessPolicyMaxWindowSize = 128 << 20;
    properties->memPitch = INT_MAX;
    properties->textureAlignment = 512;
    properties->clockRate = 1'755'000;
    properties->memoryClockRate = 2'619'000;
    properties->memoryBusWidth = 5120;
    properties->concurrentKernels = properties->unifiedAddressing = properties->canMapHostMemory = 1;
    properties->cooperativeLaunch = 1;
    properties->managedMemory = properties->concurrentManagedAccess = properties->asyncEngineCount = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp p;
    if (cudaError_t failed = cudaGetDeviceProperties(&p, device)) return failed;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = static_cast<int>(p.sharedMemPerBlock); break;
    case cudaDevAttrTotalConstantMemory: *value = static_cast<int>(p.totalConstMem); break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = static_cast<int>(p.sharedMemPerMultiprocessor);
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(p.sharedMemPerBlockOptin); break;
    case cudaDevAttrMaxPitch: *value = static_cast<int>(p.memPitch); break;
    case cudaDevAttrTextureAlignment: *value = static_cast<int>(p.textureAlignment); break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; break;
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrManagedMemory: *value = 1; break;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCooperativeMultiDeviceLaunch:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrPageableMemoryAccess: *value = 0; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    *free = *total = heap_begin - device_begin;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return *event = new CUevent_st{0}, cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    cudaError_t failed = cudaDeviceSynchronize();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->seconds = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    return failed;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    *milliseconds = static_cast<float>(1e3 * (end->seconds - begin->seconds));
    return cudaSuccess;
}
