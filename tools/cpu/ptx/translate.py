"""Translates a PTX module into C++ that exports the tables of kernels and variables, as engine A's text does."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...launcher import Symbol
from ...records import Finding
from ..names import without_parameters
from .expression import Names, Unsupported, c_name
from .instructions import translated, waits
from .matrices import operations
from .parse import (
    BYTES,
    Function,
    Instruction,
    Label,
    Module,
    Registers,
    Scope,
    Targets,
    Variable,
    split_operands,
)

_GAP = 64  # bytes behind each variable
_SECTION = '__attribute__((section("cudaperf_memory")))'
_JUMPS = ("bra", "brx", "ret", "exit", "trap")
_CLASSES = {
    "f32": {"add": "fadd", "sub": "fadd", "mul": "fmul", "fma": "ffma", "mad": "ffma"},
    "f64": {"add": "dadd", "sub": "dadd", "mul": "dmul", "fma": "dfma", "mad": "dfma"},
}


@dataclass(frozen=True)
class Block:
    """A basic block: how many instructions of each class stand on each line."""

    kernel: str
    counts: Counter[tuple[int, str]]


@dataclass(frozen=True)
class Translation:
    """C++ of a module. `blocks` in the order of their numbers; `findings` name what could not be translated."""

    text: str
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...]


def translate(module: Module, kernels: Sequence[str], symbols: Sequence[Symbol], file: str) -> Translation:
    """C++ for the kernels (by name, with template arguments) and variables, in their order."""
    return _Translator(module, file).run(kernels, symbols)


def operation_class(instruction: Instruction) -> str:
    """What an instruction counts as; the floating-point classes are those of NVIDIA's metrics."""
    if operations(instruction):
        return "tensor"
    name, type = instruction.opcode[0], next((p for p in reversed(instruction.opcode) if p in BYTES), "")
    if found := _CLASSES.get(type, {}).get(name):
        return found
    if type.startswith(("f16", "bf16")) and name in ("add", "sub", "mul", "fma"):
        return {"add": "hadd", "sub": "hadd", "mul": "hmul", "fma": "hfma"}[name]
    if name in ("rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh"):
        return "special"
    if name in ("ld", "st", "atom", "red", "ldu", "cp", "wmma", "ldmatrix", "stmatrix"):
        return "memory"
    if name in ("bra", "brx", "ret", "exit", "call", "bar", "barrier"):
        return "control"
    if name == "cvt":
        return "conversion"
    return "other float" if type in ("f32", "f64") and name not in ("mov", "setp", "selp") else "integer"


class _Translator:
    def __init__(self, module: Module, file: str) -> None:
        self.module = module
        self.file = file
        self.findings: list[Finding] = []
        self.blocks: list[Block] = []
        self.pretty = _demangled([f.name for f in module.functions] + [v.name for v in module.variables])
        self.functions = {f.name: f for f in module.functions}
        self.waiting = self._waiting()

    def run(self, kernels: Sequence[str], symbols: Sequence[Symbol]) -> Translation:
        entries = {self._kernel_name(f.name, kernels): f for f in self.module.functions if f.entry}
        wanted = [entries[k] for k in kernels if k in entries]
        needed = self._needed(wanted)
        shared, variables = self._variables()
        parts = ['#include "ptx_matrix.h"\nusing namespace ptx;\n', shared, variables]
        parts += [
            f"static void {c_name(f.name)}(const Thread &, unsigned char *const *, unsigned char *);\n"
            for f in needed
            if not f.entry
        ]
        parts += [self._function(f) for f in needed]
        rows = []
        for name in kernels:
            if name in entries:
                rows.append(self._row(name, entries[name]))
            else:
                rows.append(f'{{"{name}", 0, nullptr, 0, false, nullptr, nullptr}},\n')
        parts.append(
            '#line 1 "kernels"\n'
            f'extern "C" const ::cudaperf::KernelEntry cudaperf_kernels[] = {{\n{"".join(rows)}{{}}}};\n'
            f'extern "C" const unsigned int cudaperf_kernel_count = {len(kernels)};\n'
            f"{_SECTION} __attribute__((used)) static unsigned char cudaperf_unused[65536] = {{0}};\n"
            f'extern "C" const ::cudaperf::Symbol cudaperf_symbols[] = {{{self._symbols(symbols)}}};\n'
            f'extern "C" const unsigned int cudaperf_symbol_count = {self.symbol_count};\n'
            'extern unsigned char __start_cudaperf_memory[] __attribute__((visibility("hidden")));\n'
            'extern unsigned char __stop_cudaperf_memory[] __attribute__((visibility("hidden")));\n'
            'extern "C" const unsigned char *const cudaperf_variables[] = '
            "{__start_cudaperf_memory, __stop_cudaperf_memory};\n"
        )
        return Translation("".join(parts), tuple(self.blocks), tuple(dict.fromkeys(self.findings)))

    def _kernel_name(self, mangled: str, kernels: Sequence[str]) -> str:
        signature = self.pretty[mangled].replace("(anonymous namespace)::", "").removeprefix("void ")
        return signature if signature in kernels else without_parameters(signature)

    def _symbols(self, symbols: Sequence[Symbol]) -> str:
        """Rows of the table: those that the host names first, then all other variables, so that each is known."""
        plain = {self.pretty[v.name].replace("(anonymous namespace)::", ""): v for v in self.module.variables}
        rows = []
        for symbol in symbols:
            variable = plain.pop(symbol.name, None)
            if variable is None:  # nothing on the device uses it
                rows.append(f'{{"{symbol.name}", cudaperf_unused, sizeof cudaperf_unused, false}}')
            else:
                rows.append(self._row_of(symbol.name, variable, symbol.constant))
        hidden = [v for v in plain.values() if v.space != "shared" and v.size]
        rows += [self._row_of(v.name.lstrip("$"), v, v.space == "const") for v in hidden]
        self.symbol_count = len(rows)
        return ", ".join([*rows, "{}"])

    def _row_of(self, name: str, variable: Variable, constant: bool) -> str:
        return f'{{"{name}", {c_name(variable.name)}, {variable.size}, {str(constant).lower()}}}'

    def _needed(self, wanted: Iterable[Function]) -> list[Function]:
        """The kernels and every function that they may call; all, where an address is taken."""
        text = {
            f.name: {
                w
                for s in f.body
                if isinstance(s, Instruction)
                for o in s.operands
                for w in re.findall(r"[\w$]+", o)
            }
            for f in self.module.functions
        }
        initial = {
            w for v in self.module.variables for w in re.findall(r"[\w$]+", v.init)
        } & self.functions.keys()
        found: dict[str, None] = dict.fromkeys([*initial, *(f.name for f in wanted)])
        pending = list(found)
        while pending:
            for name in text[pending.pop()] & self.functions.keys():
                if name not in found and not self.functions[name].entry:
                    found[name] = None
                    pending.append(name)
        return [f for f in self.module.functions if f.name in found]

    def _waiting(self) -> frozenset[str]:
        """Functions in which a thread may have to wait, directly or through calls."""
        found = {
            f.name
            for f in self.module.functions
            if any(isinstance(s, Instruction) and waits(s) for s in f.body)
        }
        grown = True
        while grown:
            grown = False
            for function in self.module.functions:
                calls = [s for s in function.body if isinstance(s, Instruction) and s.opcode[0] == "call"]
                targets = {w for c in calls for o in c.operands for w in re.findall(r"[\w$%]+", o)}
                if function.name not in found and (
                    targets & found or any(t.startswith("%") for t in targets)
                ):
                    found.add(function.name)
                    grown = True
        return frozenset(found)

    def _variables(self) -> tuple[str, str]:
        """Shared variables' slots, and the memory of all others."""
        slots, memory = [], []
        self.globals: dict[str, str] = {}
        for v in self.module.variables:
            name = c_name(v.name)
            if v.space == "shared":
                if v.size:
                    slots.append(self._slot(v))
                continue
            self.globals[v.name] = name
            memory.append(f"extern unsigned char {name}[];\n")
        memory += [self._initialized(v) for v in self.module.variables if v.space != "shared"]
        inside = [s for f in self.module.functions for s in f.body if isinstance(s, Variable)]
        slots += [self._slot(v) for v in inside if v.space == "shared" and v.size]
        return "".join(slots), "".join(memory)

    def _slot(self, v: Variable) -> str:
        plain = _demangled([v.name])[v.name].rpartition("::")[2]
        return (
            f'static ::cudaperf::Shared {c_name(v.name)}_slot = {{"{plain}", {v.size}, {v.alignment}, 0}};\n'
        )

    def _initialized(self, v: Variable) -> str:
        """The variable's memory, in the section of all variables, with a gap behind that belongs to nothing."""
        size = v.size + _GAP
        name = c_name(v.name)
        head = f"{_SECTION} alignas({v.alignment}) unsigned char {name}[{size}]"
        words = split_operands(v.init.strip().strip("{}")) if v.init else ()
        width = BYTES[v.type]
        if all(re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)|0[fFdD][0-9a-fA-F]+", w) for w in words):
            numbers = [int(w[2:], 16) if w[:2].lower() in ("0f", "0d") else int(w, 0) for w in words]
            data = b"".join((n & ((1 << 8 * width) - 1)).to_bytes(width, "little") for n in numbers)
            return f"{head} = {{{','.join(map(str, data)) or '0'}}};\n"
        # Addresses: set when the library is loaded.
        names = Names(globals=self.globals, functions=frozenset(self.functions))
        lines = []
        for i, word in enumerate(words):
            symbol = re.sub(r"^generic\((.*)\)$", r"\1", word)
            value = symbol if re.fullmatch(r"-?\d+", symbol) else names.symbol(symbol)
            lines.append(f"store<u{8 * width}>({name} + {i * width}, {value});")
        return (
            f"{head} = {{0}};\n"
            f"__attribute__((constructor)) static void set_{name}() {{ {' '.join(lines)} }}\n"
        )

    def _row(self, name: str, function: Function) -> str:
        offset, layout = 0, []
        for p in function.parameters:
            offset = -(-offset // p.alignment) * p.alignment
            layout.append(f"{{{offset}, {p.size}}}")
            offset += p.size
        waiting = function.name in self.waiting
        base = c_name(function.name)
        block = "nullptr" if waiting else f"{base}_block"
        layout_of = f"{offset}, {base}_arguments, {len(layout)}"
        return f'{{"{name}", {layout_of}, {str(waiting).lower()}, {base}_thread, {block}}},\n'

    def _function(self, function: Function) -> str:
        names = Names(globals=self.globals, functions=frozenset(self.functions))
        names.shared.update(v.name for v in self.module.variables if v.space == "shared")
        names.declare(function.body)
        used = {
            w
            for s in function.body
            if isinstance(s, Instruction)
            for o in (*s.operands, s.predicate)
            for w in re.findall(r"[%$\w]+", o)
        }
        base = c_name(function.name)
        offset = 0
        lines = []
        for i, p in enumerate(function.parameters):
            offset = -(-offset // p.alignment) * p.alignment
            names.parameters[p.name] = f"(P + {offset})" if function.entry else f"A[{i}]"
            offset += p.size
        for r in function.returns:
            names.memory[r.name] = "R"
        dynamic = {v.name for v in self.module.variables if v.space == "shared" and not v.size}
        for name in sorted(names.shared & used):
            value = (
                "0"
                if name in dynamic
                else f"static_cast<u32>(static_cast<unsigned char *>(cudaperf_shared(&{c_name(name)}_slot)) - T.shared)"
            )
            lines.append(f"const u32 {c_name(name)} = {value};")
        body = self._body(function, names, used)
        head = (
            f"static PTX_INLINE void {base}(const Thread &T, const unsigned char *P)"
            if function.entry
            else f"static void {base}(const Thread &T, unsigned char *const *A, unsigned char *R)"
        )
        text = (
            f'#line 1 "kernels"\n{head} {{\n{chr(10).join(lines)}\nu32 carry = 0; (void)carry;\n{body}\n}}\n'
        )
        return text + (self._wrappers(function) if function.entry else "")

    def _wrappers(self, function: Function) -> str:
        base = c_name(function.name)
        offset, layout = 0, []
        for p in function.parameters:
            offset = -(-offset // p.alignment) * p.alignment
            layout.append(f"{{{offset}, {p.size}}}")
            offset += p.size
        text = (
            '#line 1 "kernels"\n'
            f"static const ::cudaperf::Argument {base}_arguments[] = {{{', '.join([*layout, '{0, 0}'])}}};\n"
            f"static void {base}_thread(const unsigned char *P, uint3 t, uint3 b, dim3 n, dim3 g) {{\n"
            f"Thread T{{t, b, n, g, static_cast<unsigned char *>(cudaperf_dynamic_shared())}};\n{base}(T, P);\n}}\n"
        )
        if function.name not in self.waiting:
            text += (
                "#ifndef CUDAPERF_CHECKED\n"
                f"static bool {base}_block(const unsigned char *P, uint3 b, dim3 n, dim3 g) {{\n"
                f"Thread T{{{{0, 0, 0}}, b, n, g, static_cast<unsigned char *>(cudaperf_dynamic_shared())}};\n"
                "for (T.tid.z = 0; T.tid.z < n.z; T.tid.z++)\nfor (T.tid.y = 0; T.tid.y < n.y; T.tid.y++)\n"
                f"for (T.tid.x = 0; T.tid.x < n.x; T.tid.x++) {base}(T, P);\nreturn true;\n}}\n"
                f"#else\nstatic constexpr ::cudaperf::RunBlock {base}_block = nullptr;\n#endif\n"
            )
        return text

    def _body(self, function: Function, names: Names, used: set[str]) -> str:
        """The statements. All of one source line stand on one line, so that line numbers stay true."""
        lines: list[list[str]] = [[]]
        targets = {s.name: s.labels for s in function.body if isinstance(s, Targets)}
        number, fresh = 0, True
        for statement in function.body:
            if isinstance(statement, Instruction):
                if statement.line != number:
                    number = statement.line
                    lines += [[f'#line {max(number, 1)} "{self.file}"'], []]
                if fresh:
                    lines[-1].append(f"PTX_COUNT({len(self.blocks)});")
                    self.blocks.append(Block(function.name, Counter()))
                    fresh = False
                self.blocks[-1].counts[number, operation_class(statement)] += operations(statement) or 1
            match statement:
                case Registers():
                    lines[-1] += _declared(statement, used)
                case Variable(space="local" | "param", name=name, size=size, alignment=alignment):
                    place = f"alignas({max(alignment, 8)}) unsigned char {c_name(name)}[{max(size, 8)}];"
                    lines[-1].append(place)
                case Label(name=name):
                    lines[-1].append(f"{c_name(name)}:;")
                    fresh = True
                case Scope(opens=opens):
                    lines[-1].append("{" if opens else "}")
                case Instruction():
                    lines[-1].append(self._statement(statement, names, function, targets))
                    fresh = statement.opcode[0] in _JUMPS or bool(statement.predicate)
        return "\n".join(" ".join(line) for line in lines)

    def _statement(
        self, ins: Instruction, names: Names, function: Function, targets: Mapping[str, tuple[str, ...]]
    ) -> str:
        try:
            text = self._control(ins, names, function, targets) or translated(ins, names)
        except (Unsupported, ValueError, KeyError, StopIteration, IndexError) as error:
            what = f" ({error})" if isinstance(error, Unsupported) and str(error) != "instruction" else ""
            message = f"PTX instruction {'.'.join(ins.opcode)} is not supported{what}"
            self.findings.append(
                Finding(
                    rule="unsupported",
                    message=message,
                    file=self.file,
                    line=ins.line,
                    column=1,
                    remedy="avoid what compiles to it",
                )
            )
            text = ";"
        if ins.predicate:
            return f"if ({'!' if ins.negated else ''}{c_name(ins.predicate)}) {{ {text} }}"
        return text

    def _control(
        self, ins: Instruction, names: Names, function: Function, targets: Mapping[str, tuple[str, ...]]
    ) -> str:
        match ins.opcode[0]:
            case "bra":
                return f"goto {c_name(ins.operands[0])};"
            case "brx":
                cases = "".join(
                    f"case {i}: goto {c_name(t)}; " for i, t in enumerate(targets[ins.operands[1]])
                )
                return f"switch ({names.read(ins.operands[0], 'u32')}) {{ {cases}}}"
            case "ret":
                return "return;"
            case "exit" if function.entry:
                return "return;"
            case "call":
                return self._call(ins, names)
        return ""

    def _call(self, ins: Instruction, names: Names) -> str:
        operands = list(ins.operands)
        result = operands.pop(0).strip("()") if operands[0].startswith("(") else ""
        target = operands.pop(0)
        given = split_operands(operands[0].strip("()")) if operands and operands[0].startswith("(") else ()
        places = [names.memory[g] for g in given]
        into = names.memory[result] if result else "nullptr"
        if target == "vprintf":
            return (
                f"store<i32>({into}, cudaperf_vprintf(reinterpret_cast<const char *>(at(load<u64>({places[0]}))), "
                f"at(load<u64>({places[1]}))));"
            )
        if target == "__assertfail":
            return f"cudaperf_assert(reinterpret_cast<const char *>(at(load<u64>({places[0]}))), {ins.line});"
        if target in self.module.external:
            raise Unsupported(f"the function {target}")
        arguments = f"unsigned char *const a[] = {{{', '.join([*places, 'nullptr'])}}}; "
        if target in self.functions:
            return f"{{ {arguments}{c_name(target)}(T, a, {into}); }}"
        pointer = "reinterpret_cast<void (*)(const Thread &, unsigned char *const *, unsigned char *)>"
        return f"{{ {arguments}{pointer}({names.read(target, 'u64')})(T, a, {into}); }}"


def _declared(registers: Registers, used: set[str]) -> list[str]:
    """The registers that the function mentions. They start undefined, so that a jump may pass them."""
    type = (
        "bool"
        if registers.type == "pred"
        else f"u{BYTES[registers.type] * 8}".replace("u128", "unsigned __int128")
    )
    if registers.count is None:
        return [f"{type} {c_name(registers.name)};"]
    mentioned = [name for i in range(registers.count) if (name := f"{registers.name}{i}") in used]
    return [f"{type} {', '.join(map(c_name, mentioned))};"] if mentioned else []


def _demangled(names: Sequence[str]) -> dict[str, str]:
    """Names as C++ spells them."""
    if not names:
        return {}
    answer = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, answer.stdout.splitlines(), strict=True))
