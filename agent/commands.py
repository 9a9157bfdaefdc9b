"""What the commands do, behind the command line's options."""

from __future__ import annotations

import json as jsonlib
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..policies.base import PolicyError
from ..tools.c.load import load
from ..tools.c.parse import SourceError
from ..tools.certify import certify
from ..tools.correctness import TestReport
from ..tools.gpus import gpu_named
from ..tools.oracle import OracleError
from ..tools.toolchain import MissingCompiler
from . import nodes
from .deliver import OutputError, deliver, prepare, reserved
from .interrupt import interrupts
from .narration import Narrator, comparison, shown_path
from .port import EnvironmentFault, Listener, UsageError, device_named, policy_named, port, session_for
from .run import Event, Options, Outcome, Run, RunError, all_runs

# Faults that end a command in one line, and the exit status of each.
FAULTS: dict[type[Exception] | tuple[type[Exception], ...], int] = {
    (SourceError, OracleError, UsageError, OutputError, RunError, PolicyError): 2,
    (EnvironmentFault, MissingCompiler): 3,
}


def start(
    file: Path,
    arguments: Sequence[str],
    function: str | None,
    *,
    policy: str,
    device: str,
    gpu: str,
    arch: str | None,
    max_turns: int,
    output: Path | None,
    json: bool,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    hint: str | None = None,
) -> int:
    """Begin a run: `translate` and `evaluate`."""
    try:
        spec = gpu_named(gpu)
    except KeyError as error:
        raise UsageError(f"--gpu {gpu}: {error.args[0]}") from error
    flags, sources = compiler_arguments(arguments)
    kind, _, recording = policy.partition(":")
    if kind == "recorded":
        policy = f"recorded:{Path(recording).absolute()}"
    writer = policy_named(policy)
    device_named(device)
    task = load(file, function, flags, sources).model_copy(update={"path": str(file.absolute())})
    folder = (output or Path(f"{task.name}-cuda")).absolute()
    prepare(folder)
    options = Options(
        policy=policy,
        device=device,
        gpu=spec.name,
        arch=arch or spec.arch,
        max_turns=max_turns,
        max_seconds=max_seconds,
        max_cost=max_cost,
        hint=hint,
        output=str(folder),
        seed=secrets.randbits(64),
    )
    return _finish(Run.create(task, options), writer, json)


def resume_run(run: str, json: bool) -> int:
    found = Run.find(run)
    ended = found.outcome
    if ended is not None:
        raise RunError(
            f"run {found.id} has ended ({ended.reason}); see it with: cudaperf-agent runs show {found.id}"
        )
    prepare(Path(found.options.output))
    return _finish(found, policy_named(found.options.policy), json)


def _finish(run: Run, policy: Any, json: bool) -> int:
    """Walk a run from wherever it stands to its end, and deliver."""
    with interrupts() as check:
        return _walk(run, policy, json, check)


def _walk(run: Run, policy: Any, json: bool, check: Callable[[], None]) -> int:
    console = Console(stderr=True, quiet=json, highlight=False)
    narrator = Narrator(console)

    def event(happened: Event) -> None:
        narrator.event(happened)
        if json:
            print(jsonlib.dumps(_public(happened)), flush=True)
        check()

    def progress(done: int, total: int, what: str) -> None:
        check()
        narrator.progress(done, total, what)

    if json:
        for past in run.events:
            print(jsonlib.dumps(_public(past)), flush=True)
    narrator.opening(run.task, run)
    session = session_for(run, policy, Listener(event, progress=progress, suite=narrator.suite))
    try:
        outcome, best = port(session)
        suite = session.suite if best is not None else None
        certificate = None
        if best is not None and best.proposal.candidate is not None:
            certificate = certify(
                session.device,
                run.task,
                best.proposal.candidate,
                run.options.arch,
                run.options.seed + 1,
                progress,
            )
            if certificate.refuted:
                outcome = Outcome(
                    status=1, reason=f"the best candidate fails when delivered: {certificate.refuted}"
                )
        names = deliver(run, outcome, best, suite, certificate)
    except KeyboardInterrupt:
        narrator.stop()
        print(
            f"cudaperf-agent: interrupted; go on with: cudaperf-agent runs resume {run.id}", file=sys.stderr
        )
        raise
    finally:
        narrator.stop()
    session.log("end", len(run.turns), outcome)
    console.print(comparison(run, best, suite, session.gpu))
    console.print()
    for reservation in reserved(best, suite):
        console.print(f"  [yellow]note[/]: {escape(reservation)}", highlight=False)
    if certificate is not None:
        for made in certificate.checks:
            console.print(
                f"  {escape(made.name)}: {made.result} {escape(made.message)}".rstrip(), highlight=False
            )
    verdict = "[green]right[/]" if outcome.status == 0 else "[red]no right candidate[/]"
    console.print(f"{verdict}: {escape(outcome.reason)}")
    console.print(f"written to {escape(shown_path(run.options.output))}: {', '.join(names)}", highlight=False)
    return outcome.status


def list_runs(json: bool) -> int:
    rows = [
        {
            "run": run.id,
            "function": run.task.name,
            "source": run.task.path,
            "policy": run.options.policy,
            "turns": len(run.turns),
            "state": "unfinished"
            if run.outcome is None
            else ("right" if run.outcome.status == 0 else "not ported"),
        }
        for run in reversed(all_runs())
    ]
    if json:
        for row in rows:
            print(jsonlib.dumps(row))
        return 0
    table = Table()
    for column in ("run", "function", "source", "policy", "turns", "state"):
        table.add_column(column, no_wrap=column == "run")
    for row in rows:
        table.add_row(*(escape(str(v)) for v in row.values()))
    Console().print(table)
    return 0


def show_run(run: str) -> int:
    found = Run.find(run)
    console = Console(highlight=False)
    narrator = Narrator(console)
    narrator.opening(found.task, found)
    for event in found.events:
        narrator.event(event)
    outcome = found.outcome
    if outcome is None:
        console.print(f"unfinished; go on with: cudaperf-agent runs resume {found.id}")
        return 0
    best = None if outcome.best is None else found.turns[outcome.best]
    console.print(comparison(found, best, None, gpu_named(found.options.gpu)))
    console.print(escape(outcome.reason))
    return 0


def replay_run(run: str) -> int:
    """Compile and test every candidate again; status 1 where a verdict differs from the recorded one."""
    found = Run.find(run)
    console = Console(stderr=True)
    narrator = Narrator(console)
    session = session_for(found, policy_named("builtin"), Listener(progress=narrator.progress))
    table = Table("turn", "recorded", "repeated", "")
    same = True
    try:
        for turn in found.turns:
            recorded = turn.evidence.test
            if recorded is None or turn.proposal.candidate is None:
                continue
            repeated: TestReport = nodes.tested(session, turn.proposal.candidate)
            agrees = repeated.verdict == recorded.verdict
            same &= agrees
            table.add_row(
                str(turn.index + 1),
                recorded.verdict,
                repeated.verdict,
                "[green]same[/]" if agrees else "[red]differs[/]",
            )
    finally:
        narrator.stop()
    Console().print(table)
    return 0 if same else 1


def compiler_arguments(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags and further sources, with every path made absolute, so that a run resumes from any folder."""
    flags, sources = [], []
    takes_path = False
    for argument in arguments:
        if takes_path:
            flags.append(str(Path(argument).absolute()))
            takes_path = False
        elif argument in ("-I", "-include", "-isystem", "-iquote", "-L"):
            flags.append(argument)
            takes_path = True
        elif argument.startswith(("-I", "-L")):
            flags.append(argument[:2] + str(Path(argument[2:]).absolute()))
        elif argument.startswith("-"):
            flags.append(argument)
        elif Path(argument).suffix in (".c", ".o", ".a"):
            if not Path(argument).is_file():
                raise UsageError(
                    f"{argument}: no such file; after -- come compiler flags and further source files"
                )
            sources.append(str(Path(argument).absolute()))
        else:
            raise UsageError(f"{argument}: neither a compiler flag nor a source file (.c, .o, .a)")
    if takes_path:
        raise UsageError(f"{arguments[-1]}: names no folder")
    return tuple(flags), tuple(sources)


def _public(event: Event) -> dict[str, Any]:
    """An event as others may see it: without the secret seed."""
    shown = {"kind": event.kind, "turn": event.turn, "seconds": event.seconds, **event.data}
    if "options" in shown:
        shown["options"] = {k: v for k, v in shown["options"].items() if k != "seed"}
    return shown
