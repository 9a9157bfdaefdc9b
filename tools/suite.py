"""The pool of secret cases of one run, with what the original makes of them."""

from __future__ import annotations

from collections.abc import Callable

from .device import Device
from .inputs import SMALL_CASE_BYTES, case, case_bytes, configurations, largest
from .oracle import Dropped, Expectation, Oracle, OracleError
from .records import InputConfig, Task

# Seconds of the original from which on a case of few bytes counts as large.
MUCH_WORK = 1e-3
# Fills to fall back on where a configuration's own makes the original leave its domain.
FALLBACK_FILLS = ("uniform", "small-integers")


class Suite:
    """Cases of the tiers *screen* and *accept* under one secret seed; `large` is part of *accept*, and as large as
    the device it is for can take.

    Making one runs the original on every configuration (a second or two, told to `progress` as done, total, what).
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        device: Device,
        progress: Callable[[int, int, str], None] = lambda done, total, what: None,
    ) -> None:
        self.task = task
        self._device = device
        self.dropped: list[Dropped] = []
        configs = configurations(task.function)
        total = len(configs) + 2
        progress(0, total, "building the original")
        self.oracle = Oracle(task)
        self._fixed = self.oracle.fixed_values()
        self._seed = seed
        made: dict[str, list[Expectation]] = {"screen": [], "accept": []}
        for index, config in enumerate(configs):
            progress(index + 1, total, f"original on {config.name}")
            expectation = self._expect(config)
            if expectation is not None:
                made[config.tier].append(expectation)
        if not made["accept"]:
            reason = self.dropped[0].reason if self.dropped else "no configuration fits"
            raise OracleError(
                f"{task.path}:{task.function.line}: no test input suits {task.name}: {reason}; "
                "say what its inputs are, for example: // cudaperf: x[n] in 0..1"
            )
        self.screen = tuple(made["screen"] or made["accept"][-1:])
        self.accept = tuple(made["accept"])
        progress(total - 1, total, "original on a large case")
        self.large = self._large() or max(self.accept, key=_extent)
        self.original_seconds = self.oracle.seconds(self.large.case, 3)
        progress(total, total, "ready")

    def _expect(self, config: InputConfig) -> Expectation | None:
        """Run the original; where its fill makes no finite result, another fill of the same sizes."""
        for fill in dict.fromkeys((config.fill, *FALLBACK_FILLS)):
            tried = config.model_copy(update={"fill": fill})
            result = self.oracle.expect(case(self.task.function, tried, self._seed, self._fixed))
            if isinstance(result, Expectation):
                return result
            self.dropped.append(result)
        return None

    def _large(self) -> Expectation | None:
        """The largest case that is worth more than the small ones; None where none is."""
        device = self._device
        taken: dict[InputConfig, float] = {}

        def seconds_of(config: InputConfig) -> float | None:
            made = case(self.task.function, config, self._seed, self._fixed)
            try:
                taken[config] = self.oracle.seconds(made)
                if taken[config] > device.large_seconds:
                    # Another program may have had the processor.
                    taken[config] = min(taken[config], self.oracle.seconds(made))
            except OracleError:
                return None
            return taken[config]

        config = largest(self.task.function, seconds_of, device.large_seconds, device.large_bytes)
        if config is None:
            return None
        moves = case_bytes(self.task.function, dict(config.sizes)) > SMALL_CASE_BYTES
        return self._expect(config) if moves or taken[config] > MUCH_WORK else None


def _extent(expectation: Expectation) -> tuple[int, float]:
    """How large a case is: bytes first, and where the arrays are of fixed size, its integers."""
    case = expectation.case
    return sum(a.nbytes for a in case.arrays.values()), sum(
        v for v in case.scalars.values() if isinstance(v, int)
    )
