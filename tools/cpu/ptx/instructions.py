"""Single PTX instructions as C++ statements, one function a family. What is not here is refused by name."""

from __future__ import annotations

from collections.abc import Callable

from .expression import C_TYPES, Names, Unsupported, bits
from .parse import BYTES, Instruction, split_operands

_FLOATS = ("f32", "f64")
_HALVES = {"f16": "half", "bf16": "bfloat"}
_COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
_ATOMIC = {
    "add": "a + b", "min": "least(a, b)", "max": "most(a, b)", "and": "a & b", "or": "a | b", "xor": "a ^ b",
    "exch": "b", "inc": "a >= b ? 0 : a + 1", "dec": "a == 0 || a > b ? b : a - 1",
}  # fmt: skip
_WARP_FUNCTIONS = (
    "shfl",
    "vote",
    "match",
    "redux",
    "activemask",
    "elect",
    "mma",
    "wmma",
    "ldmatrix",
    "movmatrix",
)
# Hints, and instructions whose effect the CPU has at once.
_NOTHING = {
    "prefetch",
    "prefetchu",
    "createpolicy",
    "applypriority",
    "discard",
    "griddepcontrol",
    "pragma",
    "setmaxnreg",
}


def waits(instruction: Instruction) -> bool:
    """Whether a thread may have to wait for others at the instruction."""
    return instruction.opcode[0] in (*_WARP_FUNCTIONS, "bar", "barrier", "nanosleep")


def translated(ins: Instruction, names: Names) -> str:
    """C++ for one instruction, without its predicate. Raises Unsupported."""
    family = FAMILIES.get(ins.opcode[0])
    if ins.opcode[0] in _NOTHING:
        return ";"
    if family is None:
        raise Unsupported("instruction")
    return family(ins, names)


def _type(ins: Instruction) -> str:
    return next((p for p in reversed(ins.opcode) if p in BYTES), "b32")


def _has(ins: Instruction, *words: str) -> bool:
    return any(w in ins.opcode for w in words)


def _space(ins: Instruction) -> str:
    spaces = ("param", "global", "shared", "local", "const")
    return next((p for w in ins.opcode if (p := w.partition("::")[0]) in spaces), "generic")


def _float(ins: Instruction, names: Names, value: Callable[..., str], count: int) -> str:
    """A floating-point operation of `count` sources, in single or double, in half types by way of double."""
    target, *sources = ins.operands[: count + 1]
    type = _type(ins)
    if _has(ins, "rz", "rm", "rp"):
        if type != "f32" or ins.opcode[0] not in ("add", "sub", "mul", "fma", "div"):
            raise Unsupported("rounding mode")
        how = {"rz": "toward_zero", "rm": "downward", "rp": "upward"}
        mode = next(how[w] for w in ins.opcode if w in how)
        exact = [f"static_cast<double>({names.read(s, type)})" for s in sources]
        return names.write(target, f"{mode}({value(*exact)})", type)
    if type in ("f16", "bf16", "f16x2", "bf16x2"):
        return _halves(ins, names, value, target, sources, type)
    reads = [names.read(s, type) for s in sources]
    if _has(ins, "ftz") and type == "f32":
        reads = [f"ftz({r})" for r in reads]
    result = value(*reads)
    if _has(ins, "ftz") and type == "f32":
        result = f"ftz({result})"
    if _has(ins, "sat"):
        result = f"saturated({result})"
    return names.write(target, result, type)


def _halves(
    ins: Instruction, names: Names, value: Callable[..., str], target: str, sources: list[str], type: str
) -> str:
    kind = "half" if type.startswith("f16") else "bfloat"

    def one(part: str) -> str:
        reads = [f"static_cast<double>(from_{kind}({part}({names.read(s, 'b32')})))" for s in sources]
        result = value(*reads)
        if _has(ins, "relu"):
            result = f"maximum<double>({result}, 0.0)"
        return f"to_{kind}({f'saturated({result})' if _has(ins, 'sat') else result})"

    if type.endswith("x2"):
        return names.write(target, f"pair({one('low')}, {one('high')})", "b32")
    return names.write(target, one("low"), "b16")


def _binary(operator: str) -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = _type(ins)
        if type[0] == "f" or type[0:2] == "bf":
            return _float(ins, names, lambda a, b: f"({a} {operator} {b})", 2)
        target, a, b = ins.operands
        unsigned = f"u{max(bits(type), 32)}"
        if _has(ins, "cc") or ins.opcode[0] in ("addc", "subc"):
            return _carried(ins, names, operator)
        if _has(ins, "sat"):
            wide = f"(static_cast<i64>({names.read(a, type)}) {operator} {names.read(b, type)})"
            return names.write(target, f"clamped<{C_TYPES[type]}>({wide})", type)
        if type.endswith("x2"):
            raise Unsupported("packed integers")
        value = f"(static_cast<{unsigned}>({names.read(a, type)}) {operator} static_cast<{unsigned}>({names.read(b, type)}))"
        return names.write(target, value, type)

    return translate


def _carried(ins: Instruction, names: Names, operator: str) -> str:
    type = _type(ins)
    unsigned = f"u{bits(type)}"
    target, a, b = ins.operands
    carry = "carry" if ins.opcode[0] in ("addc", "subc") else "0"
    wide = f"static_cast<unsigned __int128>(static_cast<{unsigned}>({names.read(a, type)}))"
    text = f"{{ unsigned __int128 w = {wide} {operator} static_cast<{unsigned}>({names.read(b, type)}) {operator} {carry}; "
    text += names.write(target, f"static_cast<{unsigned}>(w)", f"b{bits(type)}")
    return text + (f" carry = static_cast<u32>(w >> {bits(type)} & 1);" if _has(ins, "cc") else "") + " }"


def _multiply(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a, b: f"({a} * {b})", 2)
    return _integer_product(ins, names, addend=None)


def _multiply_add(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _fused(ins, names)
    return _integer_product(ins, names, addend=ins.operands[3])


def _fused(ins: Instruction, names: Names) -> str:
    suffix = "f" if _type(ins) == "f32" and not _has(ins, "rz", "rm", "rp") else ""
    return _float(ins, names, lambda a, b, c: f"__builtin_fma{suffix}({a}, {b}, {c})", 3)


def _integer_product(ins: Instruction, names: Names, addend: str | None) -> str:
    type = _type(ins)
    target, a, b = ins.operands[:3]
    x, y = names.read(a, type), names.read(b, type)
    kind = type[0]
    if _has(ins, "wide"):
        wide = f"{kind}{bits(type) * 2}"
        c_type = C_TYPES[wide]
        value, type = f"static_cast<{c_type}>({x}) * static_cast<{c_type}>({y})", wide
    elif _has(ins, "hi"):
        value = f"high_product<{C_TYPES[type]}>({x}, {y})" if type != "u64" else f"high_product({x}, {y})"
    elif ins.opcode[0] in ("mul24", "mad24"):
        shift = "<< 8 >> 8" if kind == "s" else "& 0xffffff"
        value = f"static_cast<{C_TYPES[type]}>(({x} {shift}) * ({y} {shift}))"
    else:
        unsigned = f"u{max(bits(type), 32)}"
        value = f"static_cast<{unsigned}>({x}) * static_cast<{unsigned}>({y})"
    if addend is not None:
        unsigned = f"u{max(bits(type), 32)}"
        sum_ = f"static_cast<{unsigned}>({value}) + static_cast<{unsigned}>({names.read(addend, type)})"
        if _has(ins, "cc") or ins.opcode[0] == "madc":
            return _carried_product(ins, names, value, type)
        value = sum_
    return names.write(target, value, type)


def _carried_product(ins: Instruction, names: Names, value: str, type: str) -> str:
    unsigned = f"u{bits(type)}"
    carry = "carry" if ins.opcode[0] == "madc" else "0"
    text = f"{{ unsigned __int128 w = static_cast<unsigned __int128>(static_cast<{unsigned}>({value})) + "
    text += f"static_cast<{unsigned}>({names.read(ins.operands[3], type)}) + {carry}; "
    text += names.write(ins.operands[0], f"static_cast<{unsigned}>(w)", f"b{bits(type)}")
    return text + (f" carry = static_cast<u32>(w >> {bits(type)} & 1);" if _has(ins, "cc") else "") + " }"


def _divide(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    if type in _FLOATS:
        return _float(ins, names, lambda a, b: f"({a} / {b})", 2)
    function = "quotient" if ins.opcode[0] == "div" else "remainder_of"
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"{function}<{C_TYPES[type]}>({a}, {b})", type)


def _extremum(ins: Instruction, names: Names) -> str:
    type, smallest = _type(ins), ins.opcode[0] == "min"
    if type[0] == "f" or type[:2] == "bf":
        nan = ", true" if _has(ins, "NaN") else ""
        c_type = "float" if type == "f32" else "double"
        name = "minimum" if smallest else "maximum"
        return _float(ins, names, lambda a, b: f"{name}<{c_type}>({a}, {b}{nan})", 2)
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"{'least' if smallest else 'most'}<{C_TYPES[type]}>({a}, {b})", type)


def _negate(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a: f"(-{a})", 1)
    unsigned = f"u{max(bits(type), 32)}"
    return names.write(
        ins.operands[0], f"{unsigned}(0) - static_cast<{unsigned}>({names.read(ins.operands[1], type)})", type
    )


def _absolute(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a: f"__builtin_fabs{'f' if type == 'f32' else ''}({a})", 1)
    a = names.read(ins.operands[1], type)
    return names.write(
        ins.operands[0],
        f"({a} < 0 ? u{bits(type)}(0) - static_cast<u{bits(type)}>({a}) : static_cast<u{bits(type)}>({a}))",
        type,
    )


def _function(single: str, double: str = "") -> Callable[[Instruction, Names], str]:
    """A mathematical function by pattern: ``{}`` is the operand. Approximations are as exact as the library."""

    def translate(ins: Instruction, names: Names) -> str:
        pattern = (
            single if _type(ins) == "f32" else double or single.replace("f({}", "({}").replace("1.0f", "1.0")
        )
        return _float(ins, names, lambda a: pattern.format(a), 1)

    return translate


def _logic(operator: str) -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = _type(ins)
        a, b = (names.read(o, type) for o in ins.operands[1:3])
        if type == "pred":
            return names.write(ins.operands[0], f"({a}) {operator} ({b})", type)
        return names.write(ins.operands[0], f"({a} {operator} {b})", type)

    return translate


def _unary(pattern: str, result: str = "") -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = _type(ins)
        value = pattern.format(a=names.read(ins.operands[1], type), t=C_TYPES[type], w=bits(type))
        return names.write(ins.operands[0], value, result or type)

    return translate


def _not(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    return names.write(
        ins.operands[0], f"{'!' if type == 'pred' else '~'}({names.read(ins.operands[1], type)})", type
    )


def _shift(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    function = "shift_left" if ins.opcode[0] == "shl" else "shift_right"
    value = f"{function}<{C_TYPES[type]}>({names.read(ins.operands[1], type)}, {names.read(ins.operands[2], 'u32')})"
    return names.write(ins.operands[0], value, type)


def _funnel(ins: Instruction, names: Names) -> str:
    low, high, amount = (names.read(o, "b32") for o in ins.operands[1:4])
    left = _has(ins, "l")
    limit = f"({amount} & 31)" if _has(ins, "wrap") else f"least<u32>({amount}, 32)"
    if left and not _has(ins, "wrap"):
        return names.write(
            ins.operands[0], f"({limit} == 32 ? {low} : funnel_left({low}, {high}, {limit}))", "b32"
        )
    return names.write(
        ins.operands[0], f"funnel_{'left' if left else 'right'}({low}, {high}, {limit})", "b32"
    )


def _bits(pattern: str, counts: int) -> Callable[[Instruction, Names], str]:
    """Bit fields: the first `counts` sources of the instruction's type, the others 32-bit numbers."""

    def translate(ins: Instruction, names: Names) -> str:
        type = _type(ins)
        sources = [names.read(o, type if i < counts else "u32") for i, o in enumerate(ins.operands[1:])]
        return names.write(ins.operands[0], pattern.format(*sources, t=C_TYPES[type]), type)

    return translate


def _find_bit(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    amount = str(_has(ins, "shiftamt")).lower()
    return names.write(
        ins.operands[0], f"find_bit<{C_TYPES[type]}>({names.read(ins.operands[1], type)}, {amount})", "u32"
    )


def _dot_product(ins: Instruction, names: Names) -> str:
    """dp4a and dp2a: products of bytes, and of halfwords with bytes, added up."""
    a_type, b_type = ins.opcode[-2], ins.opcode[-1]
    a, b = (names.read(o, "b32") for o in ins.operands[1:3])
    byte = {"u32": "u8", "s32": "i8"}
    if ins.opcode[0] == "dp4a":
        terms = [
            f"i32({byte[a_type]}({a} >> {8 * i})) * i32({byte[b_type]}({b} >> {8 * i}))" for i in range(4)
        ]
    else:
        half = {"u32": "u16", "s32": "i16"}
        offset = 16 if _has(ins, "hi") else 0
        terms = [
            f"i32({half[a_type]}({a} >> {16 * i})) * i32({byte[b_type]}({b} >> {8 * i + offset}))"
            for i in range(2)
        ]
    value = f"static_cast<u32>({' + '.join(terms)}) + {names.read(ins.operands[3], 'b32')}"
    return names.write(ins.operands[0], value, "b32")


def _select(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"({names.read(ins.operands[3], 'pred')} ? {a} : {b})", type)


def _slct(ins: Instruction, names: Names) -> str:
    type = ins.opcode[-2]
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(
        ins.operands[0], f"({names.read(ins.operands[3], ins.opcode[-1])} >= 0 ? {a} : {b})", type
    )


def _compare(ins: Instruction, names: Names) -> str:
    """setp: a comparison, joined with a predicate, into one or two predicates."""
    type = _type(ins)
    packed = type.endswith("x2")
    targets = ins.operands[0].split("|")
    parts = ("low", "high") if packed else ("low",)
    values = [_comparison(ins, names, part) for part in parts]
    join = next((w for w in ins.opcode if w in ("and", "or", "xor")), None)
    if join is not None:
        other = names.read(ins.operands[3], "pred")
        operator = {"and": "&&", "or": "||", "xor": "!="}[join]
        joined = [f"(({v}) {operator} ({other}))" for v in values]
        if not packed and len(targets) > 1:
            joined.append(f"(!({values[0]}) {operator} ({other}))")
        values = joined
    elif not packed and len(targets) > 1:
        values.append(f"!({values[0]})")
    # A target may also be the predicate that is joined.
    text = "".join(f"bool c{i} = {v}; " for i, v in enumerate(values))
    return (
        "{ " + text + "".join(names.write(t.strip(), f"c{i}", "pred") for i, t in enumerate(targets)) + " }"
    )


def _comparison(ins: Instruction, names: Names, part: str) -> str:
    type = _type(ins)
    how = ins.opcode[1]
    if type[0] == "f" or type[:2] == "bf":
        if type in _FLOATS:
            a, b = (names.read(o, type) for o in ins.operands[1:3])
            if _has(ins, "ftz"):
                a, b = f"ftz({a})", f"ftz({b})"
        else:
            kind = "half" if type.startswith("f16") else "bfloat"
            a, b = (f"from_{kind}({part}({names.read(o, 'b32')}))" for o in ins.operands[1:3])
        if how in ("num", "nan"):
            return f"{'!' if how == 'num' else ''}__builtin_isunordered({a}, {b})"
        if how in _COMPARE and how != "ne":
            return f"{a} {_COMPARE[how]} {b}"
        if how == "ne":
            return f"(!__builtin_isunordered({a}, {b}) && {a} != {b})"
        ordered = how.removesuffix("u")
        return f"(__builtin_isunordered({a}, {b}) || {a} {_COMPARE[ordered]} {b})"
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return f"{a} {_COMPARE[how]} {b}"


def _set(ins: Instruction, names: Names) -> str:
    """set: a comparison into all ones, or 1.0."""
    target_type = next(p for p in ins.opcode if p in BYTES)
    value = _comparison(ins, names, "low")
    if target_type == "f32":
        return names.write(ins.operands[0], f"({value} ? 1.0f : 0.0f)", "f32")
    if target_type in ("f16x2", "bf16x2"):
        one = "0x3c00" if target_type[0] == "f" else "0x3f80"
        return names.write(
            ins.operands[0],
            f"pair({value} ? {one} : 0, {_comparison(ins, names, 'high')} ? {one} : 0)",
            "b32",
        )
    if target_type in _HALVES:
        return names.write(
            ins.operands[0], f"({value} ? {'0x3c00' if target_type == 'f16' else '0x3f80'} : 0)", "b16"
        )
    return names.write(ins.operands[0], f"({value} ? ~{C_TYPES[target_type]}(0) : 0)", target_type)


def _move(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    target, source = ins.operands
    if source.startswith("{"):
        parts = split_operands(source.strip("{}"))
        width = bits(type) // len(parts)
        whole = f"unsigned __int128" if type == "b128" else f"u{bits(type)}"
        joined = " | ".join(
            f"static_cast<{whole}>({names.read(p, f'b{width}')}) << {i * width}" for i, p in enumerate(parts)
        )
        return names.write(target, f"({joined})", type)
    if target.startswith("{"):
        parts = split_operands(target.strip("{}"))
        width = bits(type) // len(parts)
        text = f"{{ auto whole = {names.read(source, type)}; "
        return (
            text
            + " ".join(
                names.write(p, f"static_cast<u{width}>(whole >> {i * width})", f"b{width}")
                for i, p in enumerate(parts)
            )
            + " }"
        )
    return names.write(target, names.read(source, type), type)


def _convert(ins: Instruction, names: Names) -> str:
    types = [p for p in ins.opcode if p in BYTES]
    to, source = types[0], types[-1]
    target, *operands = ins.operands
    if len(operands) == 2 and to in ("f16x2", "bf16x2"):
        kind = "half" if to == "f16x2" else "bfloat"
        high, low = (names.read(o, source) for o in operands)
        if _has(ins, "relu"):
            high, low = f"maximum({high}, 0.0f)", f"maximum({low}, 0.0f)"
        return names.write(target, f"pair(to_{kind}({low}), to_{kind}({high}))", "b32")
    value = names.read(operands[0], "b16" if source in _HALVES else source)
    if source in _HALVES:
        value = f"from_{_HALVES[source]}({value})"
    rounding = {
        "rni": "__builtin_nearbyint",
        "rzi": "__builtin_trunc",
        "rmi": "__builtin_floor",
        "rpi": "__builtin_ceil",
    }
    if (mode := next((w for w in ins.opcode if w in rounding), None)) is not None:
        value = f"{rounding[mode]}({value})"
    from_float = source in (*_FLOATS, *_HALVES, "tf32")
    if _has(ins, "ftz") and source == "f32":
        value = f"ftz(static_cast<float>({value}))"
    if to in _HALVES:
        if _has(ins, "rz", "rm", "rp"):
            raise Unsupported("rounding mode")
        value = f"maximum<double>({value}, 0.0)" if _has(ins, "relu") else value
        value = f"saturated(static_cast<double>({value}))" if _has(ins, "sat") else value
        return names.write(target, f"to_{_HALVES[to]}(static_cast<double>({value}))", "b16")
    if to in ("f32", "tf32"):
        narrow = {"rz": "toward_zero", "rm": "downward", "rp": "upward"}
        mode = next((w for w in ins.opcode if w in narrow), None)
        if mode is not None and (from_float and source == "f64" or not from_float and bits(source) <= 32):
            value = f"{narrow[mode]}(static_cast<double>({value}))"
        elif mode is not None and not (from_float and source == "f32"):
            raise Unsupported("rounding mode")
        value = f"static_cast<float>({value})"
        return names.write(target, f"saturated({value})" if _has(ins, "sat") else value, "f32")
    if to == "f64":
        value = f"static_cast<double>({value})"
        return names.write(target, f"saturated({value})" if _has(ins, "sat") else value, "f64")
    if from_float:
        return names.write(target, f"to_integer<{C_TYPES[to]}>({value})", to)
    if _has(ins, "sat"):
        return names.write(target, f"clamped<{C_TYPES[to]}>({value})", to)
    return names.write(target, f"static_cast<{C_TYPES[to]}>({value})", to)


def _convert_address(ins: Instruction, names: Names) -> str:
    """cvta: shared addresses are offsets, all others are the same in every space."""
    type = _type(ins)
    value = names.read(ins.operands[1], type)
    if _space(ins) == "shared":
        base = "reinterpret_cast<u64>(T.shared)"
        value = f"({value} - {base})" if _has(ins, "to") else f"({value} + {base})"
    return names.write(ins.operands[0], value, type)


def _strength(ins: Instruction) -> int:
    """As in checks.h: weak, volatile (any strong access that is not atomic), atomic of a block, atomic."""
    if ins.opcode[0] in ("atom", "red"):
        return 2 if _has(ins, "cta") else 3
    return 1 if _has(ins, "volatile", "relaxed", "acquire", "release", "mmio") else 0


def _memory(ins: Instruction, names: Names) -> str:
    """ld, ldu and st, one access for a whole vector."""
    loads = ins.opcode[0] != "st"
    type, space = _type(ins), _space(ins)
    registers, place = ins.operands[:2] if loads else (ins.operands[1], ins.operands[0])
    vector = split_operands(registers.strip("{}")) if registers.startswith("{") else (registers,)
    address = names.address(place, space)
    c_type, size = C_TYPES[type], BYTES[type]
    hook = ""
    if space not in ("param", "local"):
        hook = f"PTX_ACCESS(a, {size * len(vector)}, {0 if loads else 1}, {_strength(ins)}); "
    fence = "cudaperf_fence(); " if _has(ins, "release", "acquire") else ""
    if loads:
        moves = [names.write(r, f"load<{c_type}>(a + {i * size})", type) for i, r in enumerate(vector)]
    else:
        moves = [f"store<{c_type}>(a + {i * size}, {names.read(r, type)});" for i, r in enumerate(vector)]
    before, after = (fence, "") if not loads else ("", fence)
    return f"{{ {before}auto *a = {address}; {hook}{' '.join(moves)}{after} }}"


def _atomic(ins: Instruction, names: Names) -> str:
    returns = ins.opcode[0] == "atom"
    operands = ins.operands if returns else ("_", *ins.operands)
    target, place, *values = operands
    type = _type(ins)
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
    fence = "cudaperf_fence(); " if _has(ins, "acq_rel", "release", "acquire") else ""
    change = f"change<{unsigned}>(a, [&]({unsigned} x) {{ return {compute}; }})"
    held = f"b{bits(type)}"
    result = names.write(target, "old", held) if returns and target != "_" else "(void)old;"
    hook = f"PTX_ACCESS(a, {BYTES[type]}, 2, {_strength(ins)}); "
    return f"{{ {fence}auto *a = {names.address(place, _space(ins))}; {hook}auto old = {change}; {result} {fence}}}"


def _barrier(ins: Instruction, names: Names) -> str:
    kind = ins.opcode[1]
    if "warp" in ins.opcode:
        return f"warp(cudaperf::WarpOperation::sync, {names.read(ins.operands[0], 'b32')}, 0, {ins.line});"
    place = ins.operands[0] if kind == "sync" or (kind == "cta" and "sync" in ins.opcode) else ""
    if kind == "red" or "red" in ins.opcode:
        predicate = ins.operands[-1]
        way = next((w for w in ins.opcode if w in ("popc", "and", "or")), "")
        name = {"popc": "count", "and": "all", "or": "any"}[way]
        if ins.operands[1] != "0":
            raise Unsupported("named barrier")
        call = f"cudaperf_barrier(cudaperf::BarrierKind::{name}, {names.read(predicate, 'pred')}, {ins.line})"
        return names.write(ins.operands[0], call, "u32" if way == "popc" else "pred")
    if place != "0" or len(ins.operands) > 1 or kind == "arrive":
        raise Unsupported("named barrier")
    return f"cudaperf_barrier(cudaperf::BarrierKind::plain, 0, {ins.line});"


def _shuffle(ins: Instruction, names: Names) -> str:
    kind = ("idx", "up", "down", "bfly").index(
        next(w for w in ins.opcode if w in ("idx", "up", "down", "bfly"))
    )
    target, value, b, c, mask = ins.operands
    register, _, predicate = target.partition("|")
    text = f"{{ u32 source; bool inside = shuffle_source<{kind}>({names.read(b, 'b32')}, {names.read(c, 'b32')}, source); (void)inside; "
    call = f"static_cast<u32>(warp(cudaperf::WarpOperation::shuffle, {names.read(mask, 'b32')}, {names.read(value, 'b32')}, {ins.line}, source))"
    text += names.write(register.strip(), call, "b32")
    return text + (f" {names.write(predicate.strip(), 'inside', 'pred')}" if predicate else "") + " }"


def _vote(ins: Instruction, names: Names) -> str:
    mode = next(w for w in ins.opcode if w in ("ballot", "any", "all", "uni"))
    if mode == "uni":
        raise Unsupported("vote.uni")
    mask, value = names.read(ins.operands[2], "b32"), names.read(ins.operands[1], "pred")
    call = f"warp(cudaperf::WarpOperation::{mode}, {mask}, {value}, {ins.line})"
    return names.write(ins.operands[0], call, "b32" if mode == "ballot" else "pred")


def _match(ins: Instruction, names: Names) -> str:
    mode = "match_any" if "any" in ins.opcode else "match_all"
    register, _, predicate = ins.operands[0].partition("|")
    call = f"warp(cudaperf::WarpOperation::{mode}, {names.read(ins.operands[2], 'b32')}, {names.read(ins.operands[1], _type(ins))}, {ins.line})"
    text = f"{{ u32 found = static_cast<u32>({call}); {names.write(register.strip(), 'found', 'b32')}"
    return text + (f" {names.write(predicate.strip(), 'found != 0', 'pred')}" if predicate else "") + " }"


def _reduce(ins: Instruction, names: Names) -> str:
    type = _type(ins)
    way = next(w for w in ins.opcode if w in ("add", "min", "max", "and", "or", "xor"))
    names_by_way = {"add": "add", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}
    signed = "signed_" if type == "s32" else ""
    name = names_by_way.get(way) or signed + {"min": "minimum", "max": "maximum"}[way]
    call = f"warp(cudaperf::WarpOperation::{name}, {names.read(ins.operands[2], 'b32')}, {names.read(ins.operands[1], 'b32')}, {ins.line})"
    return names.write(ins.operands[0], call, "b32")


def _elect(ins: Instruction, names: Names) -> str:
    register, _, predicate = ins.operands[0].partition("|")
    mask = names.read(ins.operands[1], "b32")
    text = f"{{ warp(cudaperf::WarpOperation::sync, {mask}, 0, {ins.line}); u32 first = static_cast<u32>(__builtin_ctz({mask})); "
    return (
        text
        + names.write(register.strip(), "first", "b32")
        + names.write(predicate.strip(), "first == lane()", "pred")
        + " }"
    )


def _copy_async(ins: Instruction, names: Names) -> str:
    """cp.async: done at once; what waits for it has nothing to wait for."""
    if not _has(ins, "ca", "cg"):
        if _has(ins, "commit_group", "wait_group", "wait_all"):
            return ";"
        raise Unsupported("bulk copy")
    to, source, size, *rest = ins.operands
    count = names.read(rest[0], "u32") if rest and not rest[0].startswith("%p") else size
    return (
        f"{{ auto *to = {names.address(to, 'shared')}; auto *from = {names.address(source, 'global')}; u32 n = {count}; "
        f"if (n) PTX_ACCESS(from, n, 0, 0); PTX_ACCESS(to, {size}, 1, 0); "
        f"memcpy(to, from, n); memset(to + n, 0, {size} - n); }}"
    )


def _is_space(ins: Instruction, names: Names) -> str:
    shared = f"({names.read(ins.operands[1], 'u64')} - reinterpret_cast<u64>(T.shared) < (512 << 10))"
    value = {"shared": shared, "global": f"!{shared}"}.get(_space(ins), "false")
    return names.write(ins.operands[0], value, "pred")


def _test(ins: Instruction, names: Names) -> str:
    value = names.read(ins.operands[1], _type(ins))
    how = {
        "finite": "__builtin_isfinite({})", "infinite": "__builtin_isinf({})", "notanumber": "__builtin_isnan({})",
        "number": "!__builtin_isnan({})", "normal": "__builtin_isnormal({})",
        "subnormal": "(__builtin_fpclassify(0, 1, 2, 3, 4, {}) == 3)",
    }  # fmt: skip
    return names.write(ins.operands[0], how[ins.opcode[1]].format(value), "pred")


def _copysign(ins: Instruction, names: Names) -> str:
    # PTX takes the sign from the first source.
    return _float(
        ins, names, lambda a, b: f"__builtin_copysign{'f' if _type(ins) == 'f32' else ''}({b}, {a})", 2
    )


def _fence(ins: Instruction, names: Names) -> str:
    return "__atomic_thread_fence(__ATOMIC_SEQ_CST);" if _has(ins, "cta") else "cudaperf_fence();"


def _trap(ins: Instruction, names: Names) -> str:
    return f'cudaperf_trap("__trap()", {ins.line});'


FAMILIES: dict[str, Callable[[Instruction, Names], str]] = {
    "add": _binary("+"), "sub": _binary("-"), "addc": _binary("+"), "subc": _binary("-"),
    "mul": _multiply, "mul24": _multiply, "mad": _multiply_add, "mad24": _multiply_add, "madc": _multiply_add,
    "fma": _fused, "div": _divide, "rem": _divide, "min": _extremum, "max": _extremum, "neg": _negate,
    "abs": _absolute, "copysign": _copysign, "testp": _test,
    "rcp": _function("(1.0f / {})"), "sqrt": _function("__builtin_sqrtf({})"),
    "rsqrt": _function("(1.0f / __builtin_sqrtf({}))"), "sin": _function("sinf({})"), "cos": _function("cosf({})"),
    "ex2": _function("exp2f({})"), "lg2": _function("log2f({})"), "tanh": _function("tanhf({})"),
    "and": _logic("&"), "or": _logic("|"), "xor": _logic("^"), "not": _not,
    "cnot": _unary("({a} == 0 ? 1 : 0)"), "shl": _shift, "shr": _shift, "shf": _funnel,
    "lop3": _bits("logic<u32>({0}, {1}, {2}, {3})", 3), "prmt": _bits("permuted({0}, {1}, {2})", 3),
    "bfe": _bits("extract<{t}>({0}, {1}, {2})", 1), "bfi": _bits("insert<{t}>({0}, {1}, {2}, {3})", 2),
    "bmsk": _bits("mask_of({0}, {1})", 1), "bfind": _find_bit, "brev": _unary("reversed({a})"),
    "popc": _unary("__builtin_popcountll({a})", "u32"),
    "clz": _unary("({a} ? __builtin_clzll({a}) - (64 - {w}) : {w})", "u32"),
    "sad": _bits("({0} > {1} ? {0} - {1} : {1} - {0}) + {2}", 3), "dp4a": _dot_product, "dp2a": _dot_product,
    "selp": _select, "slct": _slct, "setp": _compare, "set": _set, "mov": _move, "cvt": _convert,
    "cvta": _convert_address, "ld": _memory, "ldu": _memory, "st": _memory, "atom": _atomic, "red": _atomic,
    "bar": _barrier, "barrier": _barrier, "shfl": _shuffle, "vote": _vote, "match": _match, "redux": _reduce,
    "elect": _elect, "cp": _copy_async, "isspacep": _is_space, "membar": _fence, "fence": _fence, "trap": _trap,
    "brkpt": lambda ins, names: ";", "nanosleep": lambda ins, names: "cudaperf_yield();",
    "activemask": lambda ins, names: names.write(ins.operands[0], f"cudaperf_active_mask({ins.line})", "b32"),
}  # fmt: skip
