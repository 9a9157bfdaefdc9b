"""Input configurations and the cases made from them: tiny, odd, off by one of a block, and large.

A case is a pure function of (task, configuration, seed): a run records its secret seed outside the sandbox and can
repeat every case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .c.expression import evaluate
from .device import Case
from .records import FunctionSpec, InputConfig, Parameter, StructSpec

# Sizes for up to three dimensions; a fourth starts over. Warps hold 32 threads and blocks mostly 32 to 256.
SCREEN_ROWS = ((37, 17, 9), (64, 64, 16))
ACCEPT_ROWS = ((1, 1, 1), (2, 3, 5), (3, 2, 2), (31, 63, 15), (32, 32, 32), (33, 65, 17), (129, 127, 7))
LONG_ROWS = ((255, 255, 255), (1000, 1000, 1000), (4099, 4099, 4099))
COUNTS = (1, 2, 5, 3, 9)
ACCEPT_FILLS = ("uniform", "signed", "small-integers", "wide")
DEFAULT_COUNT = 9
SMALL_CASE_BYTES = 1 << 20


def configurations(function: FunctionSpec) -> tuple[InputConfig, ...]:
    """The small configurations of both tiers; the large one depends on the original's speed: see `largest`."""
    sizes = [p.name for p in function.scalars if p.usage == "size"]
    rows = ACCEPT_ROWS + (LONG_ROWS if len(sizes) == 1 else ())
    made = [
        _configuration(function, "screen", row, COUNTS[i + 1], "uniform", i)
        for i, row in enumerate(SCREEN_ROWS)
    ]
    for i, row in enumerate(rows):
        fill = ACCEPT_FILLS[i % len(ACCEPT_FILLS)]
        made.append(_configuration(function, "accept", row, COUNTS[i % len(COUNTS)], fill, len(made)))
    if sizes:
        made.append(_configuration(function, "accept", (0, 0, 0), 1, "uniform", len(made)))
    distinct = {(c.tier, c.sizes, c.fill): c for c in reversed(made)}
    made = [c for c in made if c in distinct.values()]
    return tuple(c for c in made if case_bytes(function, dict(c.sizes)) <= SMALL_CASE_BYTES)


def largest(
    function: FunctionSpec,
    seconds_of: Callable[[InputConfig], float | None],
    seconds: float,
    limit_bytes: int,
) -> InputConfig | None:
    """The largest configuration that the original finishes within `seconds` and that fits into `limit_bytes`.

    `seconds_of` runs the original (None: it failed). None where the function has no size to grow.
    """
    if not any(p.usage == "size" for p in function.scalars):
        return None
    found: InputConfig | None = None
    row: tuple[int, ...] = (129, 127, 65)
    while True:
        config = _configuration(function, "accept", row, DEFAULT_COUNT, "uniform", 1000)
        sizes = dict(config.sizes)
        bounded = found is not None and config.sizes == found.sizes
        if bounded or not _are_held(function, sizes) or case_bytes(function, sizes) > limit_bytes:
            return found
        taken = seconds_of(config)
        if taken is None or taken > seconds:
            return found
        found = config
        row = tuple(_grown(n) for n in row)


def _are_held(function: FunctionSpec, sizes: dict[str, int]) -> bool:
    """Whether every size fits into its parameter."""
    return all(
        sizes[p.name] <= np.iinfo(p.dtype).max
        for p in function.scalars
        if p.name in sizes and np.dtype(p.dtype).kind in "iu"
    )


def case_bytes(function: FunctionSpec, sizes: dict[str, int]) -> int:
    """Bytes of all buffers of a case with these sizes."""
    return sum(
        int(np.prod(shape_of(p, sizes), dtype=np.int64)) * dtype_of(p, function.structs).itemsize
        for p in function.arrays
    )


def shape_of(parameter: Parameter, scalars: dict[str, int]) -> tuple[int, ...]:
    """The extents of an array for given scalars; one that is negative, or divides by zero, counts as zero."""

    def length(extent: str) -> int:
        try:
            return max(evaluate(extent, scalars), 0)
        except ZeroDivisionError:
            return 0

    return tuple(map(length, parameter.shape))


def dtype_of(parameter: Parameter, structs: Iterable[StructSpec]) -> np.dtype:
    """NumPy's type of a parameter's elements, with C's layout for structs."""
    for struct in structs:
        if struct.name == parameter.dtype:
            return np.dtype(
                {
                    "names": [f.name for f in struct.fields],
                    "formats": [(f.dtype, (f.count,)) if f.count > 1 else f.dtype for f in struct.fields],
                    "offsets": [f.offset for f in struct.fields],
                    "itemsize": struct.size,
                }
            )
    return np.dtype(parameter.dtype)


def case(
    function: FunctionSpec,
    config: InputConfig,
    seed: int,
    fixed: dict[str, np.ndarray],
    seconds: float = 10.0,
) -> Case:
    """The case of a configuration under a secret seed.

    Outputs hold poison: NaN for floats, random bits otherwise, so that an element left unwritten shows.
    `fixed` gives arrays whose values the original's own initializers define.
    """
    scalars: dict[str, int | float] = dict(config.sizes)
    for index, parameter in enumerate(p for p in function.scalars if p.name not in scalars):
        rng = np.random.default_rng([seed, config.seed_index, 1, index])
        if parameter.name in fixed:
            scalars[parameter.name] = fixed[parameter.name].item()
        else:
            scalars[parameter.name] = _scalar(parameter, config.fill, rng)
    arrays = {}
    sizes = {k: v for k, v in scalars.items() if isinstance(v, int)}
    for index, declared in enumerate(function.arrays):
        parameter = _within(declared, sizes)
        rng = np.random.default_rng([seed, config.seed_index, 2, index])
        dtype = dtype_of(parameter, function.structs)
        shape = shape_of(parameter, sizes)
        if parameter.name in fixed:
            arrays[parameter.name] = fixed[parameter.name].reshape(shape).copy()
        elif parameter.role == "out":
            arrays[parameter.name] = poison(dtype, shape, rng)
        else:
            arrays[parameter.name] = _filled(dtype, shape, config.fill, rng, parameter)
    return Case(config.name, arrays, scalars, seconds)


def poison(dtype: np.dtype, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random bits; for floats, quiet NaN with random payload, never the one that arithmetic makes."""
    array = np.empty(shape, dtype)
    if dtype.names:
        for name in dtype.names:
            array[name] = poison(array[name].dtype, array[name].shape, rng)
    elif dtype.kind == "f":
        unsigned = np.dtype(f"u{dtype.itemsize}")
        quiet = np.array(np.nan, dtype).view(unsigned)
        payload = rng.integers(1, 1 << (16 if dtype.itemsize > 2 else 8), size=shape, dtype=np.uint32)
        array.view(unsigned)[...] = quiet | payload.astype(unsigned)
    elif dtype.kind == "b":
        array[...] = rng.integers(0, 2, size=shape)
    else:
        array[...] = np.frombuffer(rng.bytes(array.nbytes), dtype).reshape(shape)
    return array


def _configuration(function, tier, row, count, fill, index) -> InputConfig:
    sizes = {}
    dimension = 0
    for p in function.scalars:
        if p.usage == "size":
            value = row[dimension % len(row)]
            dimension += 1
        elif p.usage == "count":
            value = count
        else:
            continue
        limits = np.iinfo(p.dtype if p.dtype != "bool" else "uint8")
        low = limits.min if p.low is None else int(p.low)
        high = limits.max if p.high is None else int(p.high)
        sizes[p.name] = min(max(value, low), high)
    name = ", ".join(f"{k}={v}" for k, v in sizes.items()) or "fixed sizes"
    return InputConfig(
        name=f"{name} ({fill}, {index})", tier=tier, sizes=tuple(sizes.items()), fill=fill, seed_index=index
    )


def _within(parameter: Parameter, sizes: dict[str, int]) -> Parameter:
    """The parameter with the range of its values in numbers, where it depends on sizes."""
    low, high = parameter.low, parameter.high
    if parameter.low_expr is not None:
        low = float(evaluate(parameter.low_expr, sizes))
    if parameter.high_expr is not None:
        high = max(float(evaluate(parameter.high_expr, sizes)), low or 0.0)
    return parameter.model_copy(update={"low": low, "high": high})


def _grown(n: int) -> int:
    """About 1.6 times as large, and odd, so that no block or vector width divides it."""
    return int(n * 1.6) | 1


def _scalar(parameter: Parameter, fill: str, rng: np.random.Generator) -> int | float:
    dtype = np.dtype(parameter.dtype)
    low, high = parameter.low, parameter.high
    if dtype.kind == "f":
        value = rng.uniform(0.1 if low is None else low, 1.0 if high is None else high)
        return float(-value if fill == "signed" and low is None and high is None else value)
    return int(rng.integers(1 if low is None else int(low), 16 if high is None else int(high), endpoint=True))


def _filled(
    dtype: np.dtype, shape: tuple[int, ...], fill: str, rng: np.random.Generator, parameter: Parameter
) -> np.ndarray:
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = _filled(array[name].dtype, array[name].shape, fill, rng, parameter)
        return array
    low: float | None = parameter.low
    high: float | None = parameter.high
    if dtype.kind == "b":
        return rng.integers(0, 2, size=shape).astype(dtype)
    if dtype.kind in "iu":
        if low is None and high is None:
            low, high = (0, 255) if dtype.kind == "u" else (-100, 100)
            if fill == "small-integers":
                low, high = 0, 7
        first = int(low if low is not None else 0)
        last = int(high if high is not None else first + 100)
        return rng.integers(first, last, endpoint=True, size=shape).astype(dtype)
    if low is not None or high is not None:
        bottom = low if low is not None else (high or 0.0) - 1.0
        return rng.uniform(bottom, high if high is not None else bottom + 1.0, size=shape).astype(dtype)
    if fill == "signed":
        return rng.standard_normal(shape).astype(dtype)
    if fill == "small-integers":
        return rng.integers(1, 7, endpoint=True, size=shape).astype(dtype)
    if fill == "wide":
        return (10.0 ** rng.uniform(-3, 3, size=shape) * rng.choice((-1.0, 1.0), size=shape)).astype(dtype)
    return rng.uniform(0.1, 1.1, size=shape).astype(dtype)
