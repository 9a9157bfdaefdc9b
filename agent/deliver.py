"""Writes what a run delivers: the drop-in, its report, and the run's record. All files appear at once or none does."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..tools.certify import Certificate
from ..tools.dropin import build_line, files, needs_host_file
from ..tools.evidence import Turn
from ..tools.suite import Suite
from ..tools.worth import reservations
from .run import Outcome, Run


class OutputError(Exception):
    """An output folder that cannot be written: which, why, and what to do."""


def prepare(folder: Path) -> None:
    """Make sure that the output folder can be written before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot write here ({error.strerror}); give another folder with -o"
        ) from error


def deliver(
    run: Run, outcome: Outcome, best: Turn | None, suite: Suite | None, certificate: Certificate | None
) -> list[str]:
    """Write the run's output folder; returns the names of the files, sorted."""
    task, folder = run.task, Path(run.options.output)
    texts: dict[str, str] = {}
    if best is not None and best.proposal.candidate is not None:
        texts = files(task, best.proposal.candidate, run.options.arch)
        if not needs_host_file(task):
            del texts[f"{task.name}.host.c"]
    contents = report(run, outcome, best, suite, certificate)
    texts["report.json"] = json.dumps(contents, indent=2) + "\n"
    texts["report.md"] = _template().render(**contents, records=run.turns)
    prepare(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as staging:
        for name, text in texts.items():
            (Path(staging) / name).write_text(text, "utf-8")
        shutil.copyfile(run.folder / "events.jsonl", Path(staging) / "run.jsonl")
        names = sorted([*texts, "run.jsonl"])
        for name in names:
            os.replace(Path(staging) / name, folder / name)
    return names


def report(
    run: Run, outcome: Outcome, best: Turn | None, suite: Suite | None, certificate: Certificate | None
) -> dict[str, Any]:
    """The report as plain data; `report.md` shows the same."""
    task, options = run.task, run.options
    return {
        "format": 1,
        "run": run.id,
        "function": task.function.model_dump(mode="json"),
        "source": task.path,
        "device": options.device,
        "gpu": options.gpu,
        "arch": options.arch,
        "policy": options.policy,
        "outcome": outcome.model_dump(mode="json"),
        "original": None
        if suite is None
        else {
            "milliseconds": suite.original_seconds * 1e3,
            "case": suite.large.case.name,
            "configurations": len(suite.screen) + len(suite.accept) + 1,
            "dropped": [{"case": d.case.name, "reason": d.reason} for d in suite.dropped],
            "notes": suite.oracle.notes,
        },
        "reservations": reserved(best, suite),
        "best": None if best is None else best.model_dump(mode="json", exclude={"proposal": {"text"}}),
        "turns": [
            {
                "turn": t.index + 1,
                "strategy": t.proposal.strategy,
                "reason": t.proposal.reason,
                "verdict": t.diagnosis.verdict,
                "summary": t.diagnosis.summary,
                "reward": t.reward.model_dump(mode="json"),
                "estimate_us": t.evidence.profile.estimate_us if t.evidence.profile else None,
                "candidate": t.proposal.candidate.id if t.proposal.candidate else None,
            }
            for t in run.turns
        ],
        "certificate": None if certificate is None else certificate.model_dump(mode="json"),
        "build": build_line(task, options.arch),
        "replay": f"cudaperf-agent runs replay {run.id}",
    }


def reserved(best: Turn | None, suite: Suite | None) -> tuple[str, ...]:
    """What speaks against the best candidate."""
    if best is None or suite is None or best.evidence.profile is None:
        return ()
    return reservations(best.evidence.profile, suite.original_seconds)


def _template():
    environment = Environment(
        loader=PackageLoader("cudaperf_agent.agent", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    return environment.get_template("report.md.j2")
