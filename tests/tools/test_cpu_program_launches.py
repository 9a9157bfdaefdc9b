"""Whole programs on the CPU device: how launches end and wait, and the memory that both sides have."""

import pytest
from cudaperf_agent.tools.device import Checks
from programs import KERNELS, printed, run


def test_an_assertion_that_fails_ends_its_launch_and_every_later_call_tells_it(tmp_path):
    text = """#include <assert.h>
#include <cstdio>
__global__ void check(int n) { assert(blockIdx.x * blockDim.x + threadIdx.x < n); }
__global__ void write(int *x) { *x = 1; }
int main() {
    int *x;
    cudaMalloc(&x, 4);
    check<<<2, 32>>>(60);
    printf("%s, ", cudaGetErrorName(cudaDeviceSynchronize()));
    write<<<1, 1>>>(x);
    printf("%d %d %d", cudaGetLastError(), cudaGetLastError(), cudaMalloc(&x, 4));
}
"""
    ran = run(tmp_path, text)
    assert (ran.failure, ran.status, ran.stdout) == (None, 0, "cudaErrorAssert, 710 710 710")
    assert [(f.rule, f.severity, f.line) for f in ran.findings] == [("trap", "warning", 3)]
    assert run(tmp_path, text, Checks(bounds=True)).failure == "crash"


def test_what_kernels_printed_before_one_of_them_failed_is_shown(tmp_path):
    text = """#include <cstdio>
__global__ void hello(int *x) { printf("kernel\\n"); if (x) *x = 1; }
int main() {
    printf("host\\n");
    hello<<<1, 1>>>(nullptr);
    hello<<<1, 1>>>((int *)8);
    cudaDeviceSynchronize();
    printf("never\\n");
}
"""
    ran = run(tmp_path, text)
    assert ran.failure == "crash"
    assert ran.stdout == "host\nkernel\nkernel\n"


def test_threads_may_meet_at_barriers_of_different_lines_unless_asked(tmp_path):
    text = """#include <cstdio>
__global__ void halves(int *x) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
    int *x, first;
    cudaMalloc(&x, 256);
    halves<<<1, 64>>>(x);
    cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost);
    printf("%d", first);
}
"""
    assert printed(tmp_path, text, Checks(barriers=False)) == "63"
    assert run(tmp_path, text).failure == "barrier-divergence"


def test_shared_memory_that_is_given_back_is_there_for_others(tmp_path):
    text = """#include <cstdio>
int main() {
    size_t size = size_t{3} << 30;
    for (int i = 0; i < 4; i++) {
        char *x;
        if (cudaMallocManaged(&x, size)) return 1;
        printf("%d ", x[size - 1]);
        x[size - 1] = 7;
        cudaFree(x);
    }
}
"""
    assert printed(tmp_path, text) == "0 0 0 0 "


def test_what_only_the_host_compiles_is_left_out_of_the_device_part(tmp_path):
    text = """#include <chrono>
#include <iostream>
#include <vector>
using namespace std::chrono;
typedef high_resolution_clock Clock;
using namespace std;
template <typename T> struct List {
    vector<T> all;
    template <typename F> void each(F f);
};
template <typename T>
template <typename F>
void List<T>::each(F f) { for (T &x : all) f(x); }
struct Pair {
    int a, b;
    __host__ __device__ int sum() const { return a + b; }
    friend ostream &operator<<(ostream &out, const Pair &p) { return out << p.a << "," << p.b << "=" << p.sum(); }
};
__global__ void step(Pair *p) { p->b = p->sum(); }
int main() {
    List<Pair> list{{{1, 2}}};
    Pair *p;
    cudaMallocManaged(&p, sizeof *p);
    list.each([p](Pair &x) { *p = x; });
    step<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    cout << *p << (Clock::now() < Clock::time_point() ? "?" : "");
}
"""
    assert printed(tmp_path, text) == "1,3=4"


def test_an_error_in_device_code_is_told_though_others_could_be_left_out(tmp_path):
    text = """#include <iostream>
using namespace std;
struct Log { ostream *out; };
__global__ void step(Log *log, int *x) { *x = unknown; }
int main() {}
"""
    ran = run(tmp_path, text)
    assert ran.failure == "compile"
    assert {f.line for f in ran.findings} == {3, 4}


GRID = """#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void turns(int *x, int n) {
    cg::grid_group grid = cg::this_grid();
    __shared__ int seen;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0) seen = x[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
        if (threadIdx.x == 0) x[blockIdx.x] = seen + 1;
        grid.sync();
    }
}
"""


@pytest.mark.parametrize("order", ["forward", "reverse", "shuffled"])
def test_the_blocks_of_a_cooperative_launch_wait_for_each_other(tmp_path, order):
    text = (
        GRID
        + """
int main() {
    int *x, n = 3;
    cudaMallocManaged(&x, 5 * sizeof *x);
    for (int i = 0; i < 5; i++) x[i] = i * i;
    void *arguments[] = {&x, &n};
    cudaLaunchCooperativeKernel(turns, 5, 64, arguments);
    cudaDeviceSynchronize();
    for (int i = 0; i < 5; i++) printf("%d ", x[i]);
    cudaLaunchCooperativeKernel(turns, 4096, 1024, arguments);
}
"""
    )
    ran = run(tmp_path, text, Checks(order=order))
    assert ran.stdout.startswith("12 19 3 4 7 ")
    assert [f.rule for f in ran.findings] == ["launch-error"]


def test_a_wait_for_the_grid_needs_a_cooperative_launch(tmp_path):
    ran = run(tmp_path, GRID + "int main() { turns<<<2, 32>>>(nullptr, 0); turns<<<1, 32>>>(nullptr, 1); }")
    assert ran.failure == "crash"


def test_registered_memory_of_the_host_is_mapped_and_stays_where_it_is(tmp_path):
    text = (
        KERNELS
        + """
#include <stdlib.h>
int main() {
    float *block = (float *)malloc(3 * 4096), *x = block + 100, *device;
    for (int i = 0; i < 1024; i++) x[i] = i;
    block[0] = 7;
    printf("%d ", cudaHostRegister(x, 1024 * sizeof *x, cudaHostRegisterMapped));
    printf("%d ", cudaHostRegister(x + 8, 4, cudaHostRegisterMapped));
    cudaHostGetDevicePointer((void **)&device, x, 0);
    scale<<<8, 128>>>(1024, device, 2);
    cudaDeviceSynchronize();
    printf("%g %g ", x[1023], block[0]);
    x[0] = 5;
    scale<<<8, 128>>>(1024, device, 2);
    cudaDeviceSynchronize();
    printf("%d ", cudaHostUnregister(x));
    printf("%g %g", x[0], x[1]);
    free(block);
}
"""
    )
    assert printed(tmp_path, text) == "0 712 2046 7 0 10 4"


def test_threads_that_wait_for_the_clock_do_not_wait_one_after_the_other(tmp_path):
    text = """#include <cstdio>
__global__ void wait(long long cycles) {
    for (long long begin = clock64(); clock64() - begin < cycles;) {}
}
int main() {
    wait<<<64, 64>>>(1755000000);
    printf("%d", cudaDeviceSynchronize());
}
"""
    assert printed(tmp_path, text) == "0"


def test_threads_allocate_and_give_back(tmp_path):
    text = """#include <cstdio>
#include <stdlib.h>
struct Node {
    int value;
    Node *next;
    __device__ Node(int v, Node *n) : value(v), next(n) {}
};
__global__ void build(Node **heads) {
    Node *list = nullptr;
    for (int i = 0; i < 4; i++) list = new Node(i, list);
    heads[threadIdx.x] = list;
}
__global__ void sum(Node **heads, int *sums) {
    int *copy = (int *)malloc(sizeof(int));
    *copy = 0;
    for (Node *n = heads[threadIdx.x], *next; n; n = next) *copy += n->value, next = n->next, delete n;
    sums[threadIdx.x] = *copy;
    free(copy);
}
int main() {
    Node **heads;
    int *sums;
    cudaMalloc(&heads, 8 * sizeof *heads);
    cudaMallocManaged(&sums, 8 * sizeof *sums);
    build<<<1, 8>>>(heads);
    sum<<<1, 8>>>(heads, sums);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) printf("%d", sums[i]);
}
"""
    assert printed(tmp_path, text) == "66666666"
    assert printed(tmp_path, text, Checks(bounds=True)) == "66666666"


def test_simd_intrinsics_work_on_each_lane(tmp_path):
    words = {
        "__vadd2(0x0001ffff, 0x00010001)": 0x0002_0000,
        "__vaddss2(0x7fff8000, 0x00018000)": 0x7FFF_8000,
        "__vsubus4(0x01020304, 0x02020202)": 0x0000_0102,
        "__vabsdiffs4(0x80000000, 0x7f000000)": 0xFF00_0000,
        "__vcmpgts4(0x01ff7f80, 0x00000000)": 0xFF00_FF00,
        "__vsetltu2(0x0001ffff, 0x0002fffe)": 0x0001_0000,
        "__vavgs2(0x0001ffff, 0x0002fffe)": 0x0002_FFFE,
        "__vabsss4(0x80ff0102)": 0x7F01_0102,
        "__vmaxs4(0x80017f00, 0x00ff0100)": 0x0001_7F00,
        "__vsadu4(0x01020304, 0x04030201)": 8,
    }
    calls = "".join(f"x[{i}] = {call}; " for i, call in enumerate(words))
    text = f"""#include <cstdio>
__global__ void all(unsigned int *x) {{ {calls} }}
int main() {{
    unsigned int *x;
    cudaMallocManaged(&x, 4 * {len(words)});
    all<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    for (int i = 0; i < {len(words)}; i++) printf("%u ", x[i]);
}}
"""
    assert list(map(int, printed(tmp_path, text).split())) == list(words.values())


def test_a_managed_variable_is_one_for_both_sides(tmp_path):
    text = """#include <cstdio>
__device__ __managed__ int x = 3, y[4] = {1, 2};
namespace inner { __managed__ double z; }
__global__ void step(int *heap) { x *= 2; y[3] = y[1]; inner::z += 0.5; *heap = x; }
int main() {
    int *heap;
    cudaMallocManaged(&heap, 4);
    inner::z = 1;
    step<<<1, 1>>>(heap);
    cudaDeviceSynchronize();
    printf("%d %d %d %g %d", x, y[0], y[3], inner::z, *heap);
}
"""
    assert printed(tmp_path, text) == "6 1 2 1.5 6"
    assert printed(tmp_path, text, Checks(bounds=True)) == "6 1 2 1.5 6"


def test_each_thread_moves_its_own_parameter(tmp_path):
    text = """#include <cstdio>
__global__ void fill(int *out, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = blockIdx.x;
    __syncthreads();
    out += blockIdx.x * blockDim.x;
    n -= threadIdx.x;
    out[threadIdx.x] = 10 * s + n;
}
int main() {
    int *x;
    cudaMallocManaged(&x, 4 * sizeof *x);
    fill<<<2, 2>>>(x, 5);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++) printf("%d ", x[i]);
}
"""
    assert printed(tmp_path, text) == "5 4 15 14 "
