"""Barriers and warp functions of PTX as C++ statements: where threads wait for each other."""

from __future__ import annotations

from .expression import Names, Unsupported, type_of
from .parse import Instruction


def barrier(ins: Instruction, names: Names) -> str:
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
    arrives = "arrive" in ins.opcode
    if place != "0" or len(ins.operands) > 1 or arrives:
        number = names.read(ins.operands[0], "u32")
        every = "(T.ntid.x * T.ntid.y * T.ntid.z + 31) / 32 * 32"
        threads = names.read(ins.operands[1], "u32") if len(ins.operands) > 1 else every
        return f"cudaperf_named_barrier({number}, {threads}, {str(not arrives).lower()}, {ins.line});"
    return f"cudaperf_barrier(cudaperf::BarrierKind::plain, 0, {ins.line});"


def shuffle(ins: Instruction, names: Names) -> str:
    kind = ("idx", "up", "down", "bfly").index(
        next(w for w in ins.opcode if w in ("idx", "up", "down", "bfly"))
    )
    target, value, b, c, mask = ins.operands
    register, _, predicate = target.partition("|")
    where = f"{names.read(b, 'b32')}, {names.read(c, 'b32')}"
    text = f"{{ u32 source; bool inside = shuffle_source<{kind}>({where}, source); (void)inside; "
    given = f"{names.read(mask, 'b32')}, {names.read(value, 'b32')}, {ins.line}, source"
    call = f"static_cast<u32>(warp(cudaperf::WarpOperation::shuffle, {given}))"
    text += names.write(register.strip(), call, "b32")
    return text + (f" {names.write(predicate.strip(), 'inside', 'pred')}" if predicate else "") + " }"


def vote(ins: Instruction, names: Names) -> str:
    mode = next(w for w in ins.opcode if w in ("ballot", "any", "all", "uni"))
    mask, value = names.read(ins.operands[2], "b32"), names.read(ins.operands[1], "pred")
    name = "uniform" if mode == "uni" else mode
    call = f"warp(cudaperf::WarpOperation::{name}, {mask}, {value}, {ins.line})"
    return names.write(ins.operands[0], call, "b32" if mode == "ballot" else "pred")


def match(ins: Instruction, names: Names) -> str:
    mode = "match_any" if "any" in ins.opcode else "match_all"
    register, _, predicate = ins.operands[0].partition("|")
    given = f"{names.read(ins.operands[2], 'b32')}, {names.read(ins.operands[1], type_of(ins))}, {ins.line}"
    call = f"warp(cudaperf::WarpOperation::{mode}, {given})"
    text = f"{{ u32 found = static_cast<u32>({call}); {names.write(register.strip(), 'found', 'b32')}"
    return text + (f" {names.write(predicate.strip(), 'found != 0', 'pred')}" if predicate else "") + " }"


def reduce(ins: Instruction, names: Names) -> str:
    type = type_of(ins)
    way = next(w for w in ins.opcode if w in ("add", "min", "max", "and", "or", "xor"))
    names_by_way = {"add": "add", "and": "bit_and", "or": "bit_or", "xor": "bit_xor"}
    signed = "signed_" if type == "s32" else ""
    name = names_by_way.get(way) or signed + {"min": "minimum", "max": "maximum"}[way]
    given = f"{names.read(ins.operands[2], 'b32')}, {names.read(ins.operands[1], 'b32')}, {ins.line}"
    call = f"warp(cudaperf::WarpOperation::{name}, {given})"
    return names.write(ins.operands[0], call, "b32")


def elect(ins: Instruction, names: Names) -> str:
    register, _, predicate = ins.operands[0].partition("|")
    mask = names.read(ins.operands[1], "b32")
    text = f"{{ warp(cudaperf::WarpOperation::sync, {mask}, 0, {ins.line}); "
    text += f"u32 first = static_cast<u32>(__builtin_ctz({mask})); "
    return (
        text
        + names.write(register.strip(), "first", "b32")
        + names.write(predicate.strip(), "first == lane()", "pred")
        + " }"
    )
