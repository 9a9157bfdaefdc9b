// Textures as both sides know them: a descriptor in device memory, whose address is the texture object.
#pragma once
#include "types.h"

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

namespace cudaperf {

enum class TexelKind : uint32_t { signed_integer, unsigned_integer, floating };
enum class AddressMode : uint32_t { wrap, clamp, mirror, border };

// `slice` counts bytes between layers, faces or planes.
struct Texture {
    unsigned char *texels;
    uint64_t pitch, slice;
    uint32_t width, height, depth;
    TexelKind kind;
    uint32_t channels, channel_bytes;
    AddressMode address[3];
    uint32_t linear, normalized_coordinates, normalized_values;
};

// The channels of a texel's type.
template <typename T> struct Channels {
    using type = T;
    static constexpr int count = 1;
};
#define CUDAPERF_CHANNELS(element, name)                                                                     \
    template <> struct Channels<name##1> {                                                                   \
        using type = element;                                                                                \
        static constexpr int count = 1;                                                                      \
    };                                                                                                       \
    template <> struct Channels<name##2> {                                                                   \
        using type = element;                                                                                \
        static constexpr int count = 2;                                                                      \
    };                                                                                                       \
    template <> struct Channels<name##4> {                                                                   \
        using type = element;                                                                                \
        static constexpr int count = 4;                                                                      \
    };
CUDAPERF_CHANNELS(signed char, char)
CUDAPERF_CHANNELS(unsigned char, uchar)
CUDAPERF_CHANNELS(short, short)
CUDAPERF_CHANNELS(unsigned short, ushort)
CUDAPERF_CHANNELS(int, int)
CUDAPERF_CHANNELS(unsigned int, uint)
CUDAPERF_CHANNELS(float, float)
#undef CUDAPERF_CHANNELS

}  // namespace cudaperf
