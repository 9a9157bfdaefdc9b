"""Tells a person what a run does while it does it, on standard error."""

from __future__ import annotations

import os

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..tools.correctness import TestReport
from ..tools.device import CompileResult
from ..tools.evidence import Diagnosis, Turn
from ..tools.gpus import GpuSpec
from ..tools.profiling import Profile
from ..tools.records import Proposal, Task
from ..tools.reward import Reward
from ..tools.suite import Suite
from .diagnosis import BOUNDS, describe
from .run import Event, Run

GOOD, BAD, QUIET = "green", "red", "dim"


class Narrator:
    """Prints each event of a run in a line or a few."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._progress: Progress | None = None

    def opening(self, task: Task, run: Run) -> None:
        function = task.function
        self.console.print(
            f"[bold]{escape(function.name)}[/] of {escape(shown_path(task.path))}:{function.line}"
        )
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
        for p in function.parameters:
            extent = "".join(f"[{e}]" for e in p.shape)
            what = p.role if p.shape else p.usage
            table.add_row(
                f"  {escape(p.name + extent)}", p.dtype, what, "" if p.origin == "parameter" else p.origin
            )
        self.console.print(table)
        for assumption in function.assumptions:
            self.console.print(f"  assumed: {escape(assumption)}", style=QUIET)
        options = run.options
        self.console.print(
            f"policy {escape(options.policy)}, device {options.device}, estimates for {options.gpu}, run {run.id}\n",
            style=QUIET,
        )

    def progress(self, done: int, total: int, what: str) -> None:
        """A bar for long work; it goes away when the work is done."""
        if self._progress is None:
            columns = (
                TextColumn("{task.description}"),
                BarColumn(24),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            self._progress = Progress(*columns, console=self.console, transient=True)
            self._progress.add_task(what, total=total)
            self._progress.start()
        self._progress.update(self._progress.task_ids[0], completed=done, total=total, description=what)
        if done >= total:
            self._progress.stop()
            self._progress = None

    def stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def suite(self, suite: Suite) -> None:
        count = len(suite.screen) + len(suite.accept) + 1
        milliseconds = suite.original_seconds * 1e3
        line = f"original: {count} configurations, {milliseconds:.2f} ms on the largest ({suite.large.case.name})"
        self.console.print(f"[{QUIET}]{escape(line)}[/]")
        for dropped in suite.dropped:
            self.console.print(
                f"  dropped {escape(dropped.case.name)}: {escape(dropped.reason)}", style=QUIET
            )
        for note in suite.oracle.notes:
            self.console.print(f"  {escape(note)}", style=QUIET)

    def event(self, event: Event) -> None:
        match event.kind:
            case "proposal":
                self._proposal(event.turn, Proposal.model_validate(event.data))
            case "compile":
                self._compile(CompileResult.model_validate(event.data))
            case "test":
                self._test(TestReport.model_validate(event.data))
            case "profile":
                self._profile(Profile.model_validate(event.data))
            case "reflection":
                self._reflection(event)

    def _line(self, stage: str, style: str, text: str) -> None:
        """A stage's name and what it says, wrapped beside the name."""
        row = Table.grid(padding=(0, 1))
        row.add_column(width=10)
        row.add_column()
        row.add_row(f"  [{QUIET}]{stage}[/]", f"[{style}]{escape(text)}[/]")
        self.console.print(row)

    def _proposal(self, turn: int, proposal: Proposal) -> None:
        if proposal.finished:
            return
        title = proposal.strategy or ("no candidate" if proposal.candidate is None else "candidate")
        self.console.print(f"[bold]turn {turn + 1}[/]  [cyan]{escape(title)}[/]  {escape(proposal.reason)}")

    def _compile(self, result: CompileResult) -> None:
        if not result.ok:
            for finding in [d for d in result.diagnostics if d.severity == "error"][:5]:
                self._line("compile", BAD, str(finding))
            return
        used = [
            f"{r.kernel} {r.registers} registers"
            + (f", {r.spill_store_bytes} B spilled" if r.spill_store_bytes else "")
            for r in result.resources or ()
        ]
        target = f"; {result.arch}: {', '.join(used)}" if used else ""
        self._line("compile", GOOD, f"ok in {result.seconds:.1f} s{target}")

    def _test(self, report: TestReport) -> None:
        if report.verdict != "right":
            self._line("test", BAD, f"{report.verdict}: {report.message}")
            for finding in report.findings[:3]:
                self._line("", BAD, str(finding))
            return
        worst = max(report.cases, key=lambda c: (c.error or 0) / (c.allowed or 1))
        error = f"; largest error {worst.error:.1e} of {worst.allowed:.1e} allowed" if worst.error else ""
        self._line("test", GOOD, f"right: {report.message}, bounds and races checked{error}")

    def _profile(self, profile: Profile) -> None:
        launches = sum(k.launches for k in profile.counts)
        lowest = min(profile.occupancy, key=lambda o: o.occupancy, default=None)
        occupancy = f", occupancy {lowest.occupancy:.0%} (limited by {lowest.limiter})" if lowest else ""
        estimate = profile.estimate
        count = f"{launches} launch{'es' if launches != 1 else ''}"
        expected = f"estimate {estimate.total_us:.1f} us on {estimate.gpu}, bound by {BOUNDS[estimate.bound]}"
        self._line("profile", GOOD, f"{count}{occupancy}; {expected}")
        if profile.worst_access is not None:
            self._line("", QUIET, describe(profile.worst_access))

    def _reflection(self, event: Event) -> None:
        value = Reward.model_validate(event.data["reward"])
        diagnosis = Diagnosis.model_validate(event.data["diagnosis"])
        terms = [f"compiled {value.compiled:g}", f"right {value.right:g}"]
        terms += [f"structure {value.structure:.2f}"] if value.structure is not None else []
        terms += [f"speed {value.speed:g}"] if value.speed is not None else []
        self._line("reward", QUIET, f"{value.total:.2f} ({', '.join(terms)})")
        self._line(
            "reflect", QUIET, diagnosis.summary + (f" -> {diagnosis.advice}" if diagnosis.advice else "")
        )
        self.console.print()


def _time(microseconds: float) -> str:
    return f"{microseconds:.1f} us" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"


def shown_path(path: str) -> str:
    """A path as a person would write it here: relative where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(path) else path


def comparison(run: Run, best: Turn | None, suite: Suite | None, gpu: GpuSpec) -> Table:
    """The closing table: the original beside every turn, the best one marked."""
    title = f"{run.task.name}: original and candidates"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("", "strategy", "verdict", "traffic", "sectors", "warps", "reward"):
        table.add_column(column)
    for column in ("time", "at scale"):
        table.add_column(column, justify="right", no_wrap=True)
    if suite is not None:
        table.add_row("", "original", "", "", "", "", "", _time(suite.original_seconds * 1e6), "")
    for turn in run.turns:
        profile = turn.evidence.profile
        chosen = best is not None and turn.index == best.index
        cells = [
            f"{'> ' if chosen else ''}{turn.index + 1}",
            turn.proposal.strategy or "-",
            turn.diagnosis.verdict,
        ]
        if profile is not None:
            memory = [a for k in profile.counts for a in k.accesses if a.space == "global"]
            requests = sum(a.requests for a in memory)
            sectors = sum(a.sectors for a in memory)
            cells += [
                f"{sum(k.block_unique_bytes for k in profile.counts) / 1e6:.1f} MB",
                f"{sectors / requests:.1f}" if requests else "-",
                f"{min((o.occupancy for o in profile.occupancy), default=0):.0%}",
                f"{turn.reward.total:.2f}",
                _time(profile.estimate_us),
                _time(profile.ranking_us),
            ]
        else:
            cells += ["-", "-", "-", f"{turn.reward.total:.2f}", "-", "-"]
        table.add_row(*map(escape, cells), style="bold" if chosen else None)
    table.caption = (
        f"sectors: moved a request; warps: resident on {gpu.name}. Times of candidates are roofline estimates "
        f"for {gpu.name} from measured counts: no GPU was here to measure. At scale: the same work as a part of inputs "
        f"that fill the GPU, by which candidates are compared."
    )
    table.caption_justify = "left"
    return table
