"""A roofline estimate of a kernel's time on a named GPU from counts measured on the CPU device.

The roofline model (Williams, Waterman, Patterson, CACM 52(4), 2009) with one roof for each level that the counts
speak of. It assumes ideal caches: each block reads a sector from L2 once, the whole grid reads it from memory once.
It bounds the time from below and orders candidates; it is never reported as a measurement.
"""

from __future__ import annotations

from typing import Literal as OneOf

from .device import KernelCounts
from .gpus import GpuSpec
from .occupancy import WARP, Occupancy
from .records import Record

SECTOR = 32
# Launches count as the bound only where they cost that many times the kernels: larger inputs would hide them.
LAUNCH_SHARE = 10.0
# What an empty kernel costs between launches in one stream; NVIDIA gives "about 2.5 us" in its blog on CUDA graphs.
LAUNCH_SECONDS = 2.5e-6
# The A100 white paper's 5120 bytes a clock over 108 multiprocessors, rounded down to a sector and a half.
L2_BYTES_PER_SM_CLOCK = 48
# A load that misses L2: microbenchmarks of recent GPUs find 480 to 660 clocks and more (arXiv 2402.13499).
MEMORY_LATENCY_SECONDS = 400e-9
# Independent loads that a warp keeps in flight: the compiler hoists a few out of straight-line code.
IN_FLIGHT = 4

Bound = OneOf["dram", "l2", "l1", "shared", "blocks", "latency", "launch"]


class Estimate(Record):
    """Estimated microseconds: the total, and each roof on its own; `bound` names what matters most.

    `at_scale_us` is what the same work would take as a part of a launch that fills the GPU: there neither the size
    of the grid nor the first wave's waiting counts, and candidates compare as they do on large inputs.
    """

    gpu: str
    total_us: float
    at_scale_us: float
    bound: Bound
    dram_us: float
    l2_us: float
    l1_us: float
    shared_us: float
    blocks_us: float
    latency_us: float
    launch_us: float


def estimate(counts: tuple[KernelCounts, ...], occupancies: dict[str, Occupancy], gpu: GpuSpec) -> Estimate:
    """Sum over kernels of the highest roof of each, plus what the launches cost.

    Too few resident threads cannot keep the memory busy: the latency roof takes the requests of a warp that miss
    an ideal L1 to be served one after another, beside those of all other resident warps. L1 serves one request a
    clock at most. About one block a clock starts on the whole GPU (an H200 takes 0.64 ms for 2^20 blocks that copy
    128 floats each, where their bandwidth would allow 0.26 ms).
    """
    roofs = dict.fromkeys(("dram", "l2", "l1", "shared", "blocks", "latency"), 0.0)
    total = at_scale = 0.0
    for kernel in counts:
        memory = [a for a in kernel.accesses if a.space == "global"]
        sectors = sum(a.sectors for a in memory)
        wavefronts = sum(a.sectors for a in kernel.accesses if a.space == "shared")
        misses = sum(a.requests for a in memory) * min(
            kernel.block_unique_bytes / SECTOR / max(sectors, 1), 1.0
        )
        found = occupancies.get(kernel.kernel)
        warps = found.active_warps if found is not None else gpu.warps_per_sm
        most = found.most_warps if found is not None else gpu.warps_per_sm
        block = found.block_warps if found is not None else gpu.warps_per_sm // gpu.blocks_per_sm
        grid = max(kernel.threads // WARP // max(kernel.launches, 1), 1)
        served = sum(max(a.sectors / gpu.l1_sectors_per_clock, a.requests) for a in memory)
        each = {
            "dram": kernel.unique_bytes / gpu.dram_bandwidth,
            "l2": kernel.block_unique_bytes / (L2_BYTES_PER_SM_CLOCK * gpu.sms * gpu.clock),
            "l1": served / (gpu.sms * gpu.clock),
            "shared": wavefronts / (gpu.sms * gpu.clock),
            "blocks": kernel.threads / WARP / block / gpu.clock,
        }
        waits = misses * MEMORY_LATENCY_SECONDS / IN_FLIGHT
        at_scale += max(*each.values(), waits / (max(most, 1) * gpu.sms))
        each["latency"] = waits / min(max(warps, 1) * gpu.sms, grid)
        total += max(each.values())
        roofs = {k: roofs[k] + each[k] for k in roofs}
    launch = LAUNCH_SECONDS * sum(k.launches for k in counts)
    highest = max(roofs, key=lambda k: roofs[k])
    bound = "launch" if launch > LAUNCH_SHARE * total else highest
    return Estimate(
        gpu=gpu.name,
        total_us=(total + launch) * 1e6,
        at_scale_us=(at_scale + launch) * 1e6,
        bound=bound,  # type: ignore[arg-type]
        launch_us=launch * 1e6,
        **{f"{k}_us": v * 1e6 for k, v in roofs.items()},
    )
