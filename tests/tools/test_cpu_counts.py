"""Transaction counts are the textbook's: sectors a request for global memory, wavefronts for shared memory."""

import numpy as np
import pytest
from cudaperf_agent.tools.device import Checks
from kernels import execute

X = np.arange(4096, dtype=np.float32)
COUNTING = Checks(trace_blocks=1000)


def access(statement: str, operation: str, space: str = "global", launch: str = "<<<1, 32>>>", **size):
    """The count of the one access of line 3 with this operation and space."""
    text = (
        "__global__ void k(int n, const float *x, float *y) { int i = threadIdx.x;\n"
        "__shared__ float s[32 * 33]; for (int j = i; j < 32 * 33; j += 32) s[j] = j; __syncthreads();\n"
        f"{statement}\n"
        "}\n"
        f'extern "C" void launch_f(int n, const float *x, float *y) {{ k{launch}(n, x, y); }}'
    )
    values = {"n": 4096, "x": X, "y": np.zeros_like(X)}
    result = execute("int n, const float *x, float *y", text, values, COUNTING)
    assert result.failure is None, result.findings
    (counts,) = result.counts
    (found,) = [a for a in counts.accesses if (a.line, a.operation, a.space) == (3, operation, space)]
    return found


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        ("i", 4),
        ("i + 1", 5),
        ("i + 8", 4),
        ("2 * i", 8),
        ("8 * i", 32),
        ("33 * i", 32),
        ("0", 1),
        ("31 - i", 4),
    ],
)
def test_sectors_of_a_warp_request(index, sectors):
    found = access(f"y[i] = x[{index}];", "load")
    assert (found.requests, found.lanes, found.sectors) == (1, 32, sectors)
    assert found.bytes_per_thread == 4
    assert found.ideal_sectors == (1 if index == "0" else 4)


@pytest.mark.parametrize(("vector", "size", "sectors"), [("float2", 8, 8), ("float4", 16, 16)])
def test_vector_accesses_are_one_request(vector, size, sectors):
    statement = f"{vector} v = ((const {vector} *)x)[i]; v.x += v.y; reinterpret_cast<{vector} *>(y)[i] = v;"
    for operation in ("load", "store"):
        found = access(statement, operation)
        assert (found.requests, found.bytes_per_thread, found.sectors) == (1, size, sectors)
        assert found.ideal_sectors == sectors


@pytest.mark.parametrize(
    ("index", "wavefronts"),
    [("i", 1), ("2 * i", 2), ("4 * i", 4), ("32 * i", 32), ("33 * i", 1), ("7", 1), ("i / 2", 1)],
)
def test_wavefronts_of_a_shared_request(index, wavefronts):
    found = access(f"y[i] = s[{index}];", "load", "shared")
    assert (found.requests, found.sectors, found.ideal_sectors) == (1, wavefronts, 1)


def test_shared_vectors_go_by_quarter_warps():
    found = access("float4 v = reinterpret_cast<float4 *>(s)[i]; y[i] = v.x + v.w;", "load", "shared")
    assert (found.requests, found.sectors, found.ideal_sectors) == (1, 4, 4)


def test_partial_warps_and_loops_count_their_lanes():
    found = access("for (int j = 0; j < 10; j++) if (i < 20) y[i] = x[j * 32 + i];", "load")
    assert (found.requests, found.lanes, found.sectors) == (10, 200, 30)


def test_atomics_are_counted_apart():
    found = access("atomicAdd(&y[i / 8], 1.0f);", "atomic")
    assert (found.requests, found.lanes, found.sectors) == (1, 32, 1)


def test_footprints_and_barriers():
    text = """
__global__ void k(int n, const float *x, float *y) {
    for (int r = 0; r < 3; r++) __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x] + x[blockIdx.x * 32 + threadIdx.x];
}
extern "C" void launch_f(int n, const float *x, float *y) {
    k<<<128, 32>>>(n, x, y);
    k<<<128, 32>>>(n, x, y);
}"""
    values = {"n": 4096, "x": X, "y": np.zeros_like(X)}
    (counts,) = execute("int n, const float *x, float *y", text, values, COUNTING).counts
    assert (counts.launches, counts.threads, counts.barriers_per_thread) == (2, 2 * 4096, 3.0)
    assert counts.unique_bytes == 2 * (2 * 4096 * 4)
    assert counts.block_unique_bytes == 2 * (2 * 4096 * 4 + 127 * 128)


@pytest.mark.parametrize("blocks", [1, 8, 64])
def test_sampled_blocks_are_scaled_up(blocks):
    text = """
__global__ void k(int n, const float *x, float *y) { y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x * 8]; }
extern "C" void launch_f(int n, const float *x, float *y) { k<<<128, 32>>>(n, x, y); }"""
    values = {"n": 4096, "x": X, "y": np.zeros_like(X)}
    (counts,) = execute("int n, const float *x, float *y", text, values, Checks(trace_blocks=blocks)).counts
    by_operation = {a.operation: a for a in counts.accesses}
    assert (by_operation["load"].requests, by_operation["load"].sectors) == (128, 128 * 32)
    assert (by_operation["store"].requests, by_operation["store"].sectors) == (128, 128 * 4)


def test_constant_memory_is_not_counted_as_global():
    text = """
__constant__ float c[4];
__global__ void k(int n, const float *x, float *y) { y[threadIdx.x] = c[n & 3]; }
extern "C" void launch_f(int n, const float *x, float *y) { k<<<1, 32>>>(n, x, y); }"""
    values = {"n": 4096, "x": X, "y": np.zeros_like(X)}
    (counts,) = execute("int n, const float *x, float *y", text, values, COUNTING).counts
    assert [a.operation for a in counts.accesses] == ["store"]
