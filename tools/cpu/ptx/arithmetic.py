"""Arithmetic, logic and conversions of PTX as C++ statements, one function a family of instructions."""

from __future__ import annotations

from collections.abc import Callable

from .expression import C_TYPES, Names, Unsupported, bits, has, type_of
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


def _float(ins: Instruction, names: Names, value: Callable[..., str], count: int) -> str:
    """A floating-point operation of `count` sources, in single or double, in half types by way of double."""
    target, *sources = ins.operands[: count + 1]
    type = type_of(ins)
    if has(ins, "rz", "rm", "rp"):
        if type != "f32" or ins.opcode[0] not in ("add", "sub", "mul", "fma", "div"):
            raise Unsupported("rounding mode")
        how = {"rz": "toward_zero", "rm": "downward", "rp": "upward"}
        mode = next(how[w] for w in ins.opcode if w in how)
        exact = [f"static_cast<double>({names.read(s, type)})" for s in sources]
        return names.write(target, f"{mode}({value(*exact)})", type)
    if type in ("f16", "bf16", "f16x2", "bf16x2"):
        return _halves(ins, names, value, target, sources, type)
    reads = [names.read(s, type) for s in sources]
    if has(ins, "ftz") and type == "f32":
        reads = [f"ftz({r})" for r in reads]
    result = value(*reads)
    if has(ins, "ftz") and type == "f32":
        result = f"ftz({result})"
    if has(ins, "sat"):
        result = f"saturated({result})"
    return names.write(target, result, type)


def _halves(
    ins: Instruction, names: Names, value: Callable[..., str], target: str, sources: list[str], type: str
) -> str:
    kind = "half" if type.startswith("f16") else "bfloat"

    def one(part: str) -> str:
        reads = [f"static_cast<double>(from_{kind}({part}({names.read(s, 'b32')})))" for s in sources]
        result = value(*reads)
        if has(ins, "relu"):
            result = f"maximum<double>({result}, 0.0)"
        return f"to_{kind}({f'saturated({result})' if has(ins, 'sat') else result})"

    if type.endswith("x2"):
        return names.write(target, f"pair({one('low')}, {one('high')})", "b32")
    return names.write(target, one("low"), "b16")


def binary(operator: str) -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = type_of(ins)
        if type[0] == "f" or type[0:2] == "bf":
            return _float(ins, names, lambda a, b: f"({a} {operator} {b})", 2)
        target, a, b = ins.operands
        unsigned = f"u{max(bits(type), 32)}"
        if has(ins, "cc") or ins.opcode[0] in ("addc", "subc"):
            return _carried(ins, names, operator)
        if has(ins, "sat"):
            wide = f"(static_cast<i64>({names.read(a, type)}) {operator} {names.read(b, type)})"
            return names.write(target, f"clamped<{C_TYPES[type]}>({wide})", type)
        if type.endswith("x2"):
            raise Unsupported("packed integers")
        x, y = (f"static_cast<{unsigned}>({names.read(o, type)})" for o in (a, b))
        value = f"({x} {operator} {y})"
        return names.write(target, value, type)

    return translate


def _carried(ins: Instruction, names: Names, operator: str) -> str:
    type = type_of(ins)
    unsigned = f"u{bits(type)}"
    target, a, b = ins.operands
    carry = "carry" if ins.opcode[0] in ("addc", "subc") else "0"
    wide = f"static_cast<unsigned __int128>(static_cast<{unsigned}>({names.read(a, type)}))"
    other = f"static_cast<{unsigned}>({names.read(b, type)})"
    text = f"{{ unsigned __int128 w = {wide} {operator} {other} {operator} {carry}; "
    text += names.write(target, f"static_cast<{unsigned}>(w)", f"b{bits(type)}")
    return text + (f" carry = static_cast<u32>(w >> {bits(type)} & 1);" if has(ins, "cc") else "") + " }"


def multiply(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a, b: f"({a} * {b})", 2)
    return _integer_product(ins, names, addend=None)


def multiply_add(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    if type[0] == "f" or type[:2] == "bf":
        return fused(ins, names)
    return _integer_product(ins, names, addend=ins.operands[3])


def fused(ins: Instruction, names: Names) -> str:
    suffix = "f" if type_of(ins) == "f32" and not has(ins, "rz", "rm", "rp") else ""
    return _float(ins, names, lambda a, b, c: f"__builtin_fma{suffix}({a}, {b}, {c})", 3)


def _integer_product(ins: Instruction, names: Names, addend: str | None) -> str:
    type = type_of(ins)
    target, a, b = ins.operands[:3]
    x, y = names.read(a, type), names.read(b, type)
    kind = type[0]
    if has(ins, "wide"):
        wide = f"{kind}{bits(type) * 2}"
        c_type = C_TYPES[wide]
        value, type = f"static_cast<{c_type}>({x}) * static_cast<{c_type}>({y})", wide
    elif has(ins, "hi"):
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
        if has(ins, "cc") or ins.opcode[0] == "madc":
            return _carried_product(ins, names, value, type)
        value = sum_
    return names.write(target, value, type)


def _carried_product(ins: Instruction, names: Names, value: str, type: str) -> str:
    unsigned = f"u{bits(type)}"
    carry = "carry" if ins.opcode[0] == "madc" else "0"
    text = f"{{ unsigned __int128 w = static_cast<unsigned __int128>(static_cast<{unsigned}>({value})) + "
    text += f"static_cast<{unsigned}>({names.read(ins.operands[3], type)}) + {carry}; "
    text += names.write(ins.operands[0], f"static_cast<{unsigned}>(w)", f"b{bits(type)}")
    return text + (f" carry = static_cast<u32>(w >> {bits(type)} & 1);" if has(ins, "cc") else "") + " }"


def divide(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    if type in _FLOATS:
        return _float(ins, names, lambda a, b: f"({a} / {b})", 2)
    function = "quotient" if ins.opcode[0] == "div" else "remainder_of"
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"{function}<{C_TYPES[type]}>({a}, {b})", type)


def extremum(ins: Instruction, names: Names) -> str:
    type, smallest = type_of(ins), ins.opcode[0] == "min"
    if type[0] == "f" or type[:2] == "bf":
        nan = ", true" if has(ins, "NaN") else ""
        c_type = "float" if type == "f32" else "double"
        name = "minimum" if smallest else "maximum"
        return _float(ins, names, lambda a, b: f"{name}<{c_type}>({a}, {b}{nan})", 2)
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"{'least' if smallest else 'most'}<{C_TYPES[type]}>({a}, {b})", type)


def negate(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a: f"(-{a})", 1)
    unsigned = f"u{max(bits(type), 32)}"
    return names.write(
        ins.operands[0], f"{unsigned}(0) - static_cast<{unsigned}>({names.read(ins.operands[1], type)})", type
    )


def absolute(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    if type[0] == "f" or type[:2] == "bf":
        return _float(ins, names, lambda a: f"__builtin_fabs{'f' if type == 'f32' else ''}({a})", 1)
    a = names.read(ins.operands[1], type)
    return names.write(
        ins.operands[0],
        f"({a} < 0 ? u{bits(type)}(0) - static_cast<u{bits(type)}>({a}) : static_cast<u{bits(type)}>({a}))",
        type,
    )


def function(single: str, double: str = "") -> Callable[[Instruction, Names], str]:
    """A mathematical function by pattern: ``{}`` is the operand. Approximations are as exact as the library."""

    def translate(ins: Instruction, names: Names) -> str:
        pattern = (
            single
            if type_of(ins) == "f32"
            else double or single.replace("f({}", "({}").replace("1.0f", "1.0")
        )
        return _float(ins, names, pattern.format, 1)

    return translate


def logic(operator: str) -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = type_of(ins)
        a, b = (names.read(o, type) for o in ins.operands[1:3])
        if type == "pred":
            return names.write(ins.operands[0], f"({a}) {operator} ({b})", type)
        return names.write(ins.operands[0], f"({a} {operator} {b})", type)

    return translate


def unary(pattern: str, result: str = "") -> Callable[[Instruction, Names], str]:
    def translate(ins: Instruction, names: Names) -> str:
        type = type_of(ins)
        value = pattern.format(a=names.read(ins.operands[1], type), t=C_TYPES[type], w=bits(type))
        return names.write(ins.operands[0], value, result or type)

    return translate


def negation(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    return names.write(
        ins.operands[0], f"{'!' if type == 'pred' else '~'}({names.read(ins.operands[1], type)})", type
    )


def shift(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    function = "shift_left" if ins.opcode[0] == "shl" else "shift_right"
    value = f"{function}<{C_TYPES[type]}>({names.read(ins.operands[1], type)}, {names.read(ins.operands[2], 'u32')})"
    return names.write(ins.operands[0], value, type)


def funnel(ins: Instruction, names: Names) -> str:
    low, high, amount = (names.read(o, "b32") for o in ins.operands[1:4])
    left = has(ins, "l")
    limit = f"({amount} & 31)" if has(ins, "wrap") else f"least<u32>({amount}, 32)"
    if left and not has(ins, "wrap"):
        return names.write(
            ins.operands[0], f"({limit} == 32 ? {low} : funnel_left({low}, {high}, {limit}))", "b32"
        )
    return names.write(
        ins.operands[0], f"funnel_{'left' if left else 'right'}({low}, {high}, {limit})", "b32"
    )


def fields(pattern: str, counts: int) -> Callable[[Instruction, Names], str]:
    """Bit fields: the first `counts` sources of the instruction's type, the others 32-bit numbers."""

    def translate(ins: Instruction, names: Names) -> str:
        type = type_of(ins)
        sources = [names.read(o, type if i < counts else "u32") for i, o in enumerate(ins.operands[1:])]
        return names.write(ins.operands[0], pattern.format(*sources, t=C_TYPES[type]), type)

    return translate


def find_bit(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    amount = str(has(ins, "shiftamt")).lower()
    return names.write(
        ins.operands[0], f"find_bit<{C_TYPES[type]}>({names.read(ins.operands[1], type)}, {amount})", "u32"
    )


def dot_product(ins: Instruction, names: Names) -> str:
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
        offset = 16 if has(ins, "hi") else 0
        terms = [
            f"i32({half[a_type]}({a} >> {16 * i})) * i32({byte[b_type]}({b} >> {8 * i + offset}))"
            for i in range(2)
        ]
    value = f"static_cast<u32>({' + '.join(terms)}) + {names.read(ins.operands[3], 'b32')}"
    return names.write(ins.operands[0], value, "b32")


def select(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(ins.operands[0], f"({names.read(ins.operands[3], 'pred')} ? {a} : {b})", type)


def slct(ins: Instruction, names: Names) -> str:
    type = ins.opcode[-2]
    a, b = (names.read(o, type) for o in ins.operands[1:3])
    return names.write(
        ins.operands[0], f"({names.read(ins.operands[3], ins.opcode[-1])} >= 0 ? {a} : {b})", type
    )


def compare(ins: Instruction, names: Names) -> str:
    """setp: a comparison, joined with a predicate, into one or two predicates."""
    type = type_of(ins)
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
    type = type_of(ins)
    how = ins.opcode[1]
    if type[0] == "f" or type[:2] == "bf":
        if type in _FLOATS:
            a, b = (names.read(o, type) for o in ins.operands[1:3])
            if has(ins, "ftz"):
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


def set_all(ins: Instruction, names: Names) -> str:
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


def move(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    target, source = ins.operands
    if source.startswith("{"):
        parts = split_operands(source.strip("{}"))
        width = bits(type) // len(parts)
        whole = "unsigned __int128" if type == "b128" else f"u{bits(type)}"
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


def convert(ins: Instruction, names: Names) -> str:
    types = [p for p in ins.opcode if p in BYTES]
    to, source = types[0], types[-1]
    target, *operands = ins.operands
    if len(operands) == 2 and to in ("f16x2", "bf16x2"):
        kind = "half" if to == "f16x2" else "bfloat"
        high, low = (names.read(o, source) for o in operands)
        if has(ins, "relu"):
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
    if has(ins, "ftz") and source == "f32":
        value = f"ftz(static_cast<float>({value}))"
    if to in _HALVES:
        if has(ins, "rz", "rm", "rp"):
            raise Unsupported("rounding mode")
        value = f"maximum<double>({value}, 0.0)" if has(ins, "relu") else value
        value = f"saturated(static_cast<double>({value}))" if has(ins, "sat") else value
        return names.write(target, f"to_{_HALVES[to]}(static_cast<double>({value}))", "b16")
    if to == "tf32":
        nearest = "true" if has(ins, "rna") else "false"
        return names.write(target, f"to_tf32({value}, {nearest})", "f32")
    if to == "f32":
        narrow = {"rz": "toward_zero", "rm": "downward", "rp": "upward"}
        mode = next((w for w in ins.opcode if w in narrow), None)
        if mode is not None and ((from_float and source == "f64") or (not from_float and bits(source) <= 32)):
            value = f"{narrow[mode]}(static_cast<double>({value}))"
        elif mode is not None and not (from_float and source == "f32"):
            raise Unsupported("rounding mode")
        value = f"static_cast<float>({value})"
        return names.write(target, f"saturated({value})" if has(ins, "sat") else value, "f32")
    if to == "f64":
        value = f"static_cast<double>({value})"
        return names.write(target, f"saturated({value})" if has(ins, "sat") else value, "f64")
    if from_float:
        return names.write(target, f"to_integer<{C_TYPES[to]}>({value})", to)
    if has(ins, "sat"):
        return names.write(target, f"clamped<{C_TYPES[to]}>({value})", to)
    return names.write(target, f"static_cast<{C_TYPES[to]}>({value})", to)


def test(ins: Instruction, names: Names) -> str:
    value = names.read(ins.operands[1], type_of(ins))
    how = {
        "finite": "__builtin_isfinite({})", "infinite": "__builtin_isinf({})", "notanumber": "__builtin_isnan({})",
        "number": "!__builtin_isnan({})", "normal": "__builtin_isnormal({})",
        "subnormal": "(__builtin_fpclassify(0, 1, 2, 3, 4, {}) == 3)",
    }  # fmt: skip
    return names.write(ins.operands[0], how[ins.opcode[1]].format(value), "pred")


def copysign(ins: Instruction, names: Names) -> str:
    # PTX takes the sign from the first source.
    return _float(
        ins, names, lambda a, b: f"__builtin_copysign{'f' if type_of(ins) == 'f32' else ''}({b}, {a})", 2
    )
