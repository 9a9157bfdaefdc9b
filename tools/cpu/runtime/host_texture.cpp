// Arrays lie in device memory row by row; a texture object is the address of its descriptor there.
#include "host.h"
#include <algorithm>

struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned char *memory;
    size_t pitch;
};

namespace cudaperf {

static size_t texel_bytes(const cudaChannelFormatDesc &f) { return static_cast<size_t>(f.x + f.y + f.z + f.w) / 8; }

cudaPitchedPtr pitched(const cudaArray *array) {
    return {array->memory, array->pitch, array->extent.width, array->extent.height};
}

size_t texel_bytes(const cudaArray *array) { return texel_bytes(array->format); }

static Texture texture_of(const cudaResourceDesc &resource) {
    Texture t = {};
    cudaChannelFormatDesc format = {};
    t.height = t.depth = 1;
    if (resource.resType == cudaResourceTypeArray) {
        const cudaArray &array = *resource.res.array.array;
        format = array.format;
        t.texels = array.memory;
        t.width = static_cast<uint32_t>(array.extent.width);
        t.height = static_cast<uint32_t>(array.extent.height);
        t.depth = static_cast<uint32_t>(array.extent.depth);
        t.pitch = array.pitch;
    } else if (resource.resType == cudaResourceTypeLinear) {
        format = resource.res.linear.desc;
        t.texels = static_cast<unsigned char *>(resource.res.linear.devPtr);
        t.width = static_cast<uint32_t>(resource.res.linear.sizeInBytes / texel_bytes(format));
    } else if (resource.resType == cudaResourceTypePitch2D) {
        auto &from = resource.res.pitch2D;
        format = from.desc;
        t.texels = static_cast<unsigned char *>(from.devPtr);
        t.width = static_cast<uint32_t>(from.width);
        t.height = static_cast<uint32_t>(from.height);
        t.pitch = from.pitchInBytes;
    }
    t.slice = t.pitch * t.height;
    t.kind = static_cast<TexelKind>(format.f);
    t.channel_bytes = static_cast<uint32_t>(format.x / 8);
    t.channels = 1u + (format.y > 0) + (format.z > 0) + (format.w > 0);
    return t;
}

}  // namespace cudaperf

using namespace cudaperf;

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format, cudaExtent extent,
                              unsigned int) {
    extent.height = std::max<size_t>(extent.height, 1);
    extent.depth = std::max<size_t>(extent.depth, 1);
    *array = new cudaArray{*format, extent, nullptr, extent.width * texel_bytes(*format)};
    return cudaMalloc(&(*array)->memory, (*array)->pitch * extent.height * extent.depth);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    if (!array) return cudaSuccess;
    cudaError_t failed = cudaFree(array->memory);
    delete array;
    return failed;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    unsigned char *start = to->memory + y * to->pitch + x;
    if (height == 1) return cudaMemcpy(start, from, width, kind);
    return cudaMemcpy2D(start, to->pitch, from, pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind kind) {
    return cudaMemcpy2D(to, pitch, from->memory + y * from->pitch + x, from->pitch, width, height, kind);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *description, const cudaResourceViewDesc *) {
    if (resource->resType == cudaResourceTypeMipmappedArray) return cudaErrorNotSupported;
    Texture t = texture_of(*resource);
    t.linear = description->filterMode == cudaFilterModeLinear;
    t.normalized_coordinates = description->normalizedCoords != 0;
    t.normalized_values = description->readMode == cudaReadModeNormalizedFloat;
    for (int i = 0; i < 3; i++) {
        bool needs_normalized = description->addressMode[i] == cudaAddressModeWrap ||
                                description->addressMode[i] == cudaAddressModeMirror;
        t.address[i] = needs_normalized && !t.normalized_coordinates
                           ? AddressMode::clamp
                           : static_cast<AddressMode>(description->addressMode[i]);
    }
    Texture *descriptor;
    if (cudaError_t failed = cudaMalloc(&descriptor, sizeof t)) return failed;
    *object = reinterpret_cast<cudaTextureObject_t>(descriptor);
    return cudaMemcpy(descriptor, &t, sizeof t, cudaMemcpyHostToDevice);
}
