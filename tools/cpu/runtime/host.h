// What the host part of a candidate is compiled against: CUDA's runtime API as requests to the device.
#pragma once
#include "types.h"
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS  // C's own headers: the C++ ones cost 0.1 s a build
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include "min_max.h"  // nvcc declares these for host code as well

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInitializationError = 3,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorAssert = 710,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorUnknown = 999,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorInvalidDevice = 101,
    cudaErrorIllegalState = 401,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorGraphExecUpdateFailure = 910,
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault,
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrTccDriver = 35,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrGlobalL1CacheSupported = 79,
    cudaDevAttrLocalL1CacheSupported = 80,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrIsMultiGpuBoard = 84,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrCooperativeMultiDeviceLaunch = 96,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
    cudaDevAttrDirectManagedMemAccessFromHost = 101,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMemoryPoolsSupported = 115,
};
enum cudaComputeMode {
    cudaComputeModeDefault,
    cudaComputeModeExclusive,
    cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess,
};
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor,
        totalConstMem;
    size_t memPitch, textureAlignment, texturePitchAlignment;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsPerMultiProcessor;
    int maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, l2CacheSize, maxBlocksPerMultiProcessor;
    int clockRate, memoryClockRate, memoryBusWidth, computeMode, concurrentKernels, asyncEngineCount;
    int canMapHostMemory, unifiedAddressing, managedMemory, concurrentManagedAccess, pageableMemoryAccess,
        hostNativeAtomicSupported, streamPrioritiesSupported, cooperativeLaunch, integrated, ECCEnabled, pciBusID,
        pciDeviceID, pciDomainID, persistingL2CacheMaxSize, accessPolicyMaxWindowSize, kernelExecTimeoutEnabled,
        deviceOverlap, isMultiGpuBoard, globalL1CacheSupported, localL1CacheSupported, computePreemptionSupported;
};
constexpr unsigned int cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned int cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr int warpSize = 32;
// Functions for both sides may name these; a host function that really uses them does not link.
extern const uint3 threadIdx asm("device_threadIdx"), blockIdx asm("device_blockIdx");
extern const dim3 blockDim asm("device_blockDim"), gridDim asm("device_gridDim");

#include "stream_work.h"

namespace cudaperf {

cudaError_t allocate(void **address, size_t size, bool shared = false);

// The configuration that the next launch takes: kernel<<<grid, block>>>(x) reads (configure(grid, block), kernel(x)).
void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr, int line = __builtin_LINE());
// The blocks of the configured launch may wait for each other.
void make_cooperative();
void launch(const void *kernel, const void *arguments, size_t size);
int symbol(const void *shadow);
cudaError_t write_symbol(int symbol, const void *from, size_t size, size_t offset);
cudaError_t read_symbol(void *to, int symbol, size_t size, size_t offset);
cudaError_t symbol_address(void **address, int symbol);
cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value);

// The host gives a __managed__ variable its value.
template <typename T> T &managed(int index) {
    static T initial;
    return *static_cast<T *>(memcpy(cudaperf_managed(index, sizeof(T)), &initial, sizeof(T)));
}

template <typename T> struct Same {
    using type = T;
};

// A parameter's type as it stands in the function's type.
template <typename T> struct Plain {
    using type = T;
};
template <typename T> struct Plain<const T> {
    using type = T;
};
template <typename T> struct Plain<T *__restrict> {
    using type = T *;
};
template <typename T> struct Plain<T *const __restrict> {
    using type = T *;
};
template <typename T> using plain = typename Plain<T>::type;

// What a kernel does on the host: it sends its arguments to the device, packed.
template <typename... P> void stub(void (*kernel)(P...), typename Same<P>::type... arguments) {
    unsigned char buffer[packed_size<P...>() + 1] = {};
    size_t offset = 0;
    ((offset = aligned(offset, alignof(P)), memcpy(buffer + offset, &arguments, sizeof(P)), offset += sizeof(P)),
     ...);
    launch(reinterpret_cast<const void *>(kernel), buffer, packed_size<P...>());
}

template <typename... P, size_t... I> void call(void (*launcher)(P...), void **arguments, Indices<I...>) {
    launcher(*static_cast<P *>(arguments[I])...);
}
template <typename... P> void call(void (*launcher)(P...), void **arguments) {
    call(launcher, arguments, indices<sizeof...(P)>{});
}

}  // namespace cudaperf

cudaError_t cudaFree(void *address);
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);

template <typename T> cudaError_t cudaMalloc(T **address, size_t size) {
    return cudaperf::allocate(reinterpret_cast<void **>(address), size);
}
template <typename T> cudaError_t cudaMallocAsync(T **address, size_t size, cudaStream_t) {
    cudaError_t error = cudaMalloc(address, size);
    if (cudaperf::capturing) cudaperf::keep(*address);
    return error;
}
inline cudaError_t cudaFreeAsync(void *address, cudaStream_t) {
    return cudaperf::capturing ? cudaSuccess : cudaFree(address);
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
    return cudaperf::on_stream([=] { return cudaMemcpy(to, from, size, kind); });
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t = nullptr) {
    return cudaperf::on_stream([=] { return cudaMemset(to, value, size); });
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    if (kind == cudaMemcpyDeviceToDevice) {
        void *to;
        cudaError_t error = cudaperf::symbol_address(&to, cudaperf::symbol(&symbol));
        return error ? error : cudaMemcpy(static_cast<char *>(to) + offset, from, size, kind);
    }
    return cudaperf::write_symbol(cudaperf::symbol(&symbol), from, size, offset);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t = nullptr) {
    return cudaperf::on_stream([=, &symbol] { return cudaMemcpyToSymbol(symbol, from, size, offset, kind); });
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
    return cudaperf::read_symbol(to, cudaperf::symbol(&symbol), size, offset);
}
template <typename T> cudaError_t cudaGetSymbolAddress(void **address, const T &symbol) {
    return cudaperf::symbol_address(address, cudaperf::symbol(&symbol));
}
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel);

// Kernels are given by address, as a function or as a plain pointer.
inline cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value) {
    return cudaperf::set_attribute(kernel, attribute, value);
}
inline cudaError_t cudaFuncSetCacheConfig(const void *, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int threads, size_t) {
    // 64 warps and 32 blocks a multiprocessor; registers are not known.
    int warps = (threads + 31) / 32, most = warps ? 64 / warps : 0;
    *blocks = threads <= 0 || threads > 1024 ? 0 : most < 32 ? most : 32;
    return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 256 ? limit : 256;
    *grid = 132 * (2048 / *block);
    return cudaSuccess;
}
template <typename... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments, size_t shared = 0,
                             cudaStream_t stream = nullptr) {
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared, stream);
}
template <typename... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, reinterpret_cast<const void *>(kernel));
}
template <typename... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value) {
    return cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel), attribute, value);
}
template <typename... P> cudaError_t cudaFuncSetCacheConfig(void (*)(P...), cudaFuncCache) { return cudaSuccess; }
template <typename... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...), int threads,
                                                          size_t shared) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, reinterpret_cast<const void *>(kernel), threads,
                                                         shared);
}
template <typename... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, void (*kernel)(P...), size_t shared = 0,
                                               int limit = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid, block, reinterpret_cast<const void *>(kernel), shared, limit);
}

// One device and one order of execution: streams are accepted, and everything runs in order.
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { return *stream = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int) {
    return cudaStreamCreate(stream);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int, int) {
    return cudaStreamCreate(stream);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    return *least = 0, *greatest = -5, cudaSuccess;
}
inline cudaError_t cudaStreamGetPriority(cudaStream_t, int *priority) { return *priority = 0, cudaSuccess; }
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
typedef void (*cudaHostFn_t)(void *);
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int) {
    return callback(stream, cudaDeviceSynchronize(), data), cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void *data) {
    return cudaperf::on_stream([=] { return cudaDeviceSynchronize(), function(data), cudaSuccess; });
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int) {
    return cudaEventCreate(event);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return device ? cudaErrorInvalidDevice : cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
enum cudaLimit {
    cudaLimitStackSize,
    cudaLimitPrintfFifoSize,
    cudaLimitMallocHeapSize,
    cudaLimitDevRuntimeSyncDepth,
    cudaLimitDevRuntimePendingLaunchCount,
    cudaLimitMaxL2FetchGranularity,
    cudaLimitPersistingL2CacheSize,
};
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit) { return *value = 1 << 20, cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }
inline cudaError_t cudaInitDevice(int, unsigned int, unsigned int) { return cudaSuccess; }
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceDisablePeerAccess(int) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) { return *can = 0, cudaSuccess; }
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported,
    cudaDevP2PAttrNativeAtomicSupported,
    cudaDevP2PAttrCudaArrayAccessSupported,
};
inline cudaError_t cudaDeviceGetP2PAttribute(int *, cudaDeviceP2PAttr, int, int) { return cudaErrorInvalidDevice; }
inline cudaError_t cudaDriverGetVersion(int *version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
constexpr unsigned int cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                       cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4, cudaDeviceMapHost = 8;
#define CUDART_CB

#include "host_memory.h"
#include "host_graph.h"
#include "host_texture.h"
#include "host_launch.h"

// Namespaces of device code that a whole program may open.
namespace cooperative_groups {}
namespace cub {}
namespace nvcuda {
namespace wmma {}
}  // namespace nvcuda
