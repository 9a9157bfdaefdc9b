"""A run on disk: an append-only log of events, of which everything else is derived.

Every event is on disk before the next begins, so a run that is killed at any point resumes with no turn
lost and no completed answer asked for twice.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..tools.correctness import TestReport
from ..tools.device import CompileResult
from ..tools.evidence import Diagnosis, Evidence, Turn
from ..tools.profiling import Profile
from ..tools.records import Proposal, Record, Task, Usage
from ..tools.reward import Reward
from ..tools.structure import Structure

T = TypeVar("T", bound=Record)


class RunError(Exception):
    """A run that cannot be found or read: what is wrong, and what to do."""


class Options(Record):
    """How a run was asked for. `seed` is the root of all secret inputs and never leaves the log."""

    policy: str
    device: str
    gpu: str
    arch: str
    max_turns: int
    max_seconds: float | None = None
    max_cost: float | None = None
    hint: str | None = None
    output: str
    seed: int


class Outcome(Record):
    """How a run ended. `reason` is one sentence; `best` the index of the best turn, None where none is right."""

    status: int
    reason: str
    best: int | None = None


class Event(NamedTuple):
    """One line of the log: `kind` with the record that belongs to it, as plain JSON."""

    kind: str
    turn: int
    seconds: float
    data: dict[str, Any]


class Run:
    """A run's folder: `events.jsonl` and, beside it, LangGraph's checkpoints."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self._events = list(_read(folder / "events.jsonl"))
        if not self._events or self._events[0].kind != "start":
            raise RunError(f"{folder}: not the record of a run")

    @classmethod
    def create(cls, task: Task, options: Options, runs: Path | None = None) -> Run:
        """Start a new run's record, durable from its first event on; in the user's folder of runs, or in `runs`."""
        stamp = time.strftime("%Y%m%d-%H%M%S")
        folder = (runs or runs_folder()) / f"{stamp}-{task.name}-{secrets.token_hex(2)}"
        folder.mkdir(parents=True)
        _write(folder / "events.jsonl", Event("start", 0, time.time(), _start(task, options)))
        return cls(folder)

    @classmethod
    def find(cls, wanted: str) -> Run:
        """The run with that id, or the only one whose id starts or ends with it."""
        folder = runs_folder()
        names = sorted(p.parent.name for p in folder.glob("*/events.jsonl"))
        found = [n for n in names if n == wanted] or [
            n for n in names if n.startswith(wanted) or n.endswith(wanted)
        ]
        if len(found) != 1:
            known = "no such run" if not found else f"ambiguous: {', '.join(found)}"
            raise RunError(f"run {wanted!r}: {known}; list them with: cudaperf-agent runs list")
        return cls(folder / found[0])

    def append(self, kind: str, turn: int, record: Record | dict[str, Any]) -> Event:
        data = record if isinstance(record, dict) else record.model_dump(mode="json")
        event = Event(kind, turn, time.time(), data)
        _write(self.folder / "events.jsonl", event)
        self._events.append(event)
        return event

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    @property
    def task(self) -> Task:
        return Task.model_validate(self._events[0].data["task"])

    @property
    def options(self) -> Options:
        return Options.model_validate(self._events[0].data["options"])

    @property
    def outcome(self) -> Outcome | None:
        return self.get("end", None, Outcome)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns that are complete."""
        return tuple(
            Turn(
                index=e.turn,
                proposal=_needed(self.get("proposal", e.turn, Proposal)),
                evidence=self.evidence(e.turn),
                reward=Reward.model_validate(e.data["reward"]),
                diagnosis=Diagnosis.model_validate(e.data["diagnosis"]),
            )
            for e in self._events
            if e.kind == "reflection"
        )

    @property
    def spent(self) -> Usage:
        """What all answers cost; dollars are None as soon as one answer's price is unknown."""
        usages = [Proposal.model_validate(e.data).usage for e in self._events if e.kind == "proposal"]
        dollars = [u.dollars for u in usages]
        return Usage(
            input_tokens=sum(u.input_tokens for u in usages),
            output_tokens=sum(u.output_tokens for u in usages),
            dollars=None if None in dollars else sum(d for d in dollars if d is not None),
        )

    def evidence(self, turn: int) -> Evidence:
        """What is known so far about a turn's candidate."""
        return Evidence(
            structure=self.get("structure", turn, Structure),
            compile=self.get("compile", turn, CompileResult),
            test=self.get("test", turn, TestReport),
            profile=self.get("profile", turn, Profile),
        )

    def get(self, kind: str, turn: int | None, record: type[T]) -> T | None:
        """The last event of that kind (and turn) as its record."""
        for event in reversed(self._events):
            if event.kind == kind and turn in (None, event.turn):
                return record.model_validate(event.data)
        return None

    def has(self, kind: str, turn: int) -> bool:
        return any(e.kind == kind and e.turn == turn for e in self._events)


def runs_folder() -> Path:
    """Where runs are kept: `$CUDAPERF_HOME/runs`, else the user's data folder."""
    home = os.environ.get("CUDAPERF_HOME")
    if home:
        return Path(home) / "runs"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "cudaperf-agent" / "runs"


def all_runs() -> list[Run]:
    """Every readable run, oldest first."""
    return [Run(p.parent) for p in sorted(runs_folder().glob("*/events.jsonl"))]


def _start(task: Task, options: Options) -> dict[str, Any]:
    return {"format": 1, "task": task.model_dump(mode="json"), "options": options.model_dump(mode="json")}


def _needed(record: T | None) -> T:
    assert record is not None, "a turn without its proposal"
    return record


def _write(path: Path, event: Event) -> None:
    line = json.dumps(event._asdict(), separators=(",", ":")) + "\n"
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path) -> Iterator[Event]:
    """The complete events. A line that a killed process left unfinished never happened, and is cut off."""
    try:
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            os.truncate(path, whole)
    except OSError as error:
        raise RunError(f"{path}: {error.strerror}") from error
    for line in content[:whole].splitlines():
        yield Event(**json.loads(line))
