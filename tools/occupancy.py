"""Theoretical occupancy: how many warps of a kernel fit on one multiprocessor, and what limits them.

Follows the rules of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, "Compute Capabilities" and
"Multiprocessor Level"): registers are granted per warp in units of 256, shared memory per block in units of
128 bytes (256 before compute capability 8.0) after the 1 KiB a block that the runtime reserves from 8.0 on.
"""

from __future__ import annotations

from typing import Literal as OneOf

from .gpus import GpuSpec
from .records import Record

WARP = 32
REGISTER_UNIT = 256


class Occupancy(Record):
    """`occupancy` is active warps over the most a multiprocessor holds, 0..1; `waves` the GPU's fillings.

    A block has `block_warps`; `most_warps` would be active if the grid were large enough.
    """

    kernel: str
    active_blocks: int
    active_warps: int
    occupancy: float
    limiter: OneOf["threads", "blocks", "registers", "shared memory", "grid"]
    waves: float
    block_warps: int
    most_warps: int


def occupancy(
    kernel: str, gpu: GpuSpec, *, threads: int, blocks: int, registers: int | None, shared_bytes: int
) -> Occupancy:
    """Occupancy of `blocks` blocks of `threads` threads.

    `registers` a thread (None: not known, taken as no limit); `shared_bytes` static and dynamic, a block.
    Returns zero active blocks where one block alone exceeds a limit.
    """
    warps = -(-threads // WARP)
    limits = {"threads": gpu.warps_per_sm // warps, "blocks": gpu.blocks_per_sm}
    if registers:
        per_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
        limits["registers"] = gpu.registers_per_sm // per_warp // warps
    unit, reserved = (128, 1024) if gpu.compute_capability >= (8, 0) else (256, 0)
    per_block = -(-(shared_bytes + reserved) // unit) * unit
    if shared_bytes:
        limits["shared memory"] = gpu.shared_bytes_per_sm // per_block
    limiter = min(limits, key=lambda k: limits[k])
    active = limits[limiter]
    resident = active
    if 0 < blocks < active * gpu.sms:
        resident, limiter = -(-blocks // gpu.sms), "grid"
    return Occupancy(
        kernel=kernel,
        active_blocks=resident,
        active_warps=resident * warps,
        occupancy=resident * warps / gpu.warps_per_sm,
        limiter=limiter,  # type: ignore[arg-type]
        waves=blocks / (active * gpu.sms) if active else 0.0,
        block_warps=warps,
        most_warps=active * warps,
    )
