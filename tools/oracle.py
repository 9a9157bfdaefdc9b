"""Runs the original and its variants, each in a process of its own: what a port must compute, and how exactly.

The variants tell how much two honest compilations of the same source may differ: contracted to fused
multiply-adds, summed in another order, computed in higher precision, and run on inputs moved by one ulp.
"""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from . import sandbox
from .c.build import CompileError, build_program
from .c.precision import in_higher_precision
from .call import WideTypes, call_unit
from .device import Case
from .inputs import dtype_of
from .records import FunctionSpec, Parameter, Task

HARNESS = Path(__file__).parent / "harness" / "oracle.c"
# AddressSanitizer reserves terabytes of addresses without using them.
ADDRESS_SPACE = 1 << 46
BASE = "base"
CHECKED = "checked"
WIDE = "higher precision"
PERTURBED = "inputs moved by one ulp"
VARIANTS = {
    BASE: ("-O2", "-ffp-contract=off"),
    "fused multiply-add": ("-O2", "-march=native", "-ffp-contract=fast"),
    "reordered": ("-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
    CHECKED: ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
}


class OracleError(Exception):
    """The original cannot serve as an oracle: it does not compile alone, or fails on every configuration."""


@dataclass(frozen=True)
class Expectation:
    """What the original leaves in its buffers for one case.

    `expected` is the plain build's result; `reference` that of the highest precision at hand, in the
    buffers' own types; `variants` the results of every build by name, the plain one included.
    """

    case: Case
    expected: dict[str, np.ndarray]
    reference: dict[str, np.ndarray]
    variants: dict[str, dict[str, np.ndarray]]


@dataclass(frozen=True)
class Dropped:
    """A case that proves nothing, and why: the original traps, leaves its buffers, or makes NaN of finite inputs."""

    case: Case
    reason: str


class Oracle:
    """The original, built in all its variants; building takes about a second, and is cached."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.notes: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="cudaperf-oracle-")
        wide = in_higher_precision(task)
        sources: dict[str, tuple[str, tuple[str, ...], WideTypes]] = {
            name: (task.source, flags, {}) for name, flags in VARIANTS.items()
        }
        if wide is not None:
            sources[WIDE] = (wide.source, VARIANTS[BASE], wide.dtypes)
        else:
            self.notes.append(
                "no higher precision: the source punning its types leaves one-ulp inputs as the measure"
            )
        self._wide_dtypes = wide.dtypes if wide is not None else {}
        self._programs: dict[str, Path] = {}
        with ThreadPoolExecutor() as pool:
            builds = {name: pool.submit(self._build, *arguments) for name, arguments in sources.items()}
            for name, build in builds.items():
                try:
                    self._programs[name] = build.result()
                except CompileError as error:
                    if name == BASE:
                        raise OracleError(f"{task.path}: the original does not compile: {error}") from error
                    self.notes.append(f"no variant '{name}': {error}")

    def fixed_values(self) -> dict[str, np.ndarray]:
        """The values of globals that the original itself initializes, by name."""
        fixed = [p for p in self.task.function.parameters if p.fixed]
        if not fixed:
            return {}
        arrays = {p.name: np.zeros(_fixed_shape(p), dtype_of(p, self.task.function.structs)) for p in fixed}
        empty = Case("initial values", arrays, {}, 10.0)
        program = self._build(self.task.source, VARIANTS[BASE], {}, dump=True)
        return self._run(program, empty, [p.name for p in fixed])

    def expect(self, case: Case) -> Expectation | Dropped:
        """Run every variant on a case."""
        names = [p.name for p in self.task.function.parameters]
        if CHECKED in self._programs:
            try:
                self._run(self._programs[CHECKED], case, names)
            except OracleError as error:
                return Dropped(case, str(error))
        try:
            variants = {
                name: self._run(program, case, names)
                for name, program in self._programs.items()
                if name not in (CHECKED, WIDE)
            }
            variants[PERTURBED] = self._run(self._programs[BASE], _perturbed(case, self.task.function), names)
            if WIDE in self._programs:
                variants[WIDE] = self._run_wide(case, names)
        except OracleError as error:
            return Dropped(case, str(error))
        expected = variants[BASE]
        for name, array in expected.items():
            if not _finite(array, case.arrays.get(name)):
                return Dropped(case, f"the original makes NaN or infinity in {name} of finite inputs")
        return Expectation(case, expected, variants.get(WIDE, expected), variants)

    def seconds(self, case: Case, repeats: int = 1) -> float:
        """Seconds of one call of the plain build, the mean of `repeats`. Raises OracleError where it fails."""
        self._run(self._programs[BASE], case, [p.name for p in self.task.function.parameters], repeats)
        return self._last_seconds / repeats

    def _build(self, source: str, flags: tuple[str, ...], wide: WideTypes, dump: bool = False) -> Path:
        unit = call_unit(self.task, source, wide, dump)
        folder = Path(self.task.path).resolve().parent
        return build_program(
            [("call.c", unit), ("oracle.c", HARNESS.read_text())],
            [*flags, "-w", "-ffunction-sections", f"-iquote{folder}", *compile_flags(self.task)],
            [Path(s) for s in self.task.sources],
            ["-lm", *link_flags(self.task), REACHED],
        )

    def _run(self, program: Path, case: Case, names: list[str], repeats: int = 1) -> dict[str, np.ndarray]:
        path = Path(self._folder.name) / "case"
        write_case(path, self.task, case, names)
        done = sandbox.run(
            [str(program), str(path), str(repeats)],
            readable=[program.parent],
            writable=[path.parent],
            cwd=path.parent,
            seconds=case.seconds * repeats,
            environment={"ASAN_OPTIONS": "detect_leaks=0"},
            memory_bytes=ADDRESS_SPACE,
        )
        if done.timed_out:
            raise OracleError(f"the original takes more than {case.seconds:g} s")
        if done.returncode != 0:
            raise OracleError(_why(done, self.task))
        self._last_seconds, results = read_case(path, self.task, case, names)
        kept = {p.name for p in self.task.function.parameters if p.role != "in" or p.fixed}
        return {name: array for name, array in results.items() if name in kept & case.arrays.keys()}

    def _run_wide(self, case: Case, names: list[str]) -> dict[str, np.ndarray]:
        """Run in higher precision; results come back rounded to the buffers' own types, poison kept."""
        widened = {}
        for name, array in case.arrays.items():
            parameter = next(p for p in self.task.function.parameters if p.name == name)
            widened[name] = array.astype(self._wide_dtypes.get(parameter.name, array.dtype))
        results = self._run(self._programs[WIDE], replace(case, arrays=widened), names)
        rounded = {}
        with np.errstate(over="ignore"):
            for name, array in results.items():
                own = array.astype(case.arrays[name].dtype)
                untouched = _same_bits(array, widened[name])
                own[untouched] = case.arrays[name][untouched]
                rounded[name] = own
        return rounded


def write_case(path: Path, task: Task, case: Case, names: list[str]) -> None:
    """Write a case as `harness/oracle.c` reads it: a header of 64-bit words, then each argument's bytes."""
    arguments = _arguments(task, case, names)
    header = np.array([len(arguments), 0, *[0, 0] * len(arguments)], np.int64)
    offset = _aligned(header.nbytes)
    for i, array in enumerate(arguments):
        header[2 + 2 * i : 4 + 2 * i] = offset, array.nbytes
        offset += _aligned(array.nbytes)
    with path.open("wb") as file:
        file.write(header.tobytes())
        for i, array in enumerate(arguments):
            file.seek(int(header[2 + 2 * i]))
            file.write(array.tobytes())
        file.truncate(offset)


def read_case(path: Path, task: Task, case: Case, names: list[str]) -> tuple[float, dict[str, np.ndarray]]:
    """What the harness left in the file: the seconds of its calls summed up, and every argument."""
    raw = path.read_bytes()
    results = {}
    for i, (name, array) in enumerate(zip(names, _arguments(task, case, names), strict=True)):
        start = int(np.frombuffer(raw, np.int64, 1, 16 + 16 * i)[0])
        results[name] = np.frombuffer(raw, array.dtype, array.size, start).reshape(array.shape).copy()
    return float(np.frombuffer(raw, np.int64, 1, 8)[0]) * 1e-9, results


def _aligned(size: int) -> int:
    return -(-size // 64) * 64


def _arguments(task: Task, case: Case, names: list[str]) -> list[np.ndarray]:
    return [_argument(case, p, task) for p in task.function.parameters if p.name in names]


def _argument(case: Case, parameter: Parameter, task: Task) -> np.ndarray:
    if parameter.name in case.arrays:
        return np.ascontiguousarray(case.arrays[parameter.name])
    return np.array(case.scalars[parameter.name], dtype_of(parameter, task.function.structs))


def _fixed_shape(parameter: Parameter) -> tuple[int, ...]:
    return tuple(int(extent) for extent in parameter.shape)


REACHED = "-Wl,--gc-sections"
"""Leaves out functions that nothing calls, and with them what they would need of other files."""


def compile_flags(task: Task) -> list[str]:
    return [f for f in task.flags if not f.startswith(("-l", "-L", "-O", "-o", "-Wl"))]


def link_flags(task: Task) -> list[str]:
    return [f for f in task.flags if f.startswith(("-l", "-L", "-Wl", "-fopenmp", "-pthread"))]


def _perturbed(case: Case, function: FunctionSpec) -> Case:
    """Every finite floating input moved by one unit in the last place, up or down by a fixed pattern."""
    rng = np.random.default_rng(0)

    def moved(array: np.ndarray) -> np.ndarray:
        if names := array.dtype.names:
            array = array.copy()
            for name in names:
                array[name] = moved(array[name])
            return array
        if array.dtype.kind != "f":
            return array
        target = np.where(rng.integers(0, 2, size=array.shape), np.inf, -np.inf).astype(array.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.nextafter(array, target)
        return np.where(np.isfinite(array) & (array != 0), near, array)

    scalars = {
        p.name: moved(np.array(case.scalars[p.name], p.dtype)).item()
        for p in function.scalars
        if p.name in case.scalars
    }
    arrays = {name: moved(array) for name, array in case.arrays.items()}
    return replace(case, arrays=arrays, scalars=case.scalars | scalars)


def _same_bits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elementwise equality of representations."""
    if a.dtype.names:
        same = np.ones(a.shape, bool)
        for name in a.dtype.names:
            field = _same_bits(a[name], b[name])
            same &= field.reshape(*a.shape, -1).all(axis=-1) if field.shape != a.shape else field
        return same
    if a.dtype.kind == "f":
        return (a == b) | (np.isnan(a) & np.isnan(b))
    return a == b


def _finite(result: np.ndarray, before: np.ndarray | None) -> bool:
    if result.dtype.names:
        return all(_finite(result[n], None if before is None else before[n]) for n in result.dtype.names)
    if result.dtype.kind != "f":
        return True
    bad = ~np.isfinite(result)
    if before is not None and before.shape == result.shape:
        bad &= ~_same_bits(result, before)
    return not bad.any()


def _why(done: sandbox.Completed, task: Task) -> str:
    text = done.stderr.decode(errors="replace")
    found = re.search(r"runtime error: ([^\n]*)", text) or re.search(r"AddressSanitizer: ([\w-]+)", text)
    if found is None:
        return f"the original ends with {'signal ' + str(done.signal) if done.signal else f'status {done.returncode}'}"
    name = re.escape(Path(task.path).name)
    place = re.search(rf"{name}:(\d+)", text)
    return f"the original at {Path(task.path).name}:{place[1] if place else '?'}: {found[1]}"
