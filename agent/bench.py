"""Measures the verifier: how many known-wrong candidates pass, and how many known-right ones are refused.

A suite is a folder of CUDA files, each saying in its first lines which C file it ports (`// task: PATH`, relative to
itself) and which verdict it must get (`// expect: VERDICT`).
"""

from __future__ import annotations

import json as jsonlib
import re
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..policies.recorded import RecordedPolicy
from ..tools.c.load import load
from ..tools.gpus import DEFAULT_GPU, gpu_named
from ..tools.records import Record
from ..tools.suite import Suite
from .narration import Narrator
from .nodes import take_turn
from .port import Listener, UsageError, session_for
from .run import Options, Run


class Judgement(Record):
    """A known candidate, the verdict it must get, and the one it got, with the sentence that came with it."""

    candidate: str
    task: str
    expected: str
    verdict: str
    summary: str


def bench_verifier(folder: Path, device: str, json: bool) -> int:
    """Judge every candidate of a suite; status 1 unless each got its verdict."""
    if not folder.is_dir():
        raise UsageError(
            f"{folder}: no such folder; a suite is a folder of .cu files, such as examples/verifier"
        )
    console = Console(stderr=True)
    judgements = []
    suites: dict[Path, Suite] = {}
    paths = sorted(folder.rglob("*.cu"))
    if not paths:
        raise UsageError(f"{folder}: holds no .cu file")
    for path in paths:
        judgement = judge(path, device, suites, console)
        judgements.append(judgement)
        good = judgement.verdict == judgement.expected
        mark = "[green]ok[/]" if good else "[red]NO[/]"
        console.print(f"{mark} {path.relative_to(folder)}: {judgement.verdict}", highlight=False)
        if not good:
            console.print(f"   expected {judgement.expected}; {escape(judgement.summary)}", highlight=False)
    planted = [j for j in judgements if j.expected != "right"]
    honest = [j for j in judgements if j.expected == "right"]
    false_passes = [j for j in planted if j.verdict == "right"]
    false_refusals = [j for j in honest if j.verdict != "right"]
    wrong_reasons = [j for j in planted if j.verdict not in ("right", j.expected)]
    if json:
        for j in judgements:
            print(jsonlib.dumps(j.model_dump()))
    table = Table("", "of", "rate", title=str(folder), title_justify="left")
    for name, part, whole in (
        ("false passes", false_passes, planted),
        ("false refusals", false_refusals, honest),
        ("refused for another reason", wrong_reasons, planted),
    ):
        table.add_row(
            f"{name}: {len(part)}", str(len(whole)), f"{len(part) / len(whole):.1%}" if whole else "-"
        )
    (console if json else Console()).print(table)
    return 1 if false_passes or false_refusals or wrong_reasons else 0


def judge(path: Path, device: str, suites: dict[Path, Suite], console: Console) -> Judgement:
    """One candidate through one turn of the loop. `suites` keeps what the originals compute, by their path."""
    head = path.read_text("utf-8")[:2000]
    named = re.search(r"^// task: (\S+)", head, re.MULTILINE)
    expected = re.search(r"^// expect: (\S+)", head, re.MULTILINE)
    if named is None or expected is None:
        raise UsageError(
            f"{path}: does not say '// task: FILE.c' and '// expect: VERDICT' in its first lines"
        )
    source = (path.parent / named[1]).resolve()
    task = load(source, None)
    gpu = gpu_named(DEFAULT_GPU)
    narrator = Narrator(console)
    with tempfile.TemporaryDirectory(prefix="cudaperf-bench-") as home:
        options = Options(
            policy=f"recorded:{path}",
            device=device,
            gpu=gpu.name,
            arch=gpu.arch,
            max_turns=1,
            output=home,
            seed=secrets.randbits(64),
        )
        run = Run.create(task, options, Path(home))
        session = session_for(run, RecordedPolicy(path), Listener(progress=narrator.progress))
        session.make_suite = _remembered(suites, source, session.make_suite)
        try:
            turn = take_turn(session, 0)
        finally:
            narrator.stop()
    return Judgement(
        candidate=path.name,
        task=named[1],
        expected=expected[1],
        verdict=turn.diagnosis.verdict,
        summary=turn.diagnosis.summary,
    )


def _remembered(suites: dict[Path, Suite], source: Path, make: Callable[[], Suite]) -> Callable[[], Suite]:
    def suite() -> Suite:
        if source not in suites:
            suites[source] = make()
        return suites[source]

    return suite
