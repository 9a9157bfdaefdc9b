"""The records that everything else passes around: frozen, with content for identity, and JSON on disk.

`None` means "this stage was not reached"; there are no sentinel values.
"""

from __future__ import annotations

import hashlib
from typing import Literal as OneOf

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen record. Infinite and NaN floats survive the way to JSON and back."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    @property
    def id(self) -> str:
        """The first 16 hex digits of the SHA-256 of the record's JSON form."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]


class Finding(Record):
    """Something found in a candidate, at a place in the candidate's own source (1-based; 0: unknown)."""

    rule: str
    message: str
    severity: OneOf["error", "warning", "info"] = "error"
    file: str = ""
    line: int = 0
    column: int = 0
    remedy: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else ""
        return f"{place}{self.message} [{self.rule}]"


class StructField(Record):
    """A scalar or fixed array member; `dtype` is NumPy's name, `offset` in bytes, `count` elements."""

    name: str
    dtype: str
    offset: int
    count: int = 1


class StructSpec(Record):
    """A plain struct's layout in C; `size` in bytes."""

    name: str
    spelling: str
    size: int
    fields: tuple[StructField, ...]


class Parameter(Record):
    """One parameter of the ported function, as the launcher receives it.

    `declaration` is the parameter in C++ as the launcher declares it (``const float *x``). For an array, `shape`
    holds its extents as C expressions of the scalar parameters, outermost first, in elements of `dtype`
    (a NumPy name, or the name of a struct in `FunctionSpec.structs`); a scalar has no shape.
    `origin` tells where it comes from: a parameter of the original, a global, or the returned value.
    `usage` of an integer scalar: a *size* shapes some extent, a *count* bounds a loop without shaping any
    extent, a *value* does neither. `low` and `high` bound the values of its test inputs, both inclusive;
    where a bound depends on scalars, `low_expr` and `high_expr` are C expressions of them.
    `fixed` marks a global that keeps the value of its own initializer.
    `access` is, of a part of a parameter that is a struct or points to one, the original's expression of its value
    (``m->rows``), or of its first element's address; `inside` tells of an array that lies in the struct itself.
    `row_levels` are the levels of pointers to rows in the original: 1 for ``float **a``, whose rows then lie one
    after the other, as `shape` says.
    """

    name: str
    declaration: str
    dtype: str
    role: OneOf["in", "out", "inout"]
    shape: tuple[str, ...] = ()
    origin: OneOf["parameter", "global", "result"] = "parameter"
    usage: OneOf["size", "count", "value"] = "value"
    is_pointer: bool = False
    fixed: bool = False
    access: str = ""
    inside: bool = False
    row_levels: int = 0
    low: float | None = None
    high: float | None = None
    low_expr: str | None = None
    high_expr: str | None = None


class Argument(Record):
    """A parameter of the original as it stands there, in C and C++; `struct` is the type that it is or, with
    `by_pointer`, points to, where the launcher takes its parts instead."""

    name: str
    declaration: str
    struct: str = ""
    by_pointer: bool = False


class FunctionSpec(Record):
    """What the port must implement. `parameters` stand in the order of the launcher's contract:
    the original's, globals written, globals read, the result.

    `original_parameters` is the original's parameter list verbatim in C (``int n, const float *x``), `arguments` the
    same one by one, `returns` its return type (``void`` or a scalar). `prelude` is C and C++ text the candidate may
    rely on: struct and enum definitions, verbatim. `assumptions` are facts that the analysis could not prove, in words.
    """

    name: str
    line: int
    returns: str
    original_parameters: str
    parameters: tuple[Parameter, ...]
    arguments: tuple[Argument, ...] = ()
    structs: tuple[StructSpec, ...] = ()
    prelude: str = ""
    static: bool = False
    assumptions: tuple[str, ...] = ()

    @property
    def launcher(self) -> str:
        """The name of the function that a candidate must define."""
        return f"launch_{self.name}"

    @property
    def launcher_prototype(self) -> str:
        """The declaration of the launcher, without its semicolon."""
        parameters = ", ".join(p.declaration for p in self.parameters) or "void"
        return f'extern "C" void {self.launcher}({parameters})'

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.shape)

    @property
    def scalars(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if not p.shape)


class InputConfig(Record):
    """One configuration of test inputs: a value for each integer scalar that is a size or a count, the kind
    of values that fill the arrays, and which of the run's secret seeds they are drawn from."""

    name: str
    tier: OneOf["screen", "accept"]
    sizes: tuple[tuple[str, int], ...]
    fill: OneOf["uniform", "signed", "small-integers", "constant", "wide"]
    seed_index: int


class Task(Record):
    """A function to port, whole: its source, how it is compiled, and what it must do. Policies see a `TaskView`.

    `source` is the file's text as read; `flags` go to the compiler (include paths, defines); `sources` are
    further files of the same program.
    """

    kind: OneOf["c"] = "c"
    path: str
    source: str
    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    function: FunctionSpec
    has_main: bool = False

    @property
    def name(self) -> str:
        return self.function.name


class TaskView(Record):
    """What a policy may see of a task: neither sizes nor seeds of its tests."""

    kind: OneOf["c"] = "c"
    path: str
    source: str
    flags: tuple[str, ...] = ()
    function: FunctionSpec
    arch: str
    gpu: str


class File(Record):
    name: str
    language: OneOf["cuda", "c", "python"]
    text: str


class Candidate(Record):
    """What a policy proposes to run: files, and the name of the entry point among them."""

    files: tuple[File, ...]
    entry: str

    @property
    def source(self) -> str:
        """The CUDA text of a candidate of one file."""
        return next(f.text for f in self.files if f.language == "cuda")


class Usage(Record):
    """What an answer cost; `dollars` is None where the price is unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    dollars: float | None = None


class Proposal(Record):
    """A policy's answer. `strategy` names what it tries and `reason` why, in a sentence for people.

    `candidate` is None where the answer holds no code; `refusal` then may say why there can be none.
    `finished` says that the policy has nothing more to propose, and `reason` why: that ends the run and is no turn.
    """

    text: str
    candidate: Candidate | None
    strategy: str = ""
    reason: str = ""
    refusal: Finding | None = None
    finished: bool = False
    thinking: str = ""
    usage: Usage = Usage()
    token_ids: tuple[int, ...] | None = None
    log_probabilities: tuple[float, ...] | None = None
