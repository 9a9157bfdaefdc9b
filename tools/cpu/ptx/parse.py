"""Reads PTX text into records: module variables and functions, statement by statement, with source lines.

Grammar: NVIDIA, "Parallel Thread Execution ISA", https://docs.nvidia.com/cuda/parallel-thread-execution/.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")
_INLINED = re.compile(r"inlined_at\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_VARIABLE = re.compile(
    r"\.(const|global|shared|local|param)\s*(?:\.align\s+(\d+)\s*)?(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(\d+)\s*)?"
    r"(?:\.ptr[\w.\s]*?)?\.(\w+)(?:\s+\.ptr(?:\s+\.\w+)*(?:\s+\.align\s+\d+)?)?\s+([\w$%]+)((?:\[\d*\])*)"
    r"\s*(?:=\s*(.*))?$",
    re.DOTALL,
)
BYTES = {
    "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4,
    "f32": 4, "f16x2": 4, "bf16x2": 4, "tf32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Variable:
    """A variable outside registers. `size` in bytes is 0 for an array of unknown extent; `init` is PTX text."""

    space: str
    type: str
    name: str
    size: int
    alignment: int
    init: str = ""
    external: bool = False


@dataclass(frozen=True)
class Registers:
    """``.reg .b32 %r<9>``: names are `name`0 to `name`8; a `count` of None declares `name` itself."""

    type: str
    name: str
    count: int | None


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Scope:
    """``{`` or ``}`` inside a function."""

    opens: bool


@dataclass(frozen=True)
class Targets:
    """``.branchtargets``: the labels that ``brx.idx`` chooses from."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Instruction:
    """`opcode` split at its dots; `predicate` is a register's name, empty where there is none. `line` as numbered."""

    opcode: tuple[str, ...]
    operands: tuple[str, ...]
    predicate: str
    negated: bool
    line: int


Statement = Variable | Registers | Label | Scope | Targets | Instruction


@dataclass(frozen=True)
class Function:
    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    returns: tuple[Variable, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Module:
    variables: tuple[Variable, ...]
    functions: tuple[Function, ...]
    external: frozenset[str] = field(default=frozenset())


def parse(text: str, lines: Mapping[str, int]) -> Module:
    """The module. `lines` gives for each source file (as PTX spells its path) what is added to its line numbers;
    lines of other files stand for the nearest place in these from which their code was inlined."""
    return _Parser(text, lines).module()


class _Parser:
    def __init__(self, text: str, lines: Mapping[str, int]) -> None:
        self.text = re.sub(r"//[^\n]*", "", text.partition("\n.section")[0] + "\n")
        own = {
            n: next((f for f in lines if path == f or path.endswith(f"/{f}")), None)
            for n, path in _FILE.findall(text)
        }
        self.bases = {n: lines[f] for n, f in own.items() if f is not None}
        self.line = 0

    def module(self) -> Module:
        variables, functions, external = [], [], set()
        for text, body in self._items():
            head = " ".join(text.split())
            if ".entry" in head or ".func" in head:
                name, returns, parameters = self._signature(head)
                if body is None:
                    external.add(name)
                else:
                    entry = ".entry" in head
                    functions.append(Function(name, entry, parameters, returns, self._body(body)))
            elif (variable := _variable(head)) is not None:
                variables.append(variable)
        defined = {f.name for f in functions}
        return Module(tuple(variables), tuple(functions), frozenset(external - defined))

    def _items(self):
        """Heads at module level, with the body of a function."""
        text, position = self.text, 0
        text = re.sub(
            r"^\s*\.(?:version|target|address_size|file|pragma)\b[^\n]*", "", text, flags=re.MULTILINE
        )
        while position < len(text):
            end = _next(text, position, ";{")
            if end < 0:
                return
            head = text[position:end]
            if text[end] == "{" and "=" not in head:
                close = _closing(text, end)
                yield head, text[end + 1 : close]
                position = close + 1
                continue
            if text[end] == "{":
                end = text.index(";", _closing(text, end))
                head = text[position:end]
            yield head, None
            position = end + 1

    def _signature(self, head: str) -> tuple[str, tuple[Variable, ...], tuple[Variable, ...]]:
        head = re.sub(
            r"\.(?:maxntid|reqntid|minnctapersm|maxnreg|noreturn|explicitcluster|maxclusterrank)[^.{]*$",
            "",
            head,
        )
        match = re.search(
            r"\.(?:entry|func)\s*(?:\.noreturn\s*)?(?:\(([^)]*)\)\s*)?([\w$]+)\s*(?:\((.*?)\))?", head
        )
        assert match, head
        returns, parameters = (
            tuple(v for p in (text or "").split(",") if (v := _variable(p.strip())) is not None)
            for text in (match[1], match[3])
        )
        return match[2], returns, parameters

    def _body(self, text: str) -> tuple[Statement, ...]:
        found: list[Statement] = []
        pending = ""
        depth = 0
        for line in text.splitlines():
            if location := _LOC.match(line):
                self._locate(line, location)
                continue
            for character in line + " ":
                if not pending.strip() and character in "{}":
                    found.append(Scope(character == "{"))
                elif character == ";" and not depth:
                    found += self._statement(pending.strip())
                    pending = ""
                elif character == ":" and not depth and re.fullmatch(r"\s*[\w$]+\s*", pending):
                    found.append(Label(pending.strip()))
                    pending = ""
                else:
                    depth += {"{": 1, "}": -1}.get(character, 0)
                    pending += character
        return tuple(_with_targets(found))

    def _locate(self, line: str, location: re.Match[str]) -> None:
        places = [(location[1], location[2]), *_INLINED.findall(line)]
        for file, number in places:
            if file in self.bases:
                self.line = self.bases[file] + int(number)
                return

    def _statement(self, text: str) -> list[Statement]:
        if not text or text.startswith((".pragma", ".callprototype")):
            return []
        if text.startswith(".branchtargets"):
            labels = tuple(label.strip() for label in text.removeprefix(".branchtargets").split(","))
            return [Targets("", labels)]
        if match := re.match(r"\.reg\s+\.(\w+)\s+(.*)", text, re.DOTALL):
            found: list[Statement] = []
            for name in match[2].split(","):
                counted = re.fullmatch(r"\s*([\w$%]+)<(\d+)>\s*", name)
                count = int(counted[2]) if counted else None
                found.append(Registers(match[1], counted[1] if counted else name.strip(), count))
            return found
        if (variable := _variable(text)) is not None:
            return [variable]
        predicate, negated = "", False
        if match := re.match(r"@(!?)([\w$%]+)\s+(.*)", text, re.DOTALL):
            negated, predicate, text = match[1] == "!", match[2], match[3]
        opcode, _, rest = " ".join(text.split()).partition(" ")
        return [Instruction(tuple(opcode.split(".")), split_operands(rest), predicate, negated, self.line)]


def _with_targets(statements: list[Statement]) -> list[Statement]:
    """A label before ``.branchtargets`` is the list's name."""
    found: list[Statement] = []
    for statement in statements:
        if isinstance(statement, Targets) and found and isinstance(found[-1], Label):
            label = found.pop()
            assert isinstance(label, Label)
            found.append(Targets(label.name, statement.labels))
        else:
            found.append(statement)
    return found


def split_operands(text: str) -> tuple[str, ...]:
    """Operands at top level: ``{%r1, %r2}`` and ``[%rd1+8]`` are one each."""
    found, depth, current = [], 0, ""
    for character in text:
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += character
    return (*found, current.strip()) if current.strip() else tuple(found)


def _variable(text: str) -> Variable | None:
    external = ".extern" in text
    text = re.sub(r"^(?:\.(?:visible|extern|weak|common)\s+)+", "", text.strip())
    match = _VARIABLE.match(text)
    if match is None:
        return None
    space, first, second, type, name, extents, init = match.groups()
    size = BYTES[type]
    for extent in re.findall(r"\[(\d*)\]", extents):
        size *= int(extent or 0)
    return Variable(space, type, name, size, int(first or second or BYTES[type]), init or "", external)


def _next(text: str, position: int, characters: str) -> int:
    found = [i for c in characters if (i := text.find(c, position)) >= 0]
    return min(found, default=-1)


def _closing(text: str, opening: int) -> int:
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    raise ValueError("a brace of the PTX text is not closed")
