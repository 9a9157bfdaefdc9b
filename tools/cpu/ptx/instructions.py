"""Which function translates which family of PTX instructions. What is not here is refused by name."""

from __future__ import annotations

from collections.abc import Callable

from . import arithmetic, matrices, memory, warps
from .expression import Names, Unsupported
from .parse import Instruction

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
    "stmatrix",
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


def _trap(ins: Instruction, names: Names) -> str:
    return f'cudaperf_trap("__trap()", {ins.line});'


FAMILIES: dict[str, Callable[[Instruction, Names], str]] = {
    "add": arithmetic.binary("+"),
    "sub": arithmetic.binary("-"),
    "addc": arithmetic.binary("+"),
    "subc": arithmetic.binary("-"),
    "mul": arithmetic.multiply,
    "mul24": arithmetic.multiply,
    "mad": arithmetic.multiply_add,
    "mad24": arithmetic.multiply_add,
    "madc": arithmetic.multiply_add,
    "fma": arithmetic.fused,
    "div": arithmetic.divide,
    "rem": arithmetic.divide,
    "min": arithmetic.extremum,
    "max": arithmetic.extremum,
    "neg": arithmetic.negate,
    "abs": arithmetic.absolute,
    "copysign": arithmetic.copysign,
    "testp": arithmetic.test,
    "rcp": arithmetic.function("(1.0f / {})"),
    "sqrt": arithmetic.function("__builtin_sqrtf({})"),
    "rsqrt": arithmetic.function("(1.0f / __builtin_sqrtf({}))"),
    "sin": arithmetic.function("sinf({})"),
    "cos": arithmetic.function("cosf({})"),
    "ex2": arithmetic.function("exp2f({})"),
    "lg2": arithmetic.function("log2f({})"),
    "tanh": arithmetic.function("tanhf({})"),
    "and": arithmetic.logic("&"),
    "or": arithmetic.logic("|"),
    "xor": arithmetic.logic("^"),
    "not": arithmetic.negation,
    "cnot": arithmetic.unary("({a} == 0 ? 1 : 0)"),
    "shl": arithmetic.shift,
    "shr": arithmetic.shift,
    "shf": arithmetic.funnel,
    "lop3": arithmetic.fields("logic<u32>({0}, {1}, {2}, {3})", 3),
    "prmt": arithmetic.fields("permuted({0}, {1}, {2})", 3),
    "bfe": arithmetic.fields("extract<{t}>({0}, {1}, {2})", 1),
    "bfi": arithmetic.fields("insert<{t}>({0}, {1}, {2}, {3})", 2),
    "bmsk": arithmetic.fields("mask_of({0}, {1})", 1),
    "bfind": arithmetic.find_bit,
    "brev": arithmetic.unary("reversed({a})"),
    "popc": arithmetic.unary("__builtin_popcountll({a})", "u32"),
    "clz": arithmetic.unary("({a} ? __builtin_clzll({a}) - (64 - {w}) : {w})", "u32"),
    "sad": arithmetic.fields("({0} > {1} ? {0} - {1} : {1} - {0}) + {2}", 3),
    "dp4a": arithmetic.dot_product,
    "dp2a": arithmetic.dot_product,
    "selp": arithmetic.select,
    "slct": arithmetic.slct,
    "setp": arithmetic.compare,
    "set": arithmetic.set_all,
    "mov": arithmetic.move,
    "cvt": arithmetic.convert,
    "cvta": memory.convert_address,
    "ld": memory.memory,
    "ldu": memory.memory,
    "st": memory.memory,
    "atom": memory.atomic,
    "red": memory.atomic,
    "bar": warps.barrier,
    "barrier": warps.barrier,
    "shfl": warps.shuffle,
    "vote": warps.vote,
    "match": warps.match,
    "mma": matrices.multiply,
    "wmma": matrices.wmma,
    "ldmatrix": matrices.rows,
    "stmatrix": matrices.rows,
    "movmatrix": matrices.transpose,
    "redux": warps.reduce,
    "elect": warps.elect,
    "cp": memory.copy_async,
    "isspacep": memory.is_space,
    "membar": memory.fence,
    "fence": memory.fence,
    "trap": _trap,
    "brkpt": lambda ins, names: ";",
    "nanosleep": lambda ins, names: "cudaperf_yield();",
    "activemask": lambda ins, names: names.write(ins.operands[0], f"cudaperf_active_mask({ins.line})", "b32"),
}
