"""One port from start to end: the loop, then what is delivered. The CLI's commands and the TUI call this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..policies.base import Policy, PolicyError
from ..policies.recorded import RecordedPolicy
from ..tools.cpu.device import CpuDevice
from ..tools.device import Device
from ..tools.evidence import Turn, best
from ..tools.gpus import gpu_named
from ..tools.records import Task, TaskView
from ..tools.suite import Suite
from . import nodes
from .run import Event, Outcome, Run


class UsageError(Exception):
    """A command that asks for what there is not: what is wrong, and what to do."""


class EnvironmentFault(Exception):
    """Something that this machine lacks, and how to get it."""


@dataclass(frozen=True)
class Listener:
    """Who is told what happens while a port is made."""

    event: Callable[[Event], None] = lambda event: None
    progress: Callable[[int, int, str], None] = lambda done, total, what: None
    suite: Callable[[Suite], None] = lambda suite: None


def policy_named(name: str) -> Policy:
    """The policy of `--policy` or `--model`: ``builtin``, ``recorded:FILE``, ``model:provider/name``."""
    kind, _, rest = name.partition(":")
    match kind:
        case "builtin":
            from ..policies.builtin.policy import BuiltinPolicy

            return BuiltinPolicy()
        case "recorded" if rest:
            return RecordedPolicy(Path(rest))
        case "model":
            from ..policies.hosted import hosted_policy

            return hosted_policy(rest)
    raise PolicyError(f"no policy {name!r}: use builtin, recorded:FILE, or --model provider/name")


def device_named(name: str) -> Device:
    """The device of `--device`. The CUDA device is not there yet, so `auto` means the CPU."""
    if name in ("auto", "cpu"):
        return CpuDevice()
    if name == "cuda":
        raise EnvironmentFault(
            "--device cuda is not supported yet: use --device cpu, which runs the kernels on the CPU"
        )
    raise UsageError(f"no device {name!r}: use auto, cuda or cpu")


def view_of(task: Task, arch: str, gpu: str) -> TaskView:
    """What a policy may see of a task."""
    return TaskView(
        path=task.path, source=task.source, flags=task.flags, function=task.function, arch=arch, gpu=gpu
    )


def session_for(run: Run, policy: Policy, listener: Listener) -> nodes.Session:
    """Everything a run needs, from its own record; used for new runs and for resumed ones alike."""
    task, options = run.task, run.options
    device = device_named(options.device)

    def make_suite() -> Suite:
        suite = Suite(task, options.seed, device, listener.progress)
        listener.suite(suite)
        return suite

    return nodes.Session(
        run=run,
        view=view_of(task, options.arch, options.gpu),
        policy=policy,
        device=device,
        gpu=gpu_named(options.gpu),
        make_suite=make_suite,
        notify=listener.event,
    )


def port(session: nodes.Session) -> tuple[Outcome, Turn | None]:
    """Walk the loop to its end, from wherever the run's log stands."""
    from .graph import walk  # langgraph takes a third of a second, and bad input shall be told at once

    walk(session)
    run = session.run
    result = nodes.outcome(run)
    return result, best(run.turns)
