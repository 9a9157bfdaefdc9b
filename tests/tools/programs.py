"""Runs small CUDA programs whole, as `emulate` does."""

from pathlib import Path

from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Checks
from cudaperf_agent.tools.program import read_program

KERNELS = """#include <cstdio>
#include <cuda_runtime.h>
__global__ void scale(int n, float *x, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= a;
}
__global__ void add(int n, float *x, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += a;
}
"""


def run(folder: Path, text: str, checks: Checks | None = None):
    """Runs the program in `folder` with the source engine."""
    source = folder / "program.cu"
    source.write_text(text)
    return CpuDevice("source").emulate(
        read_program([source]), (), 30, checks or Checks(), folder, captured=True
    )


def printed(folder: Path, text: str, checks: Checks | None = None) -> str:
    ran = run(folder, text, checks)
    assert ran.failure is None and ran.status == 0, (ran.findings, ran.stderr)
    return ran.stdout
