"""What a device measured of a right candidate, joined with what follows from it for a named GPU."""

from __future__ import annotations

from .device import AccessCount, CompileResult, Execution, KernelCounts, Launch
from .gpus import GpuSpec
from .occupancy import Occupancy, occupancy
from .records import Record
from .roofline import Estimate, estimate


class Profile(Record):
    """Counts measured in one case, occupancy of each kernel, and an estimate for `estimate.gpu`.

    `milliseconds` is device time measured on a GPU: None on the CPU device, which claims no speed.
    """

    device: str
    case: str
    launches: tuple[Launch, ...]
    counts: tuple[KernelCounts, ...]
    occupancy: tuple[Occupancy, ...]
    estimate: Estimate
    milliseconds: float | None = None

    @property
    def bound(self) -> str:
        return self.estimate.bound

    @property
    def estimate_us(self) -> float:
        return self.estimate.total_us

    @property
    def ranking_us(self) -> float:
        """What candidates are compared by: measured time, else the estimate for inputs that fill the GPU."""
        return self.estimate.at_scale_us if self.milliseconds is None else self.milliseconds * 1e3

    @property
    def worst_access(self) -> AccessCount | None:
        """The global access that moves the most sectors beyond those that its bytes need, if any does."""
        wasteful = [a for k in self.counts for a in k.accesses if a.sectors > a.ideal_sectors]
        return max(wasteful, key=lambda a: a.sectors - a.ideal_sectors, default=None)


def profile(device: str, execution: Execution, compiled: CompileResult, gpu: GpuSpec) -> Profile:
    """Join the counts of one execution with occupancy and the estimate. Registers are those of the target's
    compiler where it was found, and no limit elsewhere."""
    registers = {r.kernel: r.registers for r in compiled.resources or ()}
    largest: dict[str, Launch] = {}
    for launch in execution.launches:
        seen = largest.get(launch.kernel)
        if seen is None or _blocks(launch) > _blocks(seen):
            largest[launch.kernel] = launch
    occupancies = {
        name: occupancy(
            name,
            gpu,
            threads=launch.block[0] * launch.block[1] * launch.block[2],
            blocks=_blocks(launch),
            registers=registers.get(name),
            shared_bytes=launch.shared_bytes + launch.static_shared_bytes,
        )
        for name, launch in largest.items()
    }
    return Profile(
        device=device,
        case=execution.case,
        launches=tuple(largest.values()),
        counts=execution.counts,
        occupancy=tuple(occupancies.values()),
        estimate=estimate(execution.counts, occupancies, gpu),
    )


def _blocks(launch: Launch) -> int:
    return launch.grid[0] * launch.grid[1] * launch.grid[2]
