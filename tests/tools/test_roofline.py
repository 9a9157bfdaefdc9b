"""Estimates bound a kernel's time by what it asks for, and compare candidates as they are on large inputs."""

from cudaperf_agent.tools.device import AccessCount, KernelCounts
from cudaperf_agent.tools.gpus import gpu_named
from cudaperf_agent.tools.occupancy import occupancy
from cudaperf_agent.tools.roofline import Estimate, estimate

H200 = gpu_named("H200")


def counted(
    blocks: int, *, threads: int, requests: int, sectors: int, registers: int | None = None
) -> Estimate:
    access = AccessCount(
        kernel="k", space="global", operation="load", bytes_per_thread=4, file="k.cu", line=1, requests=requests,
        lanes=requests * 32, sectors=sectors, ideal_sectors=sectors,
    )  # fmt: skip
    counts = KernelCounts(
        kernel="k", launches=1, threads=blocks * threads, barriers_per_thread=0, unique_bytes=sectors * 32,
        block_unique_bytes=sectors * 32, accesses=(access,),
    )  # fmt: skip
    resident = occupancy("k", H200, threads=threads, blocks=blocks, registers=registers, shared_bytes=0)
    return estimate((counts,), {"k": resident}, H200)


def test_very_many_small_blocks_are_bound_by_their_start():
    many = counted(1 << 20, threads=128, requests=1 << 22, sectors=1 << 24)
    few = counted(1 << 16, threads=512, requests=1 << 22, sectors=1 << 24)
    assert many.bound == "blocks" and few.bound == "dram"
    assert many.blocks_us > 15.9 * few.blocks_us


def test_a_request_costs_l1_a_clock_whatever_it_moves():
    alike = counted(4096, threads=256, requests=1 << 20, sectors=1 << 20)
    wide = counted(4096, threads=256, requests=1 << 20, sectors=1 << 22)
    assert alike.l1_us == wide.l1_us


def test_at_scale_a_small_grid_does_not_count_against_a_candidate():
    small = counted(8, threads=256, requests=1 << 16, sectors=1 << 18)
    assert small.bound == "latency" and small.at_scale_us < small.total_us
    crowded = counted(8, threads=256, requests=1 << 16, sectors=1 << 18, registers=255)
    assert crowded.at_scale_us > small.at_scale_us, "what limits resident warps counts at any scale"
