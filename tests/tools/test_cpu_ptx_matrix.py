"""Matrix instructions of a warp against NumPy, through the layouts of NVIDIA's PTX ISA, chapter "Matrix Fragments"."""

from dataclasses import dataclass

import numpy as np
import pytest
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.nvcc import find_nvcc
from kernels import candidate, execute, function

pytestmark = pytest.mark.skipif(find_nvcc() is None, reason="engine ptx needs NVIDIA's compiler")
RNG = np.random.default_rng(11)
INTEGERS = "int n, const unsigned *x, unsigned *y"
LANE = np.arange(32)
GROUP, MEMBER = LANE // 4, LANE % 4


@dataclass(frozen=True)
class Type:
    """How NumPy holds elements of a type, and how many fill a register of how many 32-bit words."""

    dtype: str
    count: int = 1
    words: int = 1


TYPES = {
    "f16": Type("float16", 2), "bf16": Type("bf16", 2), "tf32": Type("tf32"), "f32": Type("float32"),
    "f64": Type("float64", 1, 2), "s8": Type("int8", 4), "u8": Type("uint8", 4), "s32": Type("int32"),
    "e4m3": Type("e4m3", 4), "e5m2": Type("e5m2", 4),
}  # fmt: skip
TF32_MASK = np.uint32(0xFFFFE000)


def random_bits(type, shape):
    """Elements as unsigned integers of their width, and their values."""
    if type in ("s8", "u8", "s32"):
        info = np.iinfo(TYPES[type].dtype)
        values = RNG.integers(info.min, info.max, shape, dtype=TYPES[type].dtype, endpoint=True)
        return values.view(f"u{values.itemsize}"), values.astype(np.int64)
    if type in ("e4m3", "e5m2"):
        bits = RNG.integers(0, 0x78, shape, dtype=np.uint8) | RNG.integers(0, 2, shape, dtype=np.uint8) << 7
        return bits, byte_values(type)[bits]
    values = RNG.standard_normal(shape)
    if type in ("f16", "f32", "f64"):
        values = values.astype(TYPES[type].dtype)
        return values.view(f"u{values.itemsize}"), values.astype(np.float64)
    bits = values.astype(np.float32).view(np.uint32)
    if type == "bf16":
        bits &= np.uint32(0xFFFF0000)
        return (bits >> 16).astype(np.uint16), bits.view(np.float32).astype(np.float64)
    return bits, (bits & TF32_MASK).view(np.float32).astype(np.float64)


def byte_values(type):
    """All numbers of eight bits, from the definition of the format."""
    fraction_bits, bias = {"e4m3": (3, 7), "e5m2": (2, 15)}[type]
    code = np.arange(256)
    exponent, fraction = (code & 127) >> fraction_bits, code & ((1 << fraction_bits) - 1)
    significand = np.where(exponent > 0, 1.0, 0.0) + fraction / (1 << fraction_bits)
    return np.where(code & 128, -1, 1) * significand * 2.0 ** (np.maximum(exponent, 1) - bias)


def places(type, role, i, m):
    """Row and column of element i of all lanes, as the figures of the ISA's sections give them for each type."""
    if role == "c":
        return GROUP + (8 if i % 4 >= 2 and m == 16 else 0), MEMBER * 2 + i % 2
    count = {"f64": 1}.get(type, TYPES[type].count)
    register = i // count
    inside = MEMBER * count + i % count
    if role == "b":
        return 4 * count * register + inside, GROUP
    if m == 8:
        return GROUP, 4 * count * register + inside
    return GROUP + 8 * (register % 2), 4 * count * (register // 2) + inside


def pack(bits, type, role, m):
    """The registers of all lanes, as 32-bit words."""
    count, elements = TYPES[type].count, bits.size // 32
    held = np.stack([bits[places(type, role, i, m)] for i in range(elements)], axis=1)
    return np.ascontiguousarray(held).view(np.uint32).reshape(32, elements // count * TYPES[type].words)


def unpack(words, type, shape):
    held = words.view({"f16": "u2", "f64": "u8"}.get(type, "u4"))
    result = np.zeros(shape, held.dtype)
    for i in range(held.shape[1]):
        result[places(type, "c", i, shape[0])] = held[:, i]
    return result.view(TYPES[type].dtype)


MMA = [
    ("m16n8k8", "f16", "f16", "f32"), ("m16n8k16", "f16", "f16", "f32"), ("m16n8k16", "f16", "f16", "f16"),
    ("m16n8k8", "f16", "f16", "f16"), ("m16n8k8", "bf16", "bf16", "f32"), ("m16n8k16", "bf16", "bf16", "f32"),
    ("m16n8k4", "tf32", "tf32", "f32"), ("m16n8k8", "tf32", "tf32", "f32"), ("m8n8k16", "s8", "u8", "s32"),
    ("m16n8k16", "s8", "s8", "s32"), ("m16n8k32", "u8", "s8", "s32"), ("m16n8k32", "s8", "s8", "s32"),
    ("m8n8k4", "f64", "f64", "f64"), ("m16n8k4", "f64", "f64", "f64"), ("m16n8k8", "f64", "f64", "f64"),
    ("m16n8k16", "f64", "f64", "f64"), ("m16n8k32", "e4m3", "e5m2", "f32"), ("m16n8k32", "e5m2", "e4m3", "f32"),
]  # fmt: skip


def mma_kernel(name, a, b, c, counts):
    """Reads the registers a, b, c of each lane from x, one after the other, and writes those of d to y."""
    letters = {t: ("d" if t == "f64" else "r") for t in TYPES}
    kinds = {t: ("double" if t == "f64" else "unsigned") for t in TYPES}
    na, nb, nc = counts
    numbers = iter(range(nc + na + nb + nc))
    slots = ["{" + ", ".join(f"%{next(numbers)}" for _ in range(n)) + "}" for n in (nc, na, nb, nc)]
    outputs = ", ".join(f'"={letters[c]}"(d[{i}])' for i in range(nc))
    inputs = ", ".join(
        f'"{letters[t]}"({v}[{i}])'
        for v, t, n in (("a", a, na), ("b", b, nb), ("c", c, nc))
        for i in range(n)
    )
    return f"""__global__ void k(const unsigned *x, unsigned *y) {{
    {kinds[a]} a[{na}]; {kinds[b]} b[{nb}]; {kinds[c]} c[{nc}], d[{nc}];
    const unsigned *mine = x + threadIdx.x * (sizeof a + sizeof b + sizeof c) / 4;
    memcpy(a, mine, sizeof a);
    memcpy(b, mine + sizeof a / 4, sizeof b);
    memcpy(c, mine + (sizeof a + sizeof b) / 4, sizeof c);
    asm volatile("mma.sync.aligned.{name}.row.col.{c}.{a}.{b}.{c} {", ".join(slots)};"
        : {outputs} : {inputs});
    memcpy(y + threadIdx.x * sizeof d / 4, d, sizeof d);
}}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) {{ k<<<1, 32>>>(x, y); }}"""


def sizes(name):
    return tuple(int(v) for v in name[1:].replace("n", " ").replace("k", " ").split())


@pytest.mark.parametrize(("name", "a", "b", "c"), MMA, ids=lambda v: v)
def test_mma_multiplies(name, a, b, c):
    m, n, k = sizes(name)
    (ab, av), (bb, bv), (cb, cv) = (random_bits(t, s) for t, s in ((a, (m, k)), (b, (k, n)), (c, (m, n))))
    if c == "s32":
        cb, cv = cb // 2, (cb // 2).astype(np.int64)
    packed = [pack(bits, t, r, m) for bits, t, r in ((ab, a, "a"), (bb, b, "b"), (cb, c, "c"))]
    counts = [p.shape[1] // TYPES[t].words for p, t in zip(packed, (a, b, c), strict=True)]
    x = np.concatenate(packed, axis=1).reshape(-1)
    y = np.zeros(packed[2].size, np.uint32)
    result = execute(INTEGERS, mma_kernel(name, a, b, c, counts), {"n": x.size, "x": x, "y": y})
    assert result.failure is None, result.findings
    got = unpack(result.arrays["y"].reshape(32, -1), c, (m, n))
    exact = av @ bv + cv
    if c == "s32":
        np.testing.assert_array_equal(got, exact)
    elif c == "f64":
        np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-13)
    else:
        np.testing.assert_allclose(got, exact.astype(TYPES[c].dtype), rtol=2 ** (-10 if c == "f16" else -22))


WMMA = [
    ("half", "float", 16, 16, 16, "row row"), ("half", "float", 16, 16, 16, "col row"),
    ("half", "float", 8, 32, 16, "row col"), ("half", "float", 32, 8, 16, "col col"),
    ("half", "half", 16, 16, 16, "row col"), ("half", "half", 8, 32, 16, "col row"),
    ("__nv_bfloat16", "float", 16, 16, 16, "row col"), ("__nv_bfloat16", "float", 8, 32, 16, "col row"),
    ("__nv_bfloat16", "float", 32, 8, 16, "row row"), ("signed char", "int", 16, 16, 16, "row col"),
    ("unsigned char", "int", 32, 8, 16, "col row"), ("signed char", "int", 8, 32, 16, "row row"),
    ("wmma::precision::tf32", "float", 16, 16, 8, "row row"), ("wmma::precision::tf32", "float", 16, 16, 8, "col col"),
    ("double", "double", 8, 8, 4, "row col"), ("double", "double", 8, 8, 4, "col row"),
]  # fmt: skip
NAMES = {
    "half": "f16", "float": "f32", "__nv_bfloat16": "bf16", "signed char": "s8", "unsigned char": "u8", "int": "s32",
    "wmma::precision::tf32": "tf32", "double": "f64",
}  # fmt: skip


@pytest.mark.parametrize(
    ("factor", "sum_", "m", "n", "k", "layouts"), WMMA, ids=lambda v: str(v).rpartition(":")[2]
)
def test_wmma_multiplies_padded_tiles(factor, sum_, m, n, k, layouts):
    first, second = layouts.split()
    held = "float" if "tf32" in factor else factor
    lda, ldb, ldc = (k if first == "row" else m) + 16, (n if second == "row" else k) + 16, n + 8
    text = f"""#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const {held} *a, const {held} *b, const {sum_} *c, {sum_} *d) {{
    wmma::fragment<wmma::matrix_a, {m}, {n}, {k}, {factor}, wmma::{first}_major> x;
    wmma::fragment<wmma::matrix_b, {m}, {n}, {k}, {factor}, wmma::{second}_major> y;
    wmma::fragment<wmma::accumulator, {m}, {n}, {k}, {sum_}> z;
    wmma::load_matrix_sync(x, a, {lda});
    wmma::load_matrix_sync(y, b, {ldb});
    wmma::load_matrix_sync(z, c, {ldc}, wmma::mem_row_major);
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < z.num_elements; i++) z.x[i] = z.x[i] + z.x[i];
    wmma::store_matrix_sync(d, z, {m}, wmma::mem_col_major);
}}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) {{
    multiply<<<1, 32>>>((const {held} *)x, (const {held} *)(x + 1024), (const {sum_} *)(x + 2048), ({sum_} *)y);
}}"""
    (ab, av), (bb, bv), (cb, cv) = (
        random_bits(NAMES[t], s) for t, s in ((factor, (m, k)), (factor, (k, n)), (sum_, (m, n)))
    )
    if sum_ == "int":
        cb, cv = cb >> 8, (cb >> 8).astype(np.int64)
    x = np.zeros(4096, np.uint32)
    for place, bits, leading, is_row in (
        (0, ab, lda, first == "row"), (1024, bb, ldb, second == "row"), (2048, cb, ldc, True)
    ):  # fmt: skip
        rows = bits if is_row else bits.T
        memory = x[place:].view(bits.dtype)[: len(rows) * leading].reshape(len(rows), leading)
        memory[:, : rows.shape[1]] = rows
    result = execute(INTEGERS, text, {"n": 4096, "x": x, "y": np.zeros(m * n * cb.itemsize // 4, np.uint32)})
    assert result.failure is None and not result.findings, result.findings
    got = result.arrays["y"].view(TYPES[NAMES[sum_]].dtype).reshape(n, m).T
    exact = 2 * (av @ bv + cv)
    if sum_ == "int":
        np.testing.assert_array_equal(got, exact)
    else:
        np.testing.assert_allclose(
            got, exact, rtol={"half": 2**-9, "float": 2**-21, "double": 1e-13}[sum_], atol=1e-12
        )
    (counts,) = result.counts
    tensor = [o for o in counts.operations if o.type == "tensor"]
    assert [(o.line, o.lanes, o.warps) for o in tensor] == [(10, 2 * m * n * k, 2 * m * n * k // 32)]


def test_integer_sums_wrap_or_saturate():
    text = """__global__ void k(const unsigned *x, unsigned *y) {
    unsigned d[4], a = 0x01010101, b = 0x01010101, c = x[0];
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=r"(d[0]), "=r"(d[1]) : "r"(a), "r"(b), "r"(c));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %4};"
        : "=r"(d[2]), "=r"(d[3]) : "r"(a), "r"(b), "r"(c));
    for (int i = 0; i < 4; i++) y[4 * threadIdx.x + i] = d[i];
}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) { k<<<1, 32>>>(x, y); }"""
    x = np.array([2**31 - 3], np.uint32)
    result = execute(INTEGERS, text, {"n": 1, "x": x, "y": np.zeros(128, np.uint32)})
    got = result.arrays["y"].reshape(32, 4)
    assert (got[:, :2] == 2**31 + 13).all() and (got[:, 2:] == 2**31 - 1).all()


@pytest.mark.parametrize("transposed", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_rows_of_matrices_go_to_registers_and_back(count, transposed):
    registers = ", ".join(f"%{i}" for i in range(count))
    numbers = ", ".join(f'"=r"(r[{i}])' for i in range(count))
    stored = ", ".join(f'"r"(r[{i}])' for i in range(count))
    text = f"""__global__ void k(const unsigned *x, unsigned *y) {{
    __shared__ __align__(16) unsigned s[32 * 12], out[32 * 4];
    for (int i = 0; i < 4; i++) s[threadIdx.x * 12 + i] = x[threadIdx.x * 4 + i];
    __syncwarp();
    unsigned r[{count}], at = __cvta_generic_to_shared(&s[threadIdx.x * 12]);
    unsigned to = __cvta_generic_to_shared(&out[threadIdx.x * 4]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 {{{registers}}}, [%{count}];"
        : {numbers} : "r"(at));
    for (int i = 0; i < {count}; i++) y[i * 32 + threadIdx.x] = r[i];
    asm volatile("stmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 [%{count}], {{{registers}}};"
        :: {stored}, "r"(to));
    __syncwarp();
    if (threadIdx.x < 8 * {count})
        for (int i = 0; i < 4; i++) y[32 * {count} + threadIdx.x * 4 + i] = out[threadIdx.x * 4 + i];
}}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) {{ k<<<1, 32>>>(x, y); }}"""
    matrices = RNG.integers(0, 1 << 16, (4, 8, 8), dtype=np.uint16)
    y = np.zeros(64 * count, np.uint32)
    result = execute(INTEGERS, text, {"n": 128, "x": matrices.view(np.uint32).reshape(-1), "y": y})
    assert result.failure is None and not result.findings, result.findings
    seen = matrices[:count].transpose(0, 2, 1) if transposed else matrices[:count]
    loaded = result.arrays["y"][: 32 * count].reshape(count, 32)
    for lane in range(32):
        pairs = seen[:, lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2].astype(np.uint32)
        np.testing.assert_array_equal(loaded[:, lane], pairs[:, 0] | pairs[:, 1] << 16)
    np.testing.assert_array_equal(
        result.arrays["y"][32 * count :], matrices[:count].view(np.uint32).reshape(-1)
    )
    (counts,) = result.counts
    (load,) = [a for a in counts.accesses if a.line == 8]
    assert (load.space, load.requests, load.lanes, load.sectors) == ("shared", 1, 8 * count, count)


def test_a_matrix_is_transposed_between_lanes():
    text = """__global__ void k(const unsigned *x, unsigned *y) {
    unsigned r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(x[threadIdx.x]));
    y[threadIdx.x] = r;
}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) { k<<<1, 32>>>(x, y); }"""
    matrix = RNG.integers(0, 1 << 16, (8, 8), dtype=np.uint16)
    result = execute(
        INTEGERS, text, {"n": 32, "x": matrix.view(np.uint32).reshape(-1), "y": np.zeros(32, np.uint32)}
    )
    np.testing.assert_array_equal(result.arrays["y"].view(np.uint16).reshape(8, 8), matrix.T)


LOADS = """__global__ void k(const unsigned *x, unsigned *y) {{
    __shared__ __align__(16) unsigned s[128];
    for (int i = 0; i < 4; i++) s[i * 32 + threadIdx.x] = x[i * 32 + threadIdx.x];
    {sync}
    unsigned r, at = __cvta_generic_to_shared(&s[threadIdx.x % 8 * 4 + {offset}]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%0}}, [%1];" : "=r"(r) : "r"(at));
    y[threadIdx.x] = r;
}}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) {{ k<<<1, {threads}>>>(x, y); }}"""


@pytest.mark.parametrize(
    ("sync", "offset", "threads", "failure", "line"),
    [
        ("", 0, 32, "race", 6),
        ("__syncwarp();", 100, 32, "out-of-bounds", 6),
        ("__syncwarp();", 2, 32, "misaligned-access", 6),
        ("__syncwarp();", 0, 16, "barrier-divergence", 6),
    ],
)
def test_wrong_uses_of_matrix_instructions_are_found(sync, offset, threads, failure, line):
    text = LOADS.format(sync=sync, offset=offset, threads=threads)
    values = {"n": 128, "x": np.arange(128, dtype=np.uint32), "y": np.zeros(32, np.uint32)}
    result = execute(INTEGERS, text, values)
    assert failure in {f.rule for f in result.findings}, result.findings
    assert line in {f.line for f in result.findings}


@pytest.mark.parametrize(
    "instruction",
    [
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%0,%0,%0,%0,%0,%0,%0}, {%0,%0}, {%0,%0}, "
        "{%0,%0,%0,%0,%0,%0,%0,%0};",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%0,%0,%0,%0}, {%0,%0,%0,%0}, {%0,%0}, "
        "{%0,%0,%0,%0};",
    ],
)
def test_what_is_not_translated_is_refused_with_its_line(instruction):
    text = f"""__global__ void k(unsigned *y) {{
    unsigned r = y[0];
    asm volatile("{instruction}" : "+r"(r));
    y[0] = r;
}}
extern "C" void launch_f(int n, const unsigned *x, unsigned *y) {{ k<<<1, 32>>>(y); }}"""
    build = CpuDevice().build(function(INTEGERS), candidate(text), checked=False)
    (finding,) = build.result.diagnostics
    assert finding.rule == "unsupported" and finding.line == 3 and "shape or type" in finding.message
