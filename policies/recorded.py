"""Answers from a file: candidates written elsewhere, or the exported record of an earlier run."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from ..tools.records import Candidate, File, Proposal
from .base import PolicyError, Request


class RecordedPolicy:
    """Gives one recorded answer a turn, in order; then it has none.

    `path` is a CUDA file, a folder of them (in the order of their names), or JSON lines as `runs export` writes them.
    """

    def __init__(self, path: Path) -> None:
        self.name = f"recorded:{path}"
        self._proposals = _proposals(path)

    def propose(self, request: Request) -> Proposal:
        index = len(request.turns)
        if index < len(self._proposals):
            return self._proposals[index]
        return Proposal(
            text="", candidate=None, finished=True, reason=f"all {index} recorded answers are used"
        )


def candidate_of(path: Path, entry: str = "") -> Candidate:
    """The candidate in a CUDA file. Raises PolicyError where it cannot be read as text."""
    try:
        return Candidate(
            files=(File(name=path.name, language="cuda", text=path.read_text("utf-8")),), entry=entry
        )
    except OSError as error:
        raise PolicyError(f"{path}: {error.strerror}; give the file of a candidate") from error
    except UnicodeDecodeError as error:
        raise PolicyError(f"{path}: not UTF-8 text (byte {error.start}); convert it first") from error


def _proposals(path: Path) -> list[Proposal]:
    if path.is_dir():
        found = sorted(path.glob("*.cu"))
        if not found:
            raise PolicyError(f"{path}: holds no .cu file; name a folder of candidates")
        return [_from_file(p) for p in found]
    if path.suffix != ".jsonl":
        return [_from_file(path)]
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise PolicyError(
            f"{path}: {error.strerror}; export one with: cudaperf-agent runs export ID"
        ) from error
    try:
        return [
            Proposal.model_validate(json.loads(line)["proposal"]) for line in lines if '"proposal"' in line
        ]
    except (ValidationError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise PolicyError(
            f"{path}: not an exported run; export one with: cudaperf-agent runs export ID"
        ) from error


def _from_file(path: Path) -> Proposal:
    candidate = candidate_of(path)
    return Proposal(
        text=candidate.source, candidate=candidate, strategy=path.stem, reason=f"recorded in {path.name}"
    )
