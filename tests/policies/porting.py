"""Ports C functions with the built-in policy and runs port and original side by side, on the CPU device."""

from __future__ import annotations

import ctypes
import dataclasses
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from cudaperf_agent.policies.base import Request
from cudaperf_agent.policies.builtin.callgraph import globals_of
from cudaperf_agent.policies.builtin.candidate import assemble
from cudaperf_agent.policies.builtin.plan import plan
from cudaperf_agent.policies.builtin.policy import BuiltinPolicy
from cudaperf_agent.policies.builtin.refusals import Refused
from cudaperf_agent.policies.builtin.strategies import STRATEGIES, written_with
from cudaperf_agent.policies.builtin.tree import RESERVED
from cudaperf_agent.tools.c import ast
from cudaperf_agent.tools.c.load import load
from cudaperf_agent.tools.c.parse import SourceError, parse
from cudaperf_agent.tools.c.plain import plain
from cudaperf_agent.tools.certify import drop_in_called
from cudaperf_agent.tools.correctness import verify
from cudaperf_agent.tools.cpu.device import CpuDevice
from cudaperf_agent.tools.device import Case, Checks
from cudaperf_agent.tools.dropin import files
from cudaperf_agent.tools.inputs import case, configurations
from cudaperf_agent.tools.oracle import Expectation, Oracle
from cudaperf_agent.tools.records import Candidate, File, FunctionSpec, Parameter, TaskView

SEED, SMALL_CASES = 5, 5
CHECKED = Checks(bounds=True, races=True, order="shuffled")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "c").glob("*.c"))
_DTYPES = {
    "float": "float32", "double": "float64", "bool": "bool", "char": "int8", "signed char": "int8",
    "unsigned char": "uint8", "short": "int16", "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32",
    "long": "int64", "unsigned long": "uint64", "long long": "int64", "unsigned long long": "uint64",
}  # fmt: skip


def unit_of(source: str) -> ast.Unit:
    return parse("f.c", source, ())


def entry_of(source: str) -> str:
    """The function of an example that is ported: its last one that is neither static nor the program's."""
    return [name for name, f in unit_of(source).functions.items() if not f.static and name != "main"][-1]


def spec_of(source: str, name: str = "f") -> FunctionSpec:
    """The contract of a function, without the extents that a policy does not ask for."""
    unit = plain(unit_of(source), name).unit
    function = unit.functions[name]
    parameters = [_parameter(p.name, p.type, "parameter") for p in function.parameters]
    parameters += [_parameter(n.name, n.type, "global") for n in globals_of(unit, name).values()]
    if function.result.kind != "void":
        declaration = f"{function.result.spelling} *result"
        dtype = _DTYPES[function.result.spelling]
        parameters.append(
            Parameter(
                name="result", declaration=declaration, dtype=dtype, role="out", shape=("1",), origin="result"
            )
        )
    return FunctionSpec(
        name=name,
        line=function.place.line,
        returns=function.result.spelling,
        original_parameters="",
        parameters=tuple(parameters),
    )


def _parameter(name: str, type: ast.CType, origin) -> Parameter:
    """A parameter of the launcher; arrays of any shape come as pointers to their elements."""
    element = type
    while element.element is not None:
        element = element.element
    pointer = element is not type
    if pointer and origin == "global":
        element = dataclasses.replace(element, const=True)
    declared = (
        ast.CType("pointer", "", 8, element=element) if pointer else dataclasses.replace(type, const=False)
    )
    launched = f"{name}_" if name in RESERVED else name
    return Parameter(
        name=launched,
        declaration=ast.declare(declared, launched),
        dtype=_DTYPES.get(element.spelling, element.spelling),
        role="in" if element.const or not pointer else "inout",
        shape=("n",) if pointer else (),
        origin=origin,
    )


def refusal(source: str, name: str = "f") -> str:
    """The rule by which the function is refused, and the message."""
    try:
        plan(unit_of(source), spec_of(source, name))
    except Refused as refused:
        return f"{refused.finding.rule}: {refused.finding.message}"
    raise AssertionError("the function is not refused")


def ports(source: str, name: str = "f") -> dict[str, Candidate]:
    """A candidate by each strategy that applies."""
    spec = spec_of(source, name)
    made = plan(unit_of(source), spec)
    return {
        s.name: Candidate(
            files=(File(name=f"{name}.cu", language="cuda", text=assemble(spec, made, written_with(s))),),
            entry=spec.launcher,
        )
        for s in STRATEGIES
        if any(s.applies(nest) for nest in made.nests.values())
    }


def translated(source: str, folder: Path, name: str = "f") -> str:
    """What becomes of a function between the file and the delivered drop-in: ``right``, or why not, in words.

    The port is tested as the product tests it, but on few small cases; then the drop-in is called with the original's
    signature.
    """
    path = folder / "f.c"
    path.write_text(source)
    try:
        task = load(path, name)
    except SourceError as error:
        return str(error)
    view = TaskView(path=task.path, source=source, function=task.function, arch="sm_90", gpu="H200")
    proposal = BuiltinPolicy().propose(Request(view))
    if proposal.candidate is None:
        return proposal.text
    oracle, device, function = Oracle(task), CpuDevice(), task.function
    fixed = oracle.fixed_values()
    cases = [case(function, config, SEED, fixed) for config in configurations(function)[:SMALL_CASES]]
    expected = [e for e in map(oracle.expect, cases) if isinstance(e, Expectation)]
    assert expected, "the original runs on some case"
    build = device.build(function, proposal.candidate, checked=True)
    assert build.result.ok, (build.result.diagnostics, proposal.text)
    report = verify(device, build, function, expected, CHECKED, "accept")
    if not report.right:
        return f"{report.verdict}: {report.message}\n{proposal.text}"
    delivered = files(task, proposal.candidate, "sm_90")
    check = drop_in_called(device, task, delivered, expected)
    return "right" if check.result == "passed" else f"drop-in: {check.message}\n{delivered[f'{name}.cu']}"


def kernels(source: str, name: str = "f", strategy: str = "naive") -> str:
    return ports(source, name)[strategy].source


@cache
def _original(source: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.c"
        path.write_text(source)
        library = Path(folder) / "f.so"
        subprocess.run(
            ["gcc", "-O1", "-fPIC", "-shared", "-ffp-contract=off", path, "-o", library, "-lm"], check=True
        )
        return ctypes.CDLL(str(library))


def original(source: str, values: dict, name: str = "f") -> dict[str, np.ndarray]:
    """The arrays after a call of the original, and ``result`` where it returns something."""
    spec = spec_of(source, name)
    arrays = {k: v.copy() for k, v in values.items() if isinstance(v, np.ndarray)}
    function = getattr(_original(source), name)
    arguments = []
    for p in spec.parameters:
        if p.origin != "parameter":
            continue
        if p.shape:
            arguments.append(arrays[p.name].ctypes.data_as(ctypes.c_void_p))
        else:
            arguments.append(np.ctypeslib.as_ctypes_type(np.dtype(p.dtype))(values[p.name]))
    result = next((p for p in spec.parameters if p.origin == "result"), None)
    function.restype = None if result is None else np.ctypeslib.as_ctypes_type(np.dtype(result.dtype))
    returned = function(*arguments)
    if result is not None:
        arrays["result"] = np.array([returned], result.dtype)
    return arrays


def compare(
    source: str,
    values: dict,
    name: str = "f",
    strategies: tuple[str, ...] | None = None,
    tolerance: float = 0.0,
) -> None:
    """Asserts that every port does what the original does, without a race or an access out of bounds.

    `values` are arrays and scalars by name. `tolerance` is relative to the largest value of an array.
    """
    expected = original(source, values, name)
    spec = spec_of(source, name)
    arrays = {k: v for k, v in values.items() if isinstance(v, np.ndarray)}
    if "result" in expected:
        arrays["result"] = np.zeros(1, expected["result"].dtype)
    scalars = {k: v for k, v in values.items() if not isinstance(v, np.ndarray)}
    device = CpuDevice()
    for strategy, candidate in ports(source, name).items():
        if strategies is not None and strategy not in strategies:
            continue
        build = device.build(spec, candidate, checked=True)
        assert build.result.ok, (strategy, build.result.diagnostics, candidate.source)
        case = Case("case", {k: v.copy() for k, v in arrays.items()}, scalars)
        (execution,) = device.run(build, [case], CHECKED)
        assert execution.failure is None, (strategy, execution.failure, execution.findings, candidate.source)
        for key, wanted in expected.items():
            got = execution.arrays[key]
            if tolerance and wanted.dtype.kind == "f":
                scale = float(np.max(np.abs(wanted), initial=0.0))
                np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * scale, err_msg=strategy)
            else:
                np.testing.assert_array_equal(got, wanted, err_msg=f"{strategy}: {key}\n{candidate.source}")
