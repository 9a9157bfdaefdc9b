"""What is read off a candidate's text, with the places of the findings."""

from cudaperf_agent.tools.records import Candidate, File
from cudaperf_agent.tools.structure import structure

TEXT = """\
__global__ void __launch_bounds__(256) used(int n, const float *__restrict__ x, float *y) {
    __shared__ float tile[32];
    for (int i = 0; i < n; i++) {
        __syncthreads();
        atomicAdd(&y[0], tile[i] + x[i]);
    }
    if (threadIdx.x < 16) __syncthreads();
}
__global__ void decoy(float *y) {}
extern "C" void launch_f(int n, const float *x, float *y) { used<<<1, 32>>>(n, x, y); }
"""


def test_features_and_findings():
    found = structure(Candidate(files=(File(name="k.cu", language="cuda", text=TEXT),), entry="launch_f"))
    used, decoy = found.kernels
    assert (used.kernel, used.launched, used.loop_depth) == ("used", True, 1)
    assert (used.barriers, used.barriers_in_loops, used.atomics, used.shared_arrays) == (2, 1, 1, 1)
    assert (used.pointer_parameters, used.restrict_parameters) == (2, 1)
    assert (decoy.kernel, decoy.launched) == ("decoy", False)
    places = {(f.rule, f.line) for f in found.findings}
    assert {("atomic-in-loop", 5), ("barrier-in-divergent-branch", 7), ("kernel-never-launched", 9)} <= places
