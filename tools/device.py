"""What a device is to the rest of the tool: it compiles a candidate, runs it on cases, and tells what it saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal as OneOf
from typing import Protocol

import numpy as np

from .records import Candidate, Finding, FunctionSpec, Record


class KernelResources(Record):
    """A kernel's resources as the target's compiler reports them: registers a thread, bytes a thread or block."""

    kernel: str
    registers: int
    shared_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int


class CompileResult(Record):
    """`ok` tells whether the device accepts the candidate. `diagnostics` point into the candidate's source.

    `resources` and `arch` are None where no compiler for the target was found.
    """

    ok: bool
    diagnostics: tuple[Finding, ...] = ()
    kernels: tuple[str, ...] = ()
    resources: tuple[KernelResources, ...] | None = None
    arch: str | None = None
    compiler: str = ""
    seconds: float = 0.0


class Launch(Record):
    """One launch that was really made: block and grid in threads and blocks, dynamic shared memory in bytes."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    static_shared_bytes: int = 0
    error: str = ""


class AccessCount(Record):
    """Measured requests of one instruction of the candidate (warp-level), under NVIDIA's definitions.

    Global: `sectors` are 32-byte sectors, `ideal_sectors` the least that the same bytes need.
    Shared: `sectors` are wavefronts, `ideal_sectors` the wavefronts without bank conflicts.
    """

    kernel: str
    space: OneOf["global", "shared"]
    operation: OneOf["load", "store", "atomic"]
    bytes_per_thread: int
    file: str
    line: int
    requests: int
    lanes: int
    sectors: int
    ideal_sectors: int


class OperationCount(Record):
    """Measured instructions of one class on one line of the candidate.

    `lanes` are thread-level, `warps` warp-level executions: `lanes / warps` is the mean of active lanes. Classes are
    fadd, fmul, ffma, dadd, dmul, dfma, hadd, hmul, hfma as in ``smsp__sass_thread_inst_executed_op_*_pred_on`` (a
    subtraction is an addition), and integer, conversion, memory, control, special, "other float". They are counted in
    PTX: what ptxas expands or joins later (division, square roots, address arithmetic) differs from a profiler's.
    Of class tensor are the multiplications and additions of matrix instructions, in `lanes` 2 m n k for each.
    """

    file: str
    line: int
    type: str
    lanes: int
    warps: int


class KernelCounts(Record):
    """Measured counts of one kernel over its launches in one case, scaled up where only some blocks were traced.

    `unique_bytes` is the global footprint over all blocks in whole sectors (what an ideal L2 reads from memory),
    `block_unique_bytes` the sum over blocks of each block's own footprint (what an ideal L1 reads from L2).
    `operations` are None where the engine cannot count them.
    """

    kernel: str
    launches: int
    threads: int
    barriers_per_thread: float
    unique_bytes: int
    block_unique_bytes: int
    accesses: tuple[AccessCount, ...]
    operations: tuple[OperationCount, ...] | None = None


@dataclass(frozen=True)
class Case:
    """Named buffers and scalars: all that a device sees of a task, for C and PyTorch alike.

    `arrays` hold what the buffers contain before the call (NumPy arrays, C order, struct dtypes allowed);
    `scalars` values by name. `seconds` is the time that the call may take.
    """

    name: str
    arrays: dict[str, np.ndarray]
    scalars: dict[str, int | float]
    seconds: float = 10.0


@dataclass(frozen=True)
class Checks:
    """What to look for while a case runs.

    `bounds` includes alignment, `races` shared and global memory, within and between blocks; `uninitialized` finds
    reads of shared and allocated memory that nothing has written (a case's own buffers count as written). Without
    `barriers` threads may meet at barriers of different lines, as hardware lets them.
    `trace_blocks` limits the blocks of a launch that are counted (0: none).
    """

    bounds: bool = False
    races: bool = False
    uninitialized: bool = False
    barriers: bool = True
    trace_blocks: int = 0
    order: OneOf["forward", "reverse", "shuffled"] = "forward"


Failure = OneOf[
    "timeout",
    "crash",
    "host-access",
    "launch-error",
    "out-of-bounds",
    "race",
    "uninitialized-read",
    "misaligned-access",
    "barrier-divergence",
    "out-of-memory",
]


@dataclass(frozen=True)
class Execution:
    """What happened when a candidate ran on one case.

    `failure` is None when the launcher returned; `findings` explain it with places in the candidate's source.
    `arrays` are the buffers after the call; `damaged` names the buffers around which
    bytes changed. `seconds` is wall time on the CPU and says nothing about a GPU.
    """

    case: str
    failure: Failure | None
    findings: tuple[Finding, ...]
    arrays: dict[str, np.ndarray]
    damaged: tuple[str, ...]
    launches: tuple[Launch, ...]
    counts: tuple[KernelCounts, ...]
    seconds: float


class Build(Protocol):
    """A compiled candidate, ready to run."""

    @property
    def result(self) -> CompileResult: ...


class Device(Protocol):
    """Compiles and runs candidates.

    `large_seconds` is the longest that the original may take on the largest case, `large_bytes` the most that the
    buffers of that case may hold.
    """

    name: str
    large_seconds: float
    large_bytes: int

    def build(self, function: FunctionSpec, candidate: Candidate, *, checked: bool) -> Build:
        """Compile; errors are in the build's result. `checked` builds can run with any `Checks`."""
        ...

    def run(self, build: Build, cases: Sequence[Case], checks: Checks) -> tuple[Execution, ...]:
        """Run each case in turn; a case that fails ends the process that ran it, not the others."""
        ...

    def run_program(
        self,
        source: str,
        objects: Sequence[Path],
        arguments: Sequence[str],
        seconds: float,
        writable: Sequence[Path] = (),
        link: Sequence[str] = (),
    ) -> ProgramRun:
        """Link a whole CUDA source with compiled host objects that hold `main`, and run the program.

        The objects define `cudaperf_program_main` in place of `main`; `writable` are folders it may write to, `link`
        flags such as ``-lfftw3``.
        """
        ...


class ProgramRun(Record):
    """A whole program's run: its output and exit status; `failure` as in `Execution`, or "compile".

    Output is empty where it went straight to the terminal.
    """

    failure: str | None
    findings: tuple[Finding, ...] = ()
    launches: tuple[Launch, ...] = ()
    counts: tuple[KernelCounts, ...] = ()
    stdout: str = ""
    stderr: str = ""
    status: int | None = None
