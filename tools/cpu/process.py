"""One harness process: it takes cases one after the other, and sends back events on a channel of its own."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import sandbox
from ..device import Case, Checks
from ..records import FunctionSpec
from .build import Libraries
from .host import runtime

DEVICE_BEGIN = 0x20_0000_0000  # device_begin of runtime/abi.h
STATUS_BYTES = 4096  # the first page of the buffers' file: which kernel runs
GUARD_BYTES = 4096
GUARD_BYTE = 0xCB
ALIGNMENT = 256
DEVICE_MEMORY = 4 << 30
SHARED_BYTES = 4 << 30  # shared_end - shared_begin of runtime/abi.h
_ORDERS = {"forward": 0, "reverse": 1, "shuffled": 2}

Event = dict[str, Any]


@dataclass
class Outcome:
    """The events of one case, and the buffers as it left them."""

    events: list[Event] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    damaged: tuple[str, ...] = ()
    timed_out: bool = False
    running_kernel: int = -1
    seconds: float = 0.0


class Harness:
    """A running harness for one build. After a case that failed the process is gone: start another."""

    def __init__(
        self,
        libraries: Libraries,
        *,
        buffer_bytes: int = 0,
        cpu_seconds: float,
        program: Sequence[str] = (),
        checks: Checks | None = None,
        standard: tuple[Any, Any, Any] = (subprocess.PIPE, subprocess.DEVNULL, subprocess.DEVNULL),
        folder: Path | None = None,
        readable: Sequence[Path] = (),
        writable: Sequence[Path] = (),
    ) -> None:
        self._results, results = os.pipe()
        self._buffers = _memory_file(buffer_bytes)
        self._memory = mmap.mmap(self._buffers, buffer_bytes) if buffer_bytes else None
        self._pending = b""
        base = runtime().folder
        descriptors = [str(results), str(self._buffers), str(buffer_bytes)]
        parts = [libraries.folder / "device.so", libraries.folder / "host.so"]
        # Sparse: what a program shares between host and device takes its pages as they are touched.
        shared = _memory_file(SHARED_BYTES) if program else -1
        watched = [_flags(checks), str(shared)] if checks else []
        self.process = sandbox.start(
            [base / "harness", *descriptors, *parts, *watched, *program],
            cwd=folder or libraries.folder,
            seconds=cpu_seconds,
            readable=(base, libraries.folder, *readable),
            writable=writable,
            memory_bytes=_program_memory() if program else DEVICE_MEMORY,
            descriptors=(results, self._buffers, *((shared,) if program else ())),
            stdin=standard[0],
            stdout=standard[1],
            stderr=standard[2],
        )
        os.close(results)
        if program:
            os.close(shared)

    def close(self) -> None:
        sandbox.kill(self.process)
        if self.process.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        os.close(self._results)
        os.close(self._buffers)

    def run(self, function: FunctionSpec, case: Case, checks: Checks, shift: int) -> Outcome:
        """Runs one case. `shift` moves its buffers, so that no two cases see the same addresses."""
        assert self._memory is not None and self.process.stdin is not None
        memory = np.frombuffer(self._memory, np.uint8)
        offsets, end = layout(case, shift)
        memory[STATUS_BYTES : offsets[0][1] if offsets else 0] = GUARD_BYTE
        for (name, offset), (_, following) in zip(offsets, [*offsets[1:], ("", end)], strict=True):
            data = np.ascontiguousarray(case.arrays[name])
            memory[offset : offset + data.nbytes] = data.reshape(-1).view(np.uint8)
            memory[offset + data.nbytes : following] = GUARD_BYTE
        begin = time.monotonic()
        outcome = Outcome()
        try:
            self.process.stdin.write(_job(function, case, checks, dict(offsets)).encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return outcome
        for event in self.events(begin + case.seconds):
            if event is None:
                outcome.timed_out = True
                outcome.running_kernel = self.running_kernel()
                sandbox.kill(self.process)
                break
            outcome.events.append(event)
            if event["event"] in ("end", "failure"):
                break
        outcome.seconds = time.monotonic() - begin
        position, damaged = STATUS_BYTES, []
        for name, offset in [*offsets, ("", end)]:
            if not (memory[position:offset] == GUARD_BYTE).all():
                damaged += [n for n in (_before(offsets, offset), name) if n]
            position = offset + (case.arrays[name].nbytes if name else 0)
        for name, offset in offsets:
            original = case.arrays[name]
            raw = memory[offset : offset + original.nbytes].copy()
            outcome.arrays[name] = raw.view(original.dtype).reshape(original.shape)
        outcome.damaged = tuple(dict.fromkeys(damaged))
        return outcome

    def running_kernel(self) -> int:
        """The kernel that runs at this moment, by its place in the table; -1 for none."""
        return int(np.frombuffer(self._memory, np.int32, 1)[0]) if self._memory is not None else -1

    def events(self, deadline: float) -> Iterator[Event | None]:
        """Events until the harness ends; None when the deadline has passed."""
        while True:
            while b"\n" in self._pending:
                line, self._pending = self._pending.split(b"\n", 1)
                yield json.loads(line)
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._results], [], [], left)[0]:
                yield None
                return
            chunk = os.read(self._results, 1 << 16)
            if not chunk:
                return
            self._pending += chunk


def layout(case: Case, shift: int) -> tuple[list[tuple[str, int]], int]:
    """Each array's offset, and the end of the last guard band."""
    offsets, position = [], STATUS_BYTES + GUARD_BYTES + shift * ALIGNMENT
    for name, array in case.arrays.items():
        offsets.append((name, position))
        position += -(-(array.nbytes + GUARD_BYTES) // ALIGNMENT) * ALIGNMENT
    return offsets, position


def _before(offsets: list[tuple[str, int]], offset: int) -> str:
    return next((name for name, begin in reversed(offsets) if begin < offset), "")


def _program_memory() -> int:
    """What each process of a whole program may take: half of the machine's, for it is the user's own."""
    return max(DEVICE_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


def _memory_file(size: int) -> int:
    """A file that exists in memory only, where the system can do so."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("cudaperf-buffers")
    else:
        descriptor, path = tempfile.mkstemp()
        os.unlink(path)
    os.ftruncate(descriptor, size)
    return descriptor


def _job(function: FunctionSpec, case: Case, checks: Checks, offsets: dict[str, int]) -> str:
    """The case as runtime/harness.cpp reads it."""
    buffers = [
        f"{DEVICE_BEGIN + offset} {case.arrays[name].nbytes} {name}"
        for name, offset in offsets.items()
        if case.arrays[name].nbytes
    ]
    arguments = []
    for parameter in function.parameters:
        if parameter.name in offsets:
            raw = (DEVICE_BEGIN + offsets[parameter.name]).to_bytes(8, "little")
        else:
            raw = np.array(case.scalars[parameter.name]).astype(parameter.dtype).tobytes()
        words = np.frombuffer(raw.ljust(16, b"\0"), "<u8")
        arguments.append(" ".join(f"{w:x}" for w in words))
    head = f"case {_flags(checks)} {len(buffers)} {len(arguments)}"
    return "\n".join([head, *buffers, *arguments, ""])


def _flags(checks: Checks) -> str:
    """The checks as runtime/harness.cpp reads them."""
    on = (checks.bounds, checks.races, checks.uninitialized, checks.barriers)
    return " ".join(map(str, (_ORDERS[checks.order], *map(int, on), checks.trace_blocks)))
