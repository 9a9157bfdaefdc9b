"""The GPUs that estimates can be made for.

Multiprocessor limits are those of the CUDA C++ Programming Guide's table of compute capabilities; counts of
multiprocessors, clocks, bandwidths and arithmetic rates those of NVIDIA's data sheets and architecture white papers
(dense, without sparsity, boost clock).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuSpec:
    """One GPU. Bandwidth in bytes a second, rates in operations a second, clock in Hz."""

    name: str
    compute_capability: tuple[int, int]
    sms: int
    clock: float
    dram_bandwidth: float
    l2_bytes: int
    fp32: float
    fp64: float
    warps_per_sm: int = 64
    blocks_per_sm: int = 32
    registers_per_sm: int = 65536
    shared_bytes_per_sm: int = 228 * 1024
    l1_sectors_per_clock: int = 4

    @property
    def arch(self) -> str:
        major, minor = self.compute_capability
        return f"sm_{major}{minor}"


def _gpu(name, cc, sms, ghz, gb_s, l2_mib, fp32_t, fp64_t, **limits) -> GpuSpec:
    return GpuSpec(name, cc, sms, ghz * 1e9, gb_s * 1e9, l2_mib << 20, fp32_t * 1e12, fp64_t * 1e12, **limits)


_VOLTA = {"shared_bytes_per_sm": 96 << 10}
_TURING = {
    "warps_per_sm": 32,
    "blocks_per_sm": 16,
    "shared_bytes_per_sm": 64 << 10,
    "l1_sectors_per_clock": 2,
}
_A100 = {"shared_bytes_per_sm": 164 << 10}
_AMPERE = {"warps_per_sm": 48, "blocks_per_sm": 16, "shared_bytes_per_sm": 100 << 10}
_ADA = {"warps_per_sm": 48, "blocks_per_sm": 24, "shared_bytes_per_sm": 100 << 10}
_BLACKWELL_RTX = {"warps_per_sm": 48, "shared_bytes_per_sm": 100 << 10}

GPUS = {
    g.name: g
    for g in (
        _gpu("V100", (7, 0), 80, 1.53, 900, 6, 15.7, 7.8, **_VOLTA),
        _gpu("T4", (7, 5), 40, 1.59, 320, 4, 8.1, 0.25, **_TURING),
        _gpu("A100", (8, 0), 108, 1.41, 2039, 40, 19.5, 9.7, **_A100),
        _gpu("A10", (8, 6), 72, 1.695, 600, 6, 31.2, 0.49, **_AMPERE),
        _gpu("RTX3090", (8, 6), 82, 1.695, 936, 6, 35.6, 0.56, **_AMPERE),
        _gpu("L4", (8, 9), 58, 2.04, 300, 48, 30.3, 0.47, **_ADA),
        _gpu("L40S", (8, 9), 142, 2.52, 864, 96, 91.6, 1.43, **_ADA),
        _gpu("RTX4090", (8, 9), 128, 2.52, 1008, 72, 82.6, 1.29, **_ADA),
        _gpu("H100", (9, 0), 132, 1.98, 3350, 50, 66.9, 33.5),
        _gpu("H200", (9, 0), 132, 1.98, 4800, 50, 66.9, 33.5),
        _gpu("B200", (10, 0), 148, 1.965, 8000, 126, 75.0, 37.0),
        _gpu("RTX5090", (12, 0), 170, 2.41, 1792, 96, 104.8, 1.64, **_BLACKWELL_RTX),
    )
}
DEFAULT_GPU = "H200"


def gpu_named(name: str) -> GpuSpec:
    """The GPU of that name, case and separators ignored. Raises KeyError naming the known ones."""
    wanted = name.upper().replace("-", "").replace("_", "").replace(" ", "")
    if wanted not in GPUS:
        raise KeyError(f"no GPU named {name!r} is known; known are {', '.join(GPUS)}")
    return GPUS[wanted]
