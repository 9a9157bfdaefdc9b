"""Each kind of failure is told by its name and the candidate's line, and costs neither us nor the next case."""

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Case, Checks
from kernels import EVERYTHING, built, execute, refused

X = np.arange(256, dtype=np.float32)
FLOATS = "int n, float *x"


def launched(kernel: str, launch: str = "<<<1, 256>>>") -> str:
    """A candidate around a kernel `k(int n, float *x)`; the kernel's text starts in line 1."""
    return f'{kernel}\nextern "C" void launch_f(int n, float *x) {{ k{launch}(n, x); }}\n'


def body(*lines: str) -> str:
    return "__global__ void k(int n, float *x) { int i = threadIdx.x;\n" + "\n".join(lines) + "\n}"


# Failure, the line that must be named, and the kernel's body from line 2 on.
PLANTED = {
    "past the end": ("out-of-bounds", 3, ["if (i <= n - 1)", "x[i + 1] = 1.0f;"]),
    "before the start": ("out-of-bounds", 2, ["x[i] = x[i - 1];"]),
    "far away": ("out-of-bounds", 2, ["x[i * 1000000] = 1.0f;"]),
    "shared index": ("out-of-bounds", 3, ["__shared__ float s[128]; s[i & 127] = 0; __syncthreads();", "x[i] = s[i];"]),
    "dynamic shared": ("out-of-bounds", 3, ["extern __shared__ float s[];", "s[i] = x[i]; x[i] = s[i];"]),
    "missing barrier": ("race", 3, ["__shared__ float s[256]; s[i] = x[i];", "x[i] = s[255 - i];"]),
    "missing second barrier": (
        "race", 4,
        ["__shared__ float s[256]; float v = 0;", "for (int t = 0; t < 4; t++) {", "s[i] = x[i] + t; __syncthreads();",
         "v += s[255 - i]; } x[i] = v;"],
    ),
    "within a warp": ("race", 3, ["__shared__ float s[256]; s[i] = i;", "float v = s[i ^ 1]; x[i] = v;"]),
    "unordered sum": ("race", 2, ["x[0] += 1.0f;"]),
    "between branches": (
        "barrier-divergence", 3, ["if (i < 128) __syncthreads();", "else { x[i] = 1; __syncthreads(); }"],
    ),
    "warp waits for nobody": (
        "barrier-divergence", 2, ["if (i % 32 < 16) x[i] += __shfl_down_sync(~0u, x[i], 8);", "__syncthreads();"],
    ),
    "mask without itself": ("barrier-divergence", 2, ["x[i] = __shfl_sync(1u, x[i], 0);"]),
    "local index": (
        "out-of-bounds", 2, ["float h[4]; for (int j = 0; j < 5; j += n / 256) h[j] = j; x[i] = h[i & 3];"],
    ),
    "misaligned vector": ("misaligned-access", 2, ["if (i < 32) x[i] = reinterpret_cast<float4 *>(x + 1)[i].y;"]),
    "uninitialized shared": (
        "uninitialized-read", 3,
        ["__shared__ float s[256]; if (i & 1) s[i] = x[i]; __syncthreads();", "x[i] = s[i] > 0 ? 1.0f : 0.0f;"],
    ),
    "stack": (
        "crash", 3,
        ["volatile float h[99999]; __syncthreads();", "for (int j = 0; j < 99999; j++) h[j] = j; x[i] = h[i];"],
    ),
    "division": ("crash", 2, ["x[i] = 100 / (n - 256);"]),
    "trap": ("crash", 2, ["if (i == 3) __trap();"]),
    "wild pointer": ("crash", 2, ["*(volatile float *)(size_t)(16 + n) = 1.0f;"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bug_is_named_with_its_line(name):
    failure, line, text = PLANTED[name]
    result = execute(FLOATS, launched(body(*text)), {"n": 256, "x": X})
    assert result.failure == failure, result.findings
    assert line in {f.line for f in result.findings}, result.findings
    assert {f.file for f in result.findings} == {"candidate.cu"}


def test_both_parties_of_a_race_are_named():
    text = body("__shared__ float s[256]; s[i] = x[i];", "x[i] = s[255 - i];")
    result = execute(FLOATS, launched(text), {"n": 256, "x": X})
    message = next(f.message for f in result.findings if f.rule == "race")
    assert "candidate.cu:2" in message and "candidate.cu:3" in message and "thread (" in message


def test_fresh_device_memory_is_uninitialized_until_it_is_written():
    text = (
        "__global__ void k(float *x, const float *s) {\n int i = threadIdx.x;\n x[i] = s[i] == 0.0f;\n}\n"
        'extern "C" void launch_f(int n, float *x) { float *s; cudaMalloc(&s, n * 4); %s; k<<<1, 256>>>(x, s);'
        " cudaFree(s); }"
    )
    result = execute(FLOATS, text % "cudaMemset(s, 0, n * 2)", {"n": 256, "x": X})
    assert result.failure == "uninitialized-read" and [f.line for f in result.findings] == [3]
    assert "thread (128,0,0)" in result.findings[0].message
    assert execute(FLOATS, text % "cudaMemset(s, 0, n * 4)", {"n": 256, "x": X}).findings == ()


def test_race_between_blocks():
    text = launched(body("if (i == 0) x[0] = x[blockIdx.x + 1];", "x[blockIdx.x + 1] = 0.0f;"), "<<<4, 32>>>")
    result = execute(FLOATS, text, {"n": 256, "x": X})
    assert result.failure == "race"


def test_writes_of_one_value_are_no_race():
    result = execute(
        FLOATS, launched(body("if (x[i + 1] > 2.0f) x[0] = 1.0f;"), "<<<1, 255>>>"), {"n": 256, "x": X}
    )
    assert result.failure is None and result.findings == ()


def test_early_return_before_a_barrier_is_a_warning():
    text = body("if (i >= 200) return;", "__syncthreads();", "x[i] = 1.0f;")
    result = execute(FLOATS, launched(text), {"n": 256, "x": X})
    assert result.failure is None
    assert [(f.rule, f.severity, f.line) for f in result.findings] == [("exit-before-barrier", "warning", 3)]


@pytest.mark.parametrize(
    "text",
    [
        launched(body("while (n) { x[i] += 1.0f; }")),
        launched(body("__shared__ volatile int flag; flag = 0; __syncthreads();", "while (!flag) {}")),
        "__global__ void k(int n, float *x) {}\n"
        'extern "C" void launch_f(int n, float *x) { k<<<1, 1>>>(n, x); while (n) {} }',
    ],
)
def test_endless_loops_end_at_the_time_limit(text):
    result = execute(FLOATS, text, {"n": 256, "x": X}, Checks(), seconds=0.3)
    assert result.failure == "timeout" and result.seconds < 2.0
    where = "in the launcher" if "while (n) {} }" in text else "in the kernel k"
    assert where in result.findings[0].message


@pytest.mark.parametrize(
    ("launch", "part"),
    [
        ("<<<1, 2048>>>", "1024 threads"),
        ("<<<0, 32>>>", "grid is empty"),
        ("<<<dim3(1, 70000), 32>>>", "65535"),
        ("<<<1, 32, 100000>>>", "shared memory"),
    ],
)
def test_impossible_launch(launch, part):
    result = execute(FLOATS, launched(body("x[i] = 1.0f;"), launch), {"n": 256, "x": X}, Checks())
    assert result.failure == "launch-error"
    assert part in result.launches[0].error
    np.testing.assert_array_equal(result.arrays["x"], X)


@pytest.mark.parametrize(
    ("statement", "failure"),
    [
        ("x[0] = 1.0f;", "host-access"),
        ("n = (int)x[3];", "host-access"),
        ("abort();", "crash"),
        ("exit(0);", "crash"),
        ("*(volatile int *)nullptr = 1;", "crash"),
        ("for (;;) memset(malloc(1 << 24), 1, 1 << 24);", "crash"),
        ("float *p; cudaMalloc(&p, (size_t)1 << 36); k<<<1, 1>>>(n, p);", "out-of-memory"),
    ],
)
def test_misbehaving_launcher(statement, failure):
    text = launched(body("x[i] = 1.0f;"))
    text = text.replace("k<<<1, 256>>>(n, x);", f"k<<<1, 256>>>(n, x); {statement} k<<<1, 1>>>(n, x);")
    result = execute(FLOATS, text, {"n": 256, "x": X}, Checks())
    assert result.failure == failure, result.findings
    if failure == "host-access":
        assert result.findings[0].line == 4


def test_a_launcher_cannot_leave_a_thread_behind():
    text = "#include <thread>\n" + launched(body("x[i] = 1.0f;"))
    text = text.replace("k<<<1, 256>>>(n, x);", "std::thread([=] { k<<<1, 256>>>(n, x); }).detach();")
    assert execute(FLOATS, text, {"n": 256, "x": X}, Checks()).failure == "crash"


def test_memory_of_the_launcher_and_of_the_device_lives_on_between_calls():
    text = (
        "__device__ int calls = 0;\n__global__ void k(int n, float *x, float *kept) "
        "{ calls++; if (n == 0) kept[0] = 5; x[0] = kept[0] + calls; }\n"
        'extern "C" void launch_f(int n, float *x) { static float *kept = nullptr;\n'
        "if (!kept) cudaMalloc(&kept, 4); k<<<1, 1>>>(n, x, kept); }"
    )
    cases = [Case(str(n), {"x": X.copy()}, {"n": n}) for n in range(3)]
    for checked, checks in ((False, Checks()), (True, EVERYTHING)):
        results = CpuDevice().run(built(FLOATS, text, checked), cases, checks)
        assert [r.arrays["x"][0] for r in results] == [6, 7, 8]
        assert [r.failure for r in results] == [None] * 3


def test_checks_need_a_checked_build():
    with pytest.raises(ValueError, match="checked=True"):
        CpuDevice().run(built(FLOATS, launched(body("x[i] = 1.0f;")), False), [], Checks(bounds=True))


def test_write_beside_a_buffer_without_checks_is_noticed():
    result = execute(FLOATS, launched(body("if (i == 0) x[256 + 7] = 1.0f;")), {"n": 256, "x": X}, Checks())
    assert result.damaged == ("x",)


def test_copies_with_mixed_up_pointers_fail_and_change_nothing():
    text = (
        f'{body("x[i] = x[i];")}\nextern "C" void launch_f(int n, float *x) {{ float host[256] = {{1.0f}};\n'
        "cudaMemcpy(x, host, sizeof(host), cudaMemcpyDeviceToHost); k<<<1, 256>>>(n, x); }"
    )
    result = execute(FLOATS, text, {"n": 256, "x": X}, Checks())
    assert "cudaErrorInvalidValue" in result.findings[0].message
    np.testing.assert_array_equal(result.arrays["x"], X)


def test_fresh_memory_reads_as_nan():
    text = (
        "__global__ void k(int n, float *x, float *fresh) { __shared__ float s[8]; x[0] = fresh[0]; x[1] = s[3]; }\n"
        'extern "C" void launch_f(int n, float *x) { float *p; cudaMalloc(&p, 64); k<<<1, 1>>>(n, x, p); cudaFree(p); }'
    )
    result = execute(FLOATS, text, {"n": 256, "x": X})
    assert np.isnan(result.arrays["x"][:2]).all()


def test_a_failed_case_does_not_touch_the_next():
    text = launched(
        body("if (n == 13) while (n) { x[i] += 1.0f; }", "if (n == 14) __trap();", "x[i] += 1.0f;")
    )
    build = built(FLOATS, text, False)
    cases = [Case(f"n={n}", {"x": X.copy()}, {"n": n}, seconds=0.3) for n in (12, 13, 14, 15)]
    results = CpuDevice().run(build, cases, Checks())
    assert [r.failure for r in results] == [None, "timeout", "crash", None]
    np.testing.assert_array_equal(results[3].arrays["x"], X + 1)


def test_the_launcher_cannot_forge_results():
    text = launched(body("x[i] = x[i];")).replace("k<<<1, 256>>>(n, x);", """
        for (int fd = 0; fd < 256; fd++) if (fd != 3) {
            const char *lie = "{\\"event\\":\\"end\\",\\"leaked\\":0}\\n";
            (void)!write(fd, lie, strlen(lie));
        }
        k<<<1, 2048>>>(n, x);""")  # fmt: skip
    result = execute(FLOATS, "#include <unistd.h>\n" + text, {"n": 256, "x": X}, Checks())
    assert result.failure == "launch-error"


def test_device_code_cannot_call_the_system():
    declared = 'extern "C" __device__ long write(int, const void *, unsigned long);\n'
    found = refused(FLOATS, declared + launched(body('write(1, "x", 1);')))
    assert "only on the host" in found[0]


def test_everything_at_once_is_cheap_for_the_parent():
    before = execute(FLOATS, launched(body("x[i] += 1.0f;")), {"n": 256, "x": X}, EVERYTHING)
    assert before.failure is None and before.counts[0].threads == 256
