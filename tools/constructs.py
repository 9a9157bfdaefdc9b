"""What the splitter knows of CUDA's and C++'s vocabulary: constructs that are refused, headers, library names."""

from __future__ import annotations

import re

# Construct -> (pattern over code without comments and strings, what to do instead).
UNSUPPORTED: dict[str, tuple[re.Pattern[str], str]] = {
    name: (re.compile(pattern), remedy)
    for name, pattern, remedy in (
        ("managed variables", r"\b__managed__\b", "use cudaMallocManaged"),
        ("device-wide algorithms of CUB", r"\bcub::Device\w+", "write the kernel out"),
        ("texture references", r"\btexture\s*<", "use a texture object"),
        ("mipmapped textures and gathers", r"\b(?:cudaMipmappedArray\w*|tex2Dgather)\b", "read arrays"),
        ("launches over several devices", r"\bcudaLaunchCooperativeKernelMultiDevice\b", "launch on one"),
        ("conditional graph nodes", r"\bcudaGraph(?:Set)?Conditional\w*\b", "decide on the host"),
        ("the driver API", r"\bcu(?:Launch|Mem|Module|Ctx|Device|Init)\w*\s*\(", "use the runtime API"),
        ("thread block clusters", r"\b(?:__cluster_dims__|this_cluster|cluster_group)\b", "use blocks"),
        ("device lambdas", r"\]\s*(?:__host__\s*)?__device__\b", "use a functor or a template parameter"),
    )
}
# Those that whole programs may have, whose host part is our own to compile.
ONLY_IN_PROGRAMS = {"managed variables"}
# Constructs that NVIDIA's compiler must translate, as it does for the CPU device's engine B.
NEEDS_COMPILER: dict[str, re.Pattern[str]] = {
    "inline assembly": re.compile(r"\b(?:asm|__asm__)\b"),
    "asynchronous copies": re.compile(r"\b(?:memcpy_async|__pipeline_\w+|cuda::(?:pipeline|barrier))"),
    "tensor core fragments": re.compile(r"\b(?:wmma::|nvcuda\b)"),
}
# Headers of device code that need it as well.
DEVICE_LIBRARY_HEADER = re.compile(r"cub/|mma\.h|curand_\w*kernel\.h|curand_\w+\.h|cuda/|cuda_pipeline")
# Libraries of the host that no engine has.
LIBRARY = re.compile(r"(cublas|cusparse|cufft|curand|cusolver|cudnn|cutlass|cute|thrust|cuda_fp8|nccl|npp)")
# CUDA's own headers: ours stand for them.
CUDA_HEADERS = {
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h",
    "vector_types.h", "vector_functions.h", "math_constants.h", "math_functions.h", "sm_20_intrinsics.h",
    "cooperative_groups.h", "cooperative_groups/reduce.h", "driver_types.h", "crt/host_defines.h", "host_defines.h",
    "cuda_profiler_api.h", "cudaProfiler.h", "builtin_types.h", "device_atomic_functions.h", "sm_30_intrinsics.h",
}  # fmt: skip
# Headers that the device part keeps.
DEVICE_HEADERS = {
    "cstdint", "cstddef", "climits", "cfloat", "type_traits", "limits", "cooperative_groups.h", "cuda_fp16.h",
    "cuda_bf16.h", "cuComplex.h",
}  # fmt: skip
# Names of the standard library that device code does not have.
HOST_LIBRARY = re.compile(
    r"\bstd::(?!(?:abs|fabs|f?min|f?max|swap|sqrt|cbrt|exp2?|expm1|log(?:2|10|1p)?|pow|fmod|hypot|fma|copysign|erfc?"
    r"|a?(?:sin|cos|tan)h?|atan2|floor|ceil|trunc|round|is\w+|size_t|u?int\d+_t|numeric_limits|conditional\w*"
    r"|enable_if\w*|remove_\w+|decay\w*|integral_constant|true_type|false_type|aligned_\w+|add_\w+|make_(?:un)?signed\w*"
    r"|common_type\w*|underlying_type\w*)\b)"
)
# Headers of the standard library that the device part includes where it uses their names.
DEVICE_LIBRARY = {
    "type_traits": re.compile(
        r"\bstd::(?:is_\w+|conditional|enable_if|remove_|decay|integral_constant|(?:true|false)_type|aligned_|add_"
        r"|make_|common_type|underlying_type)"
    ),
    "limits": re.compile(r"\bstd::numeric_limits\b"),
}
COMPILER_REMEDY = "pip install 'cudaperf-agent[cuda]', or put nvcc on the PATH"
