"""Small functions to port, and ways to run a candidate for them, shared by the tests of the CPU device."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Case, Checks, Execution
from cudaperf_agent.tools.records import Candidate, File, FunctionSpec, Parameter

EVERYTHING = Checks(bounds=True, races=True, uninitialized=True, trace_blocks=1000)
_DTYPES = {
    "float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "unsigned char": "uint8",
    "long long": "int64",
}  # fmt: skip


def function(parameters: str, name: str = "f") -> FunctionSpec:
    """A function from its parameter list; every pointer is an array of unknown extent."""
    found = []
    for declaration in filter(None, (p.strip() for p in parameters.split(","))):
        match = re.fullmatch(r"(const )?([\w ]+?) ?(\*?) ?(\w+)", declaration)
        assert match, declaration
        const, base, pointer, parameter = match.groups()
        found.append(
            Parameter(
                name=parameter,
                declaration=declaration,
                dtype=_DTYPES[base],
                role="in" if const or not pointer else "inout",
                shape=("n",) if pointer else (),
            )
        )
    return FunctionSpec(
        name=name, line=1, returns="void", original_parameters=parameters, parameters=tuple(found)
    )


def candidate(text: str) -> Candidate:
    return Candidate(files=(File(name="candidate.cu", language="cuda", text=text),), entry="launch_f")


@cache
def built(parameters: str, text: str, checked: bool):
    return CpuDevice().build(function(parameters), candidate(text), checked=checked)


def execute(
    parameters: str, text: str, values: dict, checks: Checks = EVERYTHING, seconds: float = 10.0
) -> Execution:
    """Builds a candidate and runs it on one case; `values` are arrays and scalars by name."""
    checked = bool(checks.bounds or checks.races or checks.uninitialized or checks.trace_blocks)
    build = built(parameters, text, checked)
    assert build.result.ok, build.result.diagnostics
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    scalars = {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}
    return CpuDevice().run(build, [Case("case", arrays, scalars, seconds)], checks)[0]


def refused(parameters: str, text: str) -> list[str]:
    """The diagnostics of a candidate that must not build."""
    build = built(parameters, text, False)
    assert not build.result.ok
    return [str(d) for d in build.result.diagnostics]
