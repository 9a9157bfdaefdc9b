// Arrays, texture objects and surface objects.
#pragma once
#include "texture.h"

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
};
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};
enum cudaTextureAddressMode {
    cudaAddressModeWrap,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeBorder,
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType {
    cudaResourceTypeArray,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypeLinear,
    cudaResourceTypePitch2D,
};
constexpr unsigned int cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                       cudaArrayCubemap = 4, cudaArrayTextureGather = 8;
struct cudaResourceDesc {
    cudaResourceType resType;
    struct {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;

namespace cudaperf {
cudaPitchedPtr pitched(const cudaArray *array);
size_t texel_bytes(const cudaArray *array);
}  // namespace cudaperf

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent,
                              unsigned int flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *description, const cudaResourceViewDesc *view);
inline cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                                   size_t height = 0, unsigned int flags = 0) {
    return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
// The rows of an array lie one behind the other, so a long copy goes on in the next.
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
                                     cudaMemcpyKind kind) {
    return cudaMemcpy2DToArray(to, x, y, from, size, size, 1, kind);
}
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                            size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                            cudaStream_t = nullptr) {
    auto copy = [=] { return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); };
    return cudaperf::on_stream(copy);
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    return cudaFree(reinterpret_cast<void *>(object));
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource) {
    cudaTextureDesc plain = {};
    return cudaCreateTextureObject(object, resource, &plain, nullptr);
}
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return cudaDestroyTextureObject(object); }

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
template <typename T> cudaChannelFormatDesc cudaCreateChannelDesc() {
    using E = typename cudaperf::Channels<T>::type;
    constexpr int bits = 8 * sizeof(E), count = cudaperf::Channels<T>::count;
    cudaChannelFormatKind kind = E(0.5f) != E(0)  ? cudaChannelFormatKindFloat
                                 : E(-1) < E(0) ? cudaChannelFormatKindSigned
                                                : cudaChannelFormatKindUnsigned;
    return {bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0, kind};
}
