"""The C text that calls the original with a launcher's arguments: structs and rows are put together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from .records import FunctionSpec, Parameter, Task

C_TYPES = {
    "bool": "_Bool",
    "float32": "float",
    "float64": "double",
    "longdouble": "long double",
    **{f"{u}int{bits}": f"__{u.upper()}INT{bits}_TYPE__" for u in ("", "u") for bits in (8, 16, 32, 64)},
}

WideTypes = Mapping[str, str | np.dtype]
"""The types of the parameters that changed in higher precision."""

COMPLEX = {"complex_float": "float _Complex", "complex_double": "double _Complex"}
_WIDER = {"float _Complex": "double _Complex", "double _Complex": "long double _Complex"}
GIVEN = "cudaperf_given"
_ROWS = """\
static void *cudaperf_table(void *first, long long count, long long bytes) {
    void **table = __builtin_malloc((count > 0 ? count : 0) * sizeof *table + 1);
    for (long long i = 0; i < count; i++) table[i] = (char *)first + i * bytes;
    return table;
}
/* Rows of their own, so that AddressSanitizer sees an access beyond one; else they stay where they are. */
static void *cudaperf_rows(void *first, long long count, long long bytes) {
    void **rows = cudaperf_table(first, count, bytes);
#ifdef __SANITIZE_ADDRESS__
    for (long long i = 0; i < count; i++) rows[i] = __builtin_memcpy(__builtin_malloc(bytes), rows[i], bytes);
#endif
    return rows;
}
static void cudaperf_back(void *first, void **rows, long long count, long long bytes) {
    for (long long i = 0; i < count; i++)
        if (rows[i] != (char *)first + i * bytes) __builtin_memcpy((char *)first + i * bytes, rows[i], bytes);
}
"""


def call_unit(task: Task, source: str, wide: WideTypes, dump: bool) -> str:
    """The original and, behind it in the same unit (it may be static), the function that calls it.

    Arguments stand in the launcher's order. With `dump` nothing is called: globals are copied out.
    """
    function = task.function
    before, after = [], []
    fixed_only = [p for p in function.parameters if p.fixed]
    for i, p in enumerate(fixed_only if dump else function.parameters):
        if dump:
            after.append(f"__builtin_memcpy({GIVEN}[{i}], (void *)&{p.name}, sizeof {p.name});")
        elif p.origin == "global" and not p.fixed:
            before.append(f"__builtin_memcpy((void *)&{p.name}, {GIVEN}[{i}], sizeof {p.name});")
            if p.role != "in":
                after.append(f"__builtin_memcpy({GIVEN}[{i}], (void *)&{p.name}, sizeof {p.name});")
    invoke = [] if dump else ["{", *(f"    {line}" for line in _Call(function, wide).lines()), "}"]
    body = "\n    ".join([*before, *invoke, *after])
    rows = _ROWS if any(p.row_levels for p in function.parameters) else ""
    return (
        "#define main cudaperf_original_main\n"
        f'#line 1 "{_quoted(task.path)}"\n{source}\n'
        "#undef main\n"
        f"{rows}void cudaperf_call(void **{GIVEN}) {{\n    {body}\n}}\n"
    )


class _Call:
    """The call, in a scope of its own: its variables are named as the original's parameters."""

    def __init__(self, function: FunctionSpec, wide: WideTypes) -> None:
        self.function = function
        self.wide = wide
        self.places = {p.name: i for i, p in enumerate(function.parameters)}

    def lines(self) -> Iterator[str]:
        function = self.function
        own = [p for p in function.parameters if p.origin == "parameter"]
        shaping = {n for p in own if p.row_levels for e in p.shape for n in re.findall(r"[A-Za-z_]\w*", e)}
        for p in own:
            if p.name in shaping and not p.shape:
                yield f"const {self.type(p)} {p.name} = {self.value(p)};"
        for p in own:
            if p.row_levels:
                yield from self.rows(p)
        for argument in function.arguments:
            if argument.struct and argument.struct not in COMPLEX:
                members = [
                    f".{re.split(r'->|[.]', p.access, maxsplit=1)[1]} = {self.value(p)}"
                    for p in own
                    if _owner(p) == argument.name and not p.inside
                ]
                whole = f"{{{', '.join(members) or '0'}}}"
                if argument.by_pointer:
                    yield f"{argument.struct} {argument.name}_ = {whole}, *{argument.name} = &{argument.name}_;"
                else:
                    yield f"{argument.struct} {argument.name} = {whole};"
        for p in own:
            if p.inside:
                yield f"__builtin_memcpy((void *){p.access}, {self.buffer(p)}, {_size(p)});"
        result = next((p for p in function.parameters if p.origin == "result"), None)
        target = f"*({self.type(result)} *){self.buffer(result)} = " if result is not None else ""
        yield f"{target}{function.name}({', '.join(self.arguments(own))});"
        for p in own:
            if p.inside and p.role != "in":
                yield f"__builtin_memcpy({self.buffer(p)}, {p.access}, {_size(p)});"
            elif p.row_levels and p.role != "in":
                yield f"cudaperf_back({self.buffer(p)}, {p.name}_rows, {self.rows_of(p)});"

    def arguments(self, own: list[Parameter]) -> Iterator[str]:
        if not self.function.arguments:
            yield from map(self.value, own)
            return
        plain = {p.name: p for p in own if not p.row_levels}
        for argument in self.function.arguments:
            if argument.struct in COMPLEX:
                parts = {p.access: self.value(p) for p in own if _owner(p) == argument.name}
                zero = f"({COMPLEX[argument.struct].removesuffix(' _Complex')})0"
                real, imaginary = (parts.get(f"{argument.name}.{part}", zero) for part in ("re", "im"))
                yield f"__builtin_complex({real}, {imaginary})"
            else:
                yield self.value(plain[argument.name]) if argument.name in plain else argument.name

    def rows(self, p: Parameter) -> Iterator[str]:
        """Tables of pointers, the innermost one to the rows."""
        yield f"void **{p.name}_rows = cudaperf_rows({self.buffer(p)}, {self.rows_of(p)});"
        made = f"{p.name}_rows"
        for level in range(p.row_levels - 1, 0, -1):
            made = f"cudaperf_table({made}, {_count(p.shape[:level])}, {_count((p.shape[level],))} * sizeof(void *))"
        yield f"void *{p.name} = (void *){made};"

    def rows_of(self, p: Parameter) -> str:
        """How many rows there are, and the bytes of each."""
        count, length = _count(p.shape[: p.row_levels]), _count(p.shape[p.row_levels :])
        return f"{count}, {length} * sizeof({self.type(p)})"

    def value(self, p: Parameter) -> str:
        if p.row_levels:
            return p.name
        if p.shape or p.is_pointer:
            return self.buffer(p)
        return f"*({self.type(p)} *){self.buffer(p)}"

    def buffer(self, p: Parameter) -> str:
        return f"{GIVEN}[{self.places[p.name]}]"

    def type(self, p: Parameter) -> str:
        """The C type of a parameter's elements."""
        if p.dtype in COMPLEX:
            return _WIDER[COMPLEX[p.dtype]] if p.name in self.wide else COMPLEX[p.dtype]
        struct = next((s.spelling for s in self.function.structs if s.name == p.dtype), p.dtype)
        return C_TYPES.get(str(self.wide.get(p.name, p.dtype)), struct)


def _count(extents: tuple[str, ...]) -> str:
    """The product of extents, one below zero counting as zero."""
    return " * ".join(f"(({e}) > 0 ? (long long)({e}) : 0)" for e in extents)


def _owner(p: Parameter) -> str:
    """The argument that a part belongs to; empty for what is no part."""
    return re.split(r"->|[.]", p.access.removeprefix("&"), maxsplit=1)[0]


def _size(p: Parameter) -> str:
    return f"sizeof({p.access.removeprefix('&')})"


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace('"', '\\"')
