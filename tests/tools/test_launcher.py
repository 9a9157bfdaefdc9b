"""The split of a candidate: what goes where, which kernels it launches, and what is refused by name."""

import pytest
from cudaperf_agent.tools.constructs import NEEDS_COMPILER, UNSUPPORTED
from cudaperf_agent.tools.launch_macros import rewritten_launches
from cudaperf_agent.tools.launcher import split
from cudaperf_agent.tools.records import FunctionSpec, StructSpec
from kernels import candidate, function

KERNEL = "__global__ void k(int n, float *x) { x[threadIdx.x] = n; }\n"
LAUNCHER = 'extern "C" void launch_f(int n, float *x) { k<<<1, 32>>>(n, x); }\n'


def parts(text: str, parameters: str = "int n, float *x"):
    return split(function(parameters), candidate(text))


def test_each_function_is_in_its_part():
    text = (
        "#include <vector>\n"
        "static int calls = 0;\n"
        "__constant__ float c[4];\n"
        "constexpr int WIDTH = 4;\n"
        "__device__ float square(float v) { return v * v; }\n"
        "__host__ __device__ int twice(int v) { return 2 * v; }\n"
        "static int blocks(int n) { calls++; return n; }\n" + KERNEL + LAUNCHER
    )
    found = parts(text)
    assert found.findings == ()
    for word in (
        "vector",
        "calls",
        "blocks",
        "twice",
        "WIDTH",
        "launch_f",
        "void k(int n, float *x) { ::cudaperf::stub(",
    ):
        assert word in found.host
    assert "square" not in found.host and "threadIdx" not in found.host
    for word in ("square", "twice", "WIDTH", "threadIdx", "float c[4]"):
        assert word in found.device
    assert not any(word in found.device for word in ("vector", "calls", "blocks", "launch_f"))
    assert [(s.name, s.constant) for s in found.symbols] == [("c", True)]


def test_lines_stay_where_they_are():
    text = "#include <cmath>\n\n" + KERNEL + "\n__device__ int two()\n{\n    return 2;\n}\n" + LAUNCHER
    found = parts(text)
    for part in (found.host, found.device):
        own = part.split('#line 1 "candidate.cu"\n')[1]
        assert len(own.split("\n#line")[0].splitlines()) >= len(text.splitlines())
    host = found.host.split('#line 1 "candidate.cu"\n')[1].splitlines()
    assert "launch_f" in host[text.splitlines().index(LAUNCHER.strip())]


def test_the_source_tells_its_kernels_unless_templates_are_left_to_the_compiler():
    plain = KERNEL + "namespace deep { __global__ void other(float *x) {} }\n" + LAUNCHER
    assert parts(plain).instances == ("k", "deep::other")
    template = "template <typename T> __global__ void t(T *x) {}\n" + KERNEL + LAUNCHER
    assert parts(template).instances is None
    overload = "__global__ void k(float *x) {}\n" + KERNEL + LAUNCHER
    assert parts(overload).instances is None


@pytest.mark.parametrize(
    "text",
    [
        "#define GO(k, n, x) k<<<(n + 31) / 32, 32>>>(n, x)",
        "#define GO(name, ...) ns::name<float, 4><<<1, 32, 0, 0>>>(__VA_ARGS__);",
        "a<<<1, 2>>>(f(x), g((y)));  b <<<dim3(1), 2>>> (z);",
    ],
)
def test_launches_in_macros_become_calls_of_stubs(text):
    found = rewritten_launches(text)
    assert "<<<" not in found and ">>>" not in found
    assert found.count("(::cudaperf::configure(") == text.count("<<<")
    assert (
        "), k(n, x))" in found
        or "), ns::name<float, 4>(__VA_ARGS__));" in found
        or "), a(f(x), g((y))))" in found
    )


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (KERNEL + 'extern "C" void launch_g(int n, float *x) { k<<<1, 1>>>(n, x); }', "launch_f is missing", 1),
        (KERNEL + LAUNCHER.replace('extern "C" ', ""), 'not extern "C"', 2),
        (KERNEL + LAUNCHER.replace("int n, float *x)", "float *x)"), "1 parameters, not 2", 2),
        ('extern "C" void launch_f(int n, float *x) { }', "launches no kernel", 1),
        ("__global__ void k(int n, float *x) { x[0] = ; }\n" + LAUNCHER, "cannot parse", 1),
    ],
)  # fmt: skip
def test_broken_contracts_are_told_with_their_place(text, message, line):
    found = parts(text).findings
    assert any(message in f.message and f.line == line for f in found), found


SAMPLES = {
    "inline assembly": 'asm volatile("bar.sync 0;");',
    "managed variables": "__managed__ float p;",
    "texture references": "texture<float, 2> t;",
    "mipmapped textures and gathers": "cudaMipmappedArray_t a;",
    "device-wide algorithms of CUB": "cub::DeviceReduce::Sum(nullptr, n, x, x, n);",
    "launches over several devices": "cudaLaunchCooperativeKernelMultiDevice(nullptr, 1);",
    "conditional graph nodes": "cudaGraphConditionalHandle h;",
    "the driver API": "cuMemAlloc(nullptr, 4);",
    "thread block clusters": "auto c = this_cluster();",
    "asynchronous copies": "memcpy_async(0, 0);",
    "tensor core fragments": "wmma::fill();",
    "device lambdas": "auto f = [=] __device__ (int i) { return i; };",
}


@pytest.mark.parametrize("construct", [*UNSUPPORTED, *NEEDS_COMPILER])
def test_unsupported_constructs_are_refused_by_name(construct):
    text = (
        KERNEL
        + 'extern "C" void launch_f(int n, float *x) { k<<<1, 1>>>(n, x);\n'
        + SAMPLES[construct]
        + "\n}"
    )
    found = parts(text)
    reasons = found.findings if construct in UNSUPPORTED else found.needs
    assert any(construct in f.message and f.line == 3 and f.remedy for f in reasons)


def test_a_variable_may_be_called_half():
    assert parts(KERNEL + LAUNCHER.replace("{ ", "{ int half = n / 2; ")).findings == ()


def test_a_word_in_a_comment_or_string_is_not_refused():
    text = (
        "// asm and __managed__\n" + KERNEL + LAUNCHER.replace("{ ", '{ const char *s = "wmma::"; (void)s; ')
    )
    assert parts(text).findings == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('#include "/etc/passwd"\n' + KERNEL + LAUNCHER, "a candidate is one file"),
        ("#include <cublas_v2.h>\n" + KERNEL + LAUNCHER, "libraries"),
        ("#include <thrust/sort.h>\n" + KERNEL + LAUNCHER, "libraries"),
        (
            KERNEL + "__global__ void parent(int n, float *x) { k<<<1, 1>>>(n, x); }\n"
            + LAUNCHER.replace("k<<<", "parent<<<"),
            "launched from device code",
        ),
    ],
)  # fmt: skip
def test_launches_that_cannot_be_split_are_refused(text, message):
    assert any(message in f.message for f in parts(text).findings)


def test_the_prelude_is_left_out_where_the_candidate_defines_the_struct():
    prelude = "typedef struct { float x, y; } Point;\n"
    spec = StructSpec(name="Point", spelling="Point", size=8, fields=())
    base = function("int n, float *x")
    wanted = FunctionSpec(**(base.model_dump() | {"structs": (spec,), "prelude": prelude}))
    assert prelude in split(wanted, candidate(KERNEL + LAUNCHER)).host
    own = "struct Point { float x, y; };\n" + KERNEL + LAUNCHER
    assert prelude not in split(wanted, candidate(own)).host
