"""Matrix instructions of PTX as C++ statements: mma, wmma, ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .expression import Names, Unsupported, has, space_of
from .parse import Instruction, split_operands

# PTX type -> (its name in ptx_matrix.h, elements in a register, PTX type of the register)
_TYPES = {
    "f16": ("F16", 2, "b32"), "bf16": ("BF16", 2, "b32"), "tf32": ("TF32", 1, "b32"), "f32": ("F32", 1, "b32"),
    "f64": ("F64", 1, "b64"), "s8": ("S8", 4, "b32"), "u8": ("U8", 4, "b32"), "s32": ("S32", 1, "b32"),
    "e4m3": ("E4M3", 4, "b32"), "e5m2": ("E5M2", 4, "b32"),
}  # fmt: skip
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


@dataclass(frozen=True)
class _Shape:
    m: int
    n: int
    k: int


def _shape(ins: Instruction) -> _Shape:
    match = next((m for w in ins.opcode if (m := _SHAPE.fullmatch(w))), None)
    if match is None:
        raise Unsupported("shape")
    return _Shape(*map(int, match.groups()))


def operations(ins: Instruction) -> int:
    """A lane's share of the multiplications and additions, of which an instruction does 2 m n k; 0 for others."""
    if ins.opcode[0] != "mma" and ins.opcode[:2] != ("wmma", "mma"):
        return 0
    shape = next((m for w in ins.opcode if (m := _SHAPE.fullmatch(w))), None)
    return 2 * int(shape[1]) * int(shape[2]) * int(shape[3]) // 32 if shape else 0


def _registers(type: str, elements: int) -> int:
    return elements // 32 // _TYPES[type][1]


def _given(operand: str, type: str, elements: int, names: Names) -> str:
    """The registers of a fragment. Where wmma has more than the elements need, the others repeat them."""
    registers = split_operands(operand.strip("{}"))[: _registers(type, elements)]
    return "{{" + ", ".join(names.read(r, _TYPES[type][2]) for r in registers) + "}}"


def _taken(operand: str, type: str, elements: int, names: Names, held: str) -> str:
    count = _registers(type, elements)
    return " ".join(
        names.write(r, f"{held}[{i % count}]", _TYPES[type][2])
        for i, r in enumerate(split_operands(operand.strip("{}")))
    )


def multiply(ins: Instruction, names: Names) -> str:
    """mma.sync and wmma.mma.sync: d = a * b + c."""
    shape = _shape(ins)
    types = [w for w in ins.opcode if w in _TYPES]
    if len(types) == 2:  # wmma of halves names the accumulators only
        types[1:1] = ["f16", "f16"]
    refused = {"sp", "sp::ordered_metadata", "block_scale", "b1", "s4", "u4", "xor", "and"} & set(ins.opcode)
    quads = ins.opcode[0] == "mma" and shape == _Shape(8, 8, 4) and types[1] == "f16"
    if refused or len(types) != 4 or quads or has(ins, "rz", "rm", "rp"):
        raise Unsupported("shape or type")
    d, a, b, c = types
    elements = {"a": shape.m * shape.k, "b": shape.n * shape.k, "c": shape.m * shape.n}
    given = ", ".join(
        _given(operand, type, elements[name], names)
        for operand, type, name in zip(ins.operands[1:4], (a, b, c), "abc", strict=True)
    )
    saturating = str(has(ins, "satfinite") and d == "s32").lower()
    kind = f"Product<{shape.m}, {shape.n}, {shape.k}, {', '.join(_TYPES[t][0] for t in (a, b, c, d))}, {saturating}>"
    result = _taken(ins.operands[0], d, elements["c"], names, "p.d.held")
    return f"{{ {kind} p{{{given}, {{}}}}; together(p, {ins.line}); {result} }}"


def transfer(ins: Instruction, names: Names) -> str:
    """wmma.load and wmma.store: a fragment from or to memory, whose rows or columns lie `stride` elements apart."""
    loads, which = ins.opcode[1] == "load", ins.opcode[2]
    shape, type = _shape(ins), ins.opcode[-1]
    if type not in _TYPES:
        raise Unsupported("type")
    rows, columns = {"a": (shape.m, shape.k), "b": (shape.n, shape.k)}.get(which, (shape.m, shape.n))
    fragment = {"a": "FactorA", "b": "FactorB"}.get(which, "Accumulator")
    registers, place = ins.operands[:2] if loads else ins.operands[1::-1]
    # The second factor is kept as its transpose: its columns in memory are rows.
    by_rows = has(ins, "row") != (which == "b")
    stride = (
        names.read(ins.operands[2], "s32") if len(ins.operands) > 2 else str(columns if by_rows else rows)
    )
    given = "{}" if loads else _given(registers, type, rows * columns, names)
    result = _taken(registers, type, rows * columns, names, "t.share.held") if loads else ""
    return (
        f"{{ Transfer<{fragment}<{_TYPES[type][0]}, {shape.m}, {shape.n}, {shape.k}>, {str(loads).lower()}> "
        f"t{{{given}, {names.address(place, space_of(ins))}, {f'1, {stride}' if by_rows else f'{stride}, 1'}}}; "
        f"t.check(lane()); together(t, {ins.line}); {result} }}"
    )


def wmma(ins: Instruction, names: Names) -> str:
    return multiply(ins, names) if ins.opcode[1] == "mma" else transfer(ins, names)


def rows(ins: Instruction, names: Names) -> str:
    """ldmatrix and stmatrix of m8n8 matrices of halfwords."""
    if not has(ins, "m8n8") or not has(ins, "b16"):
        raise Unsupported("shape or type")
    loads = ins.opcode[0] == "ldmatrix"
    registers, place = ins.operands if loads else ins.operands[::-1]
    parts = split_operands(registers.strip("{}"))
    given = "" if loads else ", ".join(names.read(r, "b32") for r in parts)
    flags = f"{len(parts)}, {str(has(ins, 'trans')).lower()}, {str(loads).lower()}"
    result = " ".join(names.write(r, f"m.held[{i}]", "b32") for i, r in enumerate(parts)) if loads else ""
    return (
        f"{{ Rows<{flags}> m{{{names.address(place, space_of(ins))}, {{{given}}}}}; m.check(lane()); "
        f"together(m, {ins.line}); {result} }}"
    )


def transpose(ins: Instruction, names: Names) -> str:
    """movmatrix."""
    text = f"{{ Transposition m{{{names.read(ins.operands[1], 'b32')}, 0}}; together(m, {ins.line}); "
    return text + names.write(ins.operands[0], "m.to", "b32") + " }"
