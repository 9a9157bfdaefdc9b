"""Who writes the next candidate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..tools.evidence import Turn
from ..tools.records import Proposal, TaskView


@dataclass(frozen=True)
class Request:
    """All that a policy knows: the task, every turn so far, and a person's hint if there is one."""

    view: TaskView
    turns: tuple[Turn, ...] = ()
    hint: str | None = None


class PolicyError(Exception):
    """A policy that cannot be used: what is missing, and what to install or set."""


class Policy(Protocol):
    """A policy answers a request; a proposal without candidate and without text to learn from ends the run."""

    name: str

    def propose(self, request: Request) -> Proposal: ...
