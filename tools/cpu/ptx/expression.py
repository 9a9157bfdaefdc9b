"""Operands of PTX instructions as C++: registers, constants and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .parse import BYTES, Instruction, Registers, Statement, Variable

C_TYPES = {
    "b8": "u8", "u8": "u8", "s8": "i8", "b16": "u16", "u16": "u16", "s16": "i16", "f16": "u16", "bf16": "u16",
    "b32": "u32", "u32": "u32", "s32": "i32", "f32": "float", "f16x2": "u32", "bf16x2": "u32", "tf32": "float",
    "b64": "u64", "u64": "u64", "s64": "i64", "f64": "double", "b128": "unsigned __int128", "pred": "bool",
}  # fmt: skip
_VECTORS = {"%tid": "T.tid", "%ntid": "T.ntid", "%ctaid": "T.ctaid", "%nctaid": "T.nctaid"}
_SPECIAL = {
    "%laneid": "lane_of(T)",
    "%warpid": "(rank_of(T) / 32)",
    "%nwarpid": "32u",
    "%smid": "0u",
    "%nsmid": "132u",
    "%gridid": "0u",
    "%clock": "static_cast<u32>(cudaperf_clock())",
    "%clock_hi": "static_cast<u32>(cudaperf_clock() >> 32)",
    "%clock64": "cudaperf_clock()",
    "%globaltimer": "cudaperf_clock()",
    "%lanemask_eq": "(1u << lane_of(T))",
    "%lanemask_lt": "((1u << lane_of(T)) - 1)",
    "%lanemask_le": "((2u << lane_of(T)) - 1)",
    "%lanemask_gt": "~((2u << lane_of(T)) - 1)",
    "%lanemask_ge": "~((1u << lane_of(T)) - 1)",
    "WARP_SZ": "32u",
}


class Unsupported(Exception):
    """A construct of PTX that is not translated."""


def c_name(name: str) -> str:
    """A PTX identifier as one of C++; ours never begin with ``v_``."""
    return "v_" + re.sub(r"\W", "_", name.lstrip("%"))


def bits(type: str) -> int:
    return BYTES[type] * 8


def type_of(ins: Instruction) -> str:
    """The type that an instruction works on: the last that it names."""
    return next((p for p in reversed(ins.opcode) if p in BYTES), "b32")


def has(ins: Instruction, *words: str) -> bool:
    return any(w in ins.opcode for w in words)


def space_of(ins: Instruction) -> str:
    spaces = ("param", "global", "shared", "local", "const")
    return next((p for w in ins.opcode if (p := w.partition("::")[0]) in spaces), "generic")


@dataclass
class Names:
    """What the names of one function stand for."""

    registers: dict[str, str] = field(default_factory=dict)
    counted: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    memory: dict[str, str] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    globals: Mapping[str, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()

    def declare(self, body: Iterable[Statement]) -> None:
        for statement in body:
            match statement:
                case Registers(type=type, name=name, count=None):
                    self.registers[name] = type
                case Registers(type=type, name=name):
                    self.counted[name] = type
                case Variable(space="local" | "param", name=name):
                    self.memory[name] = c_name(name)
                case Variable(space="shared", name=name):
                    self.shared.add(name)

    def register_type(self, name: str) -> str | None:
        if name in self.registers:
            return self.registers[name]
        match = re.fullmatch(r"(%?[A-Za-z_$]+)(\d+)", name)
        return self.counted.get(match[1]) if match else None

    def read(self, operand: str, type: str) -> str:
        """The operand as a value of the C++ type for a PTX type."""
        c_type = C_TYPES[type]
        if operand.startswith("!"):
            return f"!{self.read(operand[1:], type)}"
        held = self.register_type(operand)
        if held is not None:
            name = c_name(operand)
            if held == "pred" or type == "pred":
                return name
            if type in ("f32", "f64", "tf32"):
                return (
                    f"as<{c_type}>({name})"
                    if bits(held) == bits(type)
                    else f"as<{c_type}>(static_cast<u{bits(type)}>({name}))"
                )
            return name if c_type == f"u{bits(held)}" else f"static_cast<{c_type}>({name})"
        if (special := self._special(operand)) is not None:
            return f"static_cast<{c_type}>({special})"
        if re.fullmatch(r"0[fF][0-9A-Fa-f]{8}", operand):
            value = f"as<float>(0x{operand[2:]}u)"
            return value if type in ("f32", "tf32") else f"0x{operand[2:]}u"
        if re.fullmatch(r"0[dD][0-9A-Fa-f]{16}", operand):
            return f"as<double>(0x{operand[2:]}ull)" if type == "f64" else f"0x{operand[2:]}ull"
        if re.fullmatch(r"-?(?:0[xX][0-9A-Fa-f]+|\d+)U?", operand):
            number = (
                int(operand.rstrip("U"), 0)
                if not operand.startswith("0") or "x" in operand.lower()
                else int(operand.rstrip("U") or "0", 8)
            )
            if type in ("f32", "f64"):
                return f"static_cast<{c_type}>({number})"
            return (
                f"static_cast<{c_type}>({number & ((1 << max(bits(type), 32)) - 1)}ull)"
                if type != "pred"
                else str(bool(number)).lower()
            )
        return f"static_cast<{c_type}>({self.symbol(operand)})"

    def _special(self, operand: str) -> str | None:
        base, _, part = operand.partition(".")
        if base in _VECTORS and part in ("x", "y", "z"):
            return f"{_VECTORS[base]}.{part}"
        return _SPECIAL.get(operand)

    def symbol(self, name: str) -> str:
        """The address that a name stands for: an offset for shared memory, a pointer as an integer elsewhere."""
        base, plus, offset = name.partition("+")
        if base in self.shared:
            address = c_name(base)
        elif base in self.memory:
            address = f"reinterpret_cast<u64>({self.memory[base]})"
        elif base in self.parameters:
            address = f"reinterpret_cast<u64>({self.parameters[base]})"
        elif base in self.globals:
            address = f"reinterpret_cast<u64>({self.globals[base]})"
        elif base in self.functions:
            address = f"reinterpret_cast<u64>(&{c_name(base)})"
        else:
            raise Unsupported(f"operand {name}")
        return f"({address} + {offset})" if plus else address

    def address(self, operand: str, space: str) -> str:
        """``[%rd1+8]`` as a pointer to bytes."""
        inside = operand.strip("[]").strip()
        match = re.fullmatch(r"([%\w$.]+)\s*(?:\+\s*(-?\w+))?", inside)
        if match is None:
            raise Unsupported(f"address {operand}")
        base, offset = match[1], int(match[2] or "0", 0)
        held = self.register_type(base)
        if held is not None:
            pointer = f"T.shared + {c_name(base)}" if space == "shared" else f"at({c_name(base)})"
        elif base in self.shared:
            pointer = f"T.shared + {c_name(base)}"
        elif base in self.memory:
            pointer = self.memory[base]
        elif base in self.parameters:
            pointer = self.parameters[base]
        elif base in self.globals:
            pointer = self.globals[base]
        elif re.fullmatch(r"\d+|0x[0-9a-fA-F]+", base):
            pointer = f"at({base})"
        else:
            raise Unsupported(f"address {operand}")
        return f"({pointer} + {offset})" if offset else f"({pointer})"

    def write(self, target: str, value: str, type: str) -> str:
        """An assignment of a value of the C++ type for `type` to a register."""
        if target == "_":
            return f"(void)({value});"
        held = self.register_type(target)
        if held is None:
            raise Unsupported(f"target {target}")
        name = c_name(target)
        if held == "pred" or type == "pred":
            return f"{name} = {value};"
        if type in ("f32", "f64", "tf32"):
            return f"{name} = as<u{bits(type)}>({C_TYPES[type]}({value}));"
        if type.startswith("s") and bits(held) > bits(type):
            return (
                f"{name} = static_cast<u{bits(held)}>(static_cast<i{bits(held)}>({C_TYPES[type]}({value})));"
            )
        return f"{name} = static_cast<{C_TYPES[type]}>({value});"
