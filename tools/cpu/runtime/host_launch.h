// Launches by configuration, and attributes of launches and streams.
#pragma once

enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
struct cudaAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    cudaAccessProperty hitProp, missProp;
};
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore,
    cudaLaunchAttributeAccessPolicyWindow,
    cudaLaunchAttributeCooperative,
    cudaLaunchAttributeSynchronizationPolicy,
    cudaLaunchAttributeClusterDimension,
    cudaLaunchAttributeClusterSchedulingPolicyPreference,
    cudaLaunchAttributeProgrammaticStreamSerialization,
    cudaLaunchAttributeProgrammaticEvent,
    cudaLaunchAttributePriority,
};
union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, programmaticStreamSerializationAllowed, priority;
    struct {
        unsigned int x, y, z;
    } clusterDim;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned int numAttrs;
};
typedef cudaLaunchAttributeID cudaStreamAttrID;
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
constexpr cudaLaunchAttributeID cudaStreamAttributeAccessPolicyWindow = cudaLaunchAttributeAccessPolicyWindow;
constexpr cudaLaunchAttributeID cudaStreamAttributePriority = cudaLaunchAttributePriority;

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t shared = 0, cudaStream_t stream = nullptr);
template <typename... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                                        size_t shared = 0, cudaStream_t stream = nullptr) {
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared, stream);
}

// Hints on caches and order change nothing here; clusters are not to be had.
namespace cudaperf {
inline bool is_cooperative(const cudaLaunchConfig_t &config) {
    for (unsigned int i = 0; i < config.numAttrs; i++)
        if (config.attrs[i].id == cudaLaunchAttributeCooperative && config.attrs[i].val.cooperative) return true;
    return false;
}
inline bool can_launch(const cudaLaunchConfig_t &config) {
    for (unsigned int i = 0; i < config.numAttrs; i++) {
        const cudaLaunchAttribute &a = config.attrs[i];
        if (a.id == cudaLaunchAttributeClusterDimension &&
            a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z > 1)
            return false;
    }
    return true;
}
}  // namespace cudaperf
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    if (!cudaperf::can_launch(*config)) return cudaErrorNotSupported;
    const dim3 &grid = config->gridDim, &block = config->blockDim;
    size_t shared = config->dynamicSmemBytes;
    return cudaperf::is_cooperative(*config)
               ? cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, config->stream)
               : cudaLaunchKernel(kernel, grid, block, arguments, shared, config->stream);
}
template <typename... P, typename... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...arguments) {
    if (!cudaperf::can_launch(*config)) return cudaErrorNotSupported;
    cudaperf::configure(config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream);
    if (cudaperf::is_cooperative(*config)) cudaperf::make_cooperative();
    return kernel(static_cast<A &&>(arguments)...), cudaSuccess;
}
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue *) {
    return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
