"""Memory of PTX as C++ statements: loads and stores, atomics, copies, fences, and what addresses mean."""

from __future__ import annotations

from .expression import C_TYPES, Names, Unsupported, bits, has, space_of, type_of
from .parse import BYTES, Instruction, split_operands

_FLOATS = ("f32", "f64")
_ATOMIC = {
    "add": "a + b", "min": "least(a, b)", "max": "most(a, b)", "and": "a & b", "or": "a | b", "xor": "a ^ b",
    "exch": "b", "inc": "a >= b ? 0 : a + 1", "dec": "a == 0 || a > b ? b : a - 1",
}  # fmt: skip


def convert_address(ins: Instruction, names: Names) -> str:
    """cvta: shared addresses are offsets, all others are the same in every space."""
    type = type_of(ins)
    value = names.read(ins.operands[1], type)
    if space_of(ins) == "shared":
        base = "reinterpret_cast<u64>(T.shared)"
        value = f"({value} - {base})" if has(ins, "to") else f"({value} + {base})"
    return names.write(ins.operands[0], value, type)


def _strength(ins: Instruction) -> int:
    """As in checks.h: weak, volatile (any strong access that is not atomic), atomic of a block, atomic."""
    if ins.opcode[0] in ("atom", "red"):
        return 2 if has(ins, "cta") else 3
    return 1 if has(ins, "volatile", "relaxed", "acquire", "release", "mmio") else 0


def memory(ins: Instruction, names: Names) -> str:
    """ld, ldu and st, one access for a whole vector."""
    loads = ins.opcode[0] != "st"
    type, space = type_of(ins), space_of(ins)
    registers, place = ins.operands[:2] if loads else (ins.operands[1], ins.operands[0])
    vector = split_operands(registers.strip("{}")) if registers.startswith("{") else (registers,)
    address = names.address(place, space)
    c_type, size = C_TYPES[type], BYTES[type]
    hook = ""
    if space not in ("param", "local"):
        hook = f"PTX_ACCESS(a, {size * len(vector)}, {0 if loads else 1}, {_strength(ins)}); "
    fence = "cudaperf_fence(); " if has(ins, "release", "acquire") else ""
    if loads:
        moves = [names.write(r, f"load<{c_type}>(a + {i * size})", type) for i, r in enumerate(vector)]
    else:
        moves = [f"store<{c_type}>(a + {i * size}, {names.read(r, type)});" for i, r in enumerate(vector)]
    before, after = (fence, "") if not loads else ("", fence)
    return f"{{ {before}auto *a = {address}; {hook}{' '.join(moves)}{after} }}"


def atomic(ins: Instruction, names: Names) -> str:
    returns = ins.opcode[0] == "atom"
    operands = ins.operands if returns else ("_", *ins.operands)
    target, place, *values = operands
    type = type_of(ins)
    operation = next((w for w in ins.opcode if w in (*_ATOMIC, "cas")), None)
    if operation is None or place.startswith("{") or values[0].startswith("{"):
        raise Unsupported("atomic operation")
    unsigned, c_type = f"u{bits(type)}", C_TYPES[type]
    reads = [names.read(v, type) for v in values]
    if operation == "cas":
        compute = f"x == {reads[0]} ? {reads[1]} : x"
    elif type in _FLOATS:
        compute = f"as<{unsigned}>(as<{c_type}>(x) + {reads[0]})" if operation == "add" else ""
    elif type in ("f16x2", "bf16x2", "f16", "bf16"):
        kind = "half" if type.startswith("f16") else "bfloat"

        def sum_(part: str) -> str:
            return f"to_{kind}(static_cast<double>(from_{kind}({part}(x))) + from_{kind}({part}({reads[0]})))"

        compute = (
            (f"pair({sum_('low')}, {sum_('high')})" if type.endswith("x2") else sum_("low"))
            if operation == "add"
            else ""
        )
    else:
        compute = (
            f"[](auto a, auto b) {{ return {_ATOMIC[operation]}; }}(static_cast<{c_type}>(x), {reads[0]})"
        )
    if not compute:
        raise Unsupported("atomic operation")
    fence = "cudaperf_fence(); " if has(ins, "acq_rel", "release", "acquire") else ""
    change = f"change<{unsigned}>(a, [&]({unsigned} x) {{ return {compute}; }})"
    held = f"b{bits(type)}"
    result = names.write(target, "old", held) if returns and target != "_" else "(void)old;"
    hook = f"PTX_ACCESS(a, {BYTES[type]}, 2, {_strength(ins)}); "
    return f"{{ {fence}auto *a = {names.address(place, space_of(ins))}; {hook}auto old = {change}; {result} {fence}}}"


def copy_async(ins: Instruction, names: Names) -> str:
    """cp.async: done at once; what waits for it has nothing to wait for."""
    if not has(ins, "ca", "cg"):
        if has(ins, "commit_group", "wait_group", "wait_all"):
            return ";"
        raise Unsupported("bulk copy")
    to, source, size, *rest = ins.operands
    if has(ins, "L2::cache_hint"):
        rest = rest[:-1]
    count = names.read(rest[0], "u32") if rest and not rest[0].startswith("%p") else size
    return (
        f"{{ auto *to = {names.address(to, 'shared')}; auto *from = {names.address(source, 'global')}; "
        f"u32 n = {count}; "
        f"if (n) PTX_ACCESS(from, n, 0, 0); PTX_ACCESS(to, {size}, 1, 0); "
        f"memcpy(to, from, n); memset(to + n, 0, {size} - n); }}"
    )


def is_space(ins: Instruction, names: Names) -> str:
    shared = f"({names.read(ins.operands[1], 'u64')} - reinterpret_cast<u64>(T.shared) < (512 << 10))"
    value = {"shared": shared, "global": f"!{shared}"}.get(space_of(ins), "false")
    return names.write(ins.operands[0], value, "pred")


def fence(ins: Instruction, names: Names) -> str:
    return "__atomic_thread_fence(__ATOMIC_SEQ_CST);" if has(ins, "cta") else "cudaperf_fence();"
