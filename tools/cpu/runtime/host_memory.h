// The rest of the runtime API's memory functions: shared with the host, pitched, in three dimensions.
#pragma once

constexpr unsigned int cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                       cudaHostAllocWriteCombined = 4;
constexpr unsigned int cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2;
constexpr unsigned int cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;

enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged,
};
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly,
    cudaMemAdviseSetPreferredLocation,
    cudaMemAdviseUnsetPreferredLocation,
    cudaMemAdviseSetAccessedBy,
    cudaMemAdviseUnsetAccessedBy,
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid,
    cudaMemLocationTypeDevice,
    cudaMemLocationTypeHost,
    cudaMemLocationTypeHostNuma,
    cudaMemLocationTypeHostNumaCurrent,
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *address);

// Page-locked memory can be mapped into the device, so it is of the kind that both sides share.
template <typename T> cudaError_t cudaMallocManaged(T **address, size_t size, unsigned int = cudaMemAttachGlobal) {
    return cudaperf::allocate(reinterpret_cast<void **>(address), size, true);
}
template <typename T> cudaError_t cudaMallocHost(T **address, size_t size, unsigned int = 0) {
    return cudaperf::allocate(reinterpret_cast<void **>(address), size, true);
}
template <typename T> cudaError_t cudaHostAlloc(T **address, size_t size, unsigned int) {
    return cudaMallocHost(address, size);
}
cudaError_t cudaHostRegister(void *address, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *address);
template <typename T> cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int) {
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, host);
    *device = static_cast<T *>(attributes.devicePointer);
    return *device ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaFreeHost(void *address) { return cudaFree(address); }
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned int, cudaStream_t = nullptr) {
    return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
inline cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t = 0, unsigned int = cudaMemAttachSingle) {
    return cudaSuccess;
}

template <typename T> cudaError_t cudaMallocPitch(T **address, size_t *pitch, size_t width, size_t height) {
    *pitch = cudaperf::aligned(width, 512);
    return cudaMalloc(address, *pitch * height);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent) {
    pointer->xsize = extent.width, pointer->ysize = extent.height;
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
    return cudaperf::on_stream([=] { return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind); });
}
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters, cudaStream_t = nullptr) {
    return cudaperf::on_stream([p = *parameters] { return cudaMemcpy3D(&p); });
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t = nullptr) {
    return cudaperf::on_stream([=, &symbol] { return cudaMemcpyFromSymbol(to, symbol, size, offset, kind); });
}
template <typename T> cudaError_t cudaGetSymbolSize(size_t *size, const T &) { return *size = sizeof(T), cudaSuccess; }

// Pools of stream-ordered allocation: memory goes back at once, so their settings change nothing.
struct CUmemPoolHandle_st;
typedef CUmemPoolHandle_st *cudaMemPool_t;
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh,
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone, cudaMemHandleTypePosixFileDescriptor };
enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,
    cudaMemAccessFlagsProtRead = 1,
    cudaMemAccessFlagsProtReadWrite = 3,
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    unsigned char reserved[64];
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int) { return *pool = nullptr, cudaSuccess; }
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int) { return *pool = nullptr, cudaSuccess; }
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *) {
    return *pool = nullptr, cudaSuccess;
}
inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *) { return cudaSuccess; }
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *value) {
    return *static_cast<uint64_t *>(value) = 0, cudaSuccess;
}
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc *, size_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <typename T>
cudaError_t cudaMallocFromPoolAsync(T **address, size_t size, cudaMemPool_t, cudaStream_t stream) {
    return cudaMallocAsync(address, size, stream);
}
