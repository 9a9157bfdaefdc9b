// Texture fetches and surface accesses, as the CUDA C++ Programming Guide defines them ("Texture Fetching").
#pragma once
#include "half.h"
#include "texture.h"

// No fetch leaves its texture, so the checkers need not see them.
#ifdef CUDAPERF_CHECKED
#define CUDAPERF_TEXTURE inline __attribute__((noinline, no_sanitize("thread")))
#else
#define CUDAPERF_TEXTURE inline
#endif

namespace cudaperf {

inline const Texture &texture(cudaTextureObject_t object) {
    return *reinterpret_cast<const Texture *>(object);
}
inline unsigned char *row_of(const Texture &t, int y, int z) {
    return t.texels + static_cast<uint64_t>(z) * t.slice + static_cast<uint64_t>(y) * t.pitch;
}

// The index that the address mode makes of `i`; -1 for the border.
CUDAPERF_TEXTURE int addressed(int i, int size, AddressMode mode) {
    if (i >= 0 && i < size) return i;
    if (mode == AddressMode::clamp) return i < 0 ? 0 : size - 1;
    if (mode == AddressMode::border) return -1;
    int period = mode == AddressMode::wrap ? size : 2 * size;
    i = (i % period + period) % period;
    return i < size ? i : period - 1 - i;
}

// A channel's value, integers in normalized form where the texture asks for it.
template <typename E> CUDAPERF_TEXTURE E channel(const Texture &t, const unsigned char *texel, uint32_t c) {
    if (c >= t.channels) return E(0);
    const unsigned char *from = texel + c * t.channel_bytes;
    uint32_t bits = 0;
    __builtin_memcpy(&bits, from, t.channel_bytes);
    if (t.kind == TexelKind::floating) {
        float value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return static_cast<E>(t.channel_bytes == 2 ? from_half(static_cast<uint16_t>(bits)) : value);
    }
    int unused = 32 - 8 * static_cast<int>(t.channel_bytes);
    int value = static_cast<int>(bits << unused) >> unused;
    if (t.kind == TexelKind::unsigned_integer) {
        float scaled = static_cast<float>(bits) / static_cast<float>(~0u >> unused);
        return t.normalized_values ? static_cast<E>(scaled) : static_cast<E>(bits);
    }
    if (!t.normalized_values) return static_cast<E>(value);
    float scaled = static_cast<float>(value) / static_cast<float>(~0u >> (unused + 1));
    return static_cast<E>(scaled < -1.0f ? -1.0f : scaled);
}

template <typename T> CUDAPERF_TEXTURE T texel(const Texture &t, int x, int y, int z) {
    using E = typename Channels<T>::type;
    E values[Channels<T>::count] = {};
    if (x >= 0 && y >= 0 && z >= 0) {
        const unsigned char *from = row_of(t, y, z) + static_cast<uint64_t>(x) * t.channels * t.channel_bytes;
        for (int c = 0; c < Channels<T>::count; c++)
            values[c] = channel<E>(t, from, static_cast<uint32_t>(c));
    }
    T result;
    __builtin_memcpy(&result, values, sizeof result);
    return result;
}

// One axis of a fetch: two neighbours and the weight of the second, which hardware keeps in 8 bits.
struct Axis {
    int first, second;
    float weight;
};
CUDAPERF_TEXTURE Axis axis(const Texture &t, float at, uint32_t size, int index) {
    int n = static_cast<int>(size);
    if (t.normalized_coordinates) at *= static_cast<float>(n);
    if (t.linear) at -= 0.5f;
    float below = floorf(at);
    int i = static_cast<int>(below);
    float weight = t.linear ? rintf((at - below) * 256.0f) / 256.0f : 0.0f;
    return {addressed(i, n, t.address[index]), addressed(i + 1, n, t.address[index]), weight};
}

template <typename T> CUDAPERF_TEXTURE T mixed(T a, T b, float weight) {
    using E = typename Channels<T>::type;
    E first[Channels<T>::count], second[Channels<T>::count];
    __builtin_memcpy(first, &a, sizeof a);
    __builtin_memcpy(second, &b, sizeof b);
    for (int c = 0; c < Channels<T>::count; c++) {
        float x = static_cast<float>(first[c]), y = static_cast<float>(second[c]);
        first[c] = static_cast<E>((1.0f - weight) * x + weight * y);
    }
    __builtin_memcpy(&a, first, sizeof a);
    return a;
}

// Without a filter the weights are 0.
template <typename T> CUDAPERF_TEXTURE T row(const Texture &t, Axis x, int y, int z) {
    T first = texel<T>(t, x.first, y, z);
    return t.linear ? mixed(first, texel<T>(t, x.second, y, z), x.weight) : first;
}
template <typename T> CUDAPERF_TEXTURE T plane(const Texture &t, Axis x, Axis y, int z) {
    T first = row<T>(t, x, y.first, z);
    return t.linear ? mixed(first, row<T>(t, x, y.second, z), y.weight) : first;
}
inline int layer_of(const Texture &t, int layer) {
    return addressed(layer, static_cast<int>(t.depth), AddressMode::clamp);
}

template <typename T> inline T *surface_element(cudaSurfaceObject_t object, int x_bytes, int y, int z) {
    const Texture &t = texture(object);
    int width = static_cast<int>(t.width * t.channels * t.channel_bytes);
    if (x_bytes < 0 || x_bytes >= width || y < 0 || y >= static_cast<int>(t.height) || z < 0 ||
        z >= static_cast<int>(t.depth))
        cudaperf_trap("a surface access outside the surface", 0);
    return reinterpret_cast<T *>(row_of(t, y, z) + x_bytes);
}

}  // namespace cudaperf

template <typename T> CUDAPERF_TEXTURE T tex1Dfetch(cudaTextureObject_t object, int i) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    return cudaperf::texel<T>(t, i < static_cast<int>(t.width) ? i : -1, 0, 0);
}
template <typename T> CUDAPERF_TEXTURE T tex1D(cudaTextureObject_t object, float x) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    return cudaperf::row<T>(t, axis(t, x, t.width, 0), 0, 0);
}
template <typename T> CUDAPERF_TEXTURE T tex1DLayered(cudaTextureObject_t object, float x, int layer) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    return cudaperf::row<T>(t, axis(t, x, t.width, 0), 0, layer_of(t, layer));
}
template <typename T> CUDAPERF_TEXTURE T tex2D(cudaTextureObject_t object, float x, float y) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    return cudaperf::plane<T>(t, axis(t, x, t.width, 0), axis(t, y, t.height, 1), 0);
}
template <typename T> CUDAPERF_TEXTURE T tex2DLod(cudaTextureObject_t object, float x, float y, float) {
    return tex2D<T>(object, x, y);
}
template <typename T> CUDAPERF_TEXTURE T tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    return cudaperf::plane<T>(t, axis(t, x, t.width, 0), axis(t, y, t.height, 1), layer_of(t, layer));
}
template <typename T> CUDAPERF_TEXTURE T tex3D(cudaTextureObject_t object, float x, float y, float z) {
    const cudaperf::Texture &t = cudaperf::texture(object);
    cudaperf::Axis ax = axis(t, x, t.width, 0), ay = axis(t, y, t.height, 1), az = axis(t, z, t.depth, 2);
    T first = cudaperf::plane<T>(t, ax, ay, az.first);
    return t.linear ? cudaperf::mixed(first, cudaperf::plane<T>(t, ax, ay, az.second), az.weight) : first;
}
template <typename T> CUDAPERF_TEXTURE T texCubemap(cudaTextureObject_t object, float x, float y, float z) {
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), m, s, u;
    int face;
    if (ax >= ay && ax >= az)
        face = x < 0, m = ax, s = x < 0 ? z : -z, u = -y;
    else if (ay >= az)
        face = 2 + (y < 0), m = ay, s = x, u = y < 0 ? -z : z;
    else
        face = 4 + (z < 0), m = az, s = z < 0 ? -x : x, u = -y;
    return tex2DLayered<T>(object, (s / m + 1.0f) / 2.0f, (u / m + 1.0f) / 2.0f, face);
}

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

// Positions along x count bytes.
template <typename T> T surf1Dread(cudaSurfaceObject_t s, int x) {
    return *cudaperf::surface_element<T>(s, x, 0, 0);
}
template <typename T> T surf2Dread(cudaSurfaceObject_t s, int x, int y) {
    return *cudaperf::surface_element<T>(s, x, y, 0);
}
template <typename T> T surf3Dread(cudaSurfaceObject_t s, int x, int y, int z) {
    return *cudaperf::surface_element<T>(s, x, y, z);
}
template <typename T> void surf2Dread(T *to, cudaSurfaceObject_t s, int x, int y) {
    *to = surf2Dread<T>(s, x, y);
}
template <typename T> void surf1Dwrite(T value, cudaSurfaceObject_t s, int x) {
    *cudaperf::surface_element<T>(s, x, 0, 0) = value;
}
template <typename T> void surf2Dwrite(T value, cudaSurfaceObject_t s, int x, int y) {
    *cudaperf::surface_element<T>(s, x, y, 0) = value;
}
template <typename T> void surf2DLayeredwrite(T value, cudaSurfaceObject_t s, int x, int y, int layer) {
    *cudaperf::surface_element<T>(s, x, y, layer) = value;
}
template <typename T> void surf3Dwrite(T value, cudaSurfaceObject_t s, int x, int y, int z) {
    *cudaperf::surface_element<T>(s, x, y, z) = value;
}
