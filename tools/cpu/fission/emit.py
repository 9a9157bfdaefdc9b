"""C++ for the parts of a kernel that has been taken apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from .parts import Control, NotSimple, Part, Region, Statement, Stretch, Text, Variable, regions


def body_of(parts: list[Part], file: str) -> str:
    """The body of the function that runs a whole block. Gives storage to the variables that need it."""
    storage = []
    seen: Counter[str] = Counter()
    for variable in dict.fromkeys(v for r in regions(parts) for v in r.mentioned if not v.computed):
        if len(variable.regions) < 2:
            continue
        seen[variable.name] += 1
        variable.storage = f"{variable.name}_of_each" + (f"_{n}" if (n := seen[variable.name]) > 1 else "")
        stretches = {r.stretch for r in variable.regions}
        stretch = stretches.pop()
        if stretch is None or stretches:
            storage.append(_storage(variable, 1024))
        else:
            stretch.storage.append(variable)
    return " ".join(storage) + "".join(_emitted(parts, file))


def _storage(variable: Variable, threads: int) -> str:
    """The variable's storage: an array with one more dimension, over the threads."""
    words = set(re.findall(r"\w+", variable.type))
    if "auto" in words or "volatile" in words or "&" in variable.type + variable.declarator:
        raise NotSimple
    if "*" not in variable.declarator:
        variable.type = re.sub(r"\bconst\b", " ", variable.type)
    elif re.search(r"\*\s*const\b", variable.declarator):
        raise NotSimple
    declarator = re.sub(rf"\b{variable.name}\b", f"{variable.storage}[{threads}]", variable.declarator)
    return f"{variable.type} {declarator};"


def _emitted(parts: list[Part], file: str) -> Iterator[str]:
    for part in parts:
        match part:
            case Text(text=text, line=line):
                yield f'\n#line {line} "{file}"\n{text}'
            case Control(heading=heading, line=line, needs=needs, body=body, otherwise=otherwise):
                yield f'\n{{ {_computed(needs)}\n#line {line} "{file}"\n{heading} {{'
                yield from _emitted(body, file)
                if otherwise:
                    yield "\n} else {"
                    yield from _emitted(otherwise, file)
                yield "\n} }"
            case Stretch(parts=inner, storage=storage, exchanges=exchanges):
                yield "\nCUDAPERF_EACH_WARP { " + " ".join(exchanges)
                yield " ".join(_storage(v, 32) for v in storage)
                yield from _emitted(inner, file)
                yield "\n} CUDAPERF_END_EACH_WARP"
            case Region():
                yield from _region(part, file)


def _computed(variables: Iterable[Variable]) -> str:
    needed = dict.fromkeys(n for v in variables for n in v.needed())
    return "".join(f" {v.type} {v.declarator} = {v.value};" for v in needed)


def _first(variable: Variable) -> str:
    """The value of a rising variable in the first thread. Signed, it does not wrap around in the loop."""
    type_ = re.sub(r"\bconst\b", " ", variable.type).strip()
    return f" {type_} {variable.name}_first; {{{_computed([variable])} {variable.name}_first = {variable.name}; }}"


def _region(region: Region, file: str) -> Iterator[str]:
    declared = {s for s in region.statements if isinstance(s, Variable)}
    statements = region.statements
    only = statements[0] if len(statements) == 1 else None
    narrowed = only.narrowed if isinstance(only, Statement) else None
    each, all_of = ("LANE", "32") if region.stretch else ("THREAD", "blockDim.x")
    begin, end = (narrowed.begin, narrowed.end) if narrowed else ("0", all_of)
    needed = dict.fromkeys(n for v in region.mentioned for n in v.needed())
    yield f"\nCUDAPERF_EACH_{each}({begin}, {end},{''.join(_first(v) for v in needed if v.rising)}) {{"
    for variable in needed:
        value = f"{variable.name}_first + cudaperf_x" if variable.rising else variable.value
        yield f" {variable.type} {variable.declarator} = {value};"
    for variable in region.mentioned:
        if variable.storage and variable not in declared:
            yield f" {_reference(variable)}"
    for statement in statements:
        text = _declared(statement) if isinstance(statement, Variable) else statement.text
        text = narrowed.text if narrowed else text
        yield f'\n#line {statement.line} "{file}"\n{text}'
    yield "\n} CUDAPERF_END_EACH_THREAD"


def _reference(variable: Variable) -> str:
    stretches = {r.stretch for r in variable.regions}
    index = "cudaperf_thread_index" if len(stretches) > 1 or None in stretches else "cudaperf_in_warp"
    return f"auto &{variable.name} = {variable.storage}[{index}];"


def _declared(variable: Variable) -> str:
    if not variable.storage:
        value = f" = {variable.value}" if variable.value else ""
        return f"{variable.type} {variable.declarator}{value};"
    text = _reference(variable)
    if variable.value and "[" in variable.declarator:
        declarator = re.sub(rf"\b{variable.name}\b", "first", variable.declarator)
        name = variable.name
        first = f"{variable.type} {declarator} = {variable.value};"
        return f"{text} {{ {first} memcpy(&{name}, &first, sizeof {name}); }}"
    return text + (f" {variable.name} = {variable.value};" if variable.value else "")
