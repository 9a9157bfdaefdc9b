"""The five steps of the loop, each a plain function of the session and the turn.

A step looks into the run's log before it acts and writes what it found there, so that walking it twice does the
work once. LangGraph's graph and training environments compose the same functions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from ..policies.base import Policy, Request
from ..tools.correctness import TestReport, verify
from ..tools.device import Build, Checks, CompileResult, Device
from ..tools.evidence import Turn, best
from ..tools.gpus import GpuSpec
from ..tools.nvcc import compile_for_target
from ..tools.profiling import profile as join_profile
from ..tools.records import Candidate, Proposal, Record, TaskView
from ..tools.reward import reward
from ..tools.structure import structure
from ..tools.suite import Suite
from .diagnosis import diagnose
from .run import Event, Outcome, Run

PLAIN = Checks()
THOROUGH = Checks(bounds=True, races=True)
COUNTING = Checks(trace_blocks=64)


@dataclass
class Session:
    """What a run needs while it is alive; all that must survive is in `run`.

    `suite` is made when the first candidate needs it. `notify` is told every event as it is on disk.
    """

    run: Run
    view: TaskView
    policy: Policy
    device: Device
    gpu: GpuSpec
    make_suite: Callable[[], Suite]
    notify: Callable[[Event], None] = lambda event: None
    _suite: Suite | None = None
    _builds: dict[tuple[str, bool], Build] = field(default_factory=dict)

    @property
    def suite(self) -> Suite:
        if self._suite is None:
            self._suite = self.make_suite()
        return self._suite

    def build(self, candidate: Candidate, *, checked: bool) -> Build:
        key = (candidate.id, checked)
        if key not in self._builds:
            self._builds[key] = self.device.build(self.run.task.function, candidate, checked=checked)
        return self._builds[key]

    def log(self, kind: str, turn: int, record: Record | dict) -> None:
        self.notify(self.run.append(kind, turn, record))

    def candidate(self, turn: int) -> Candidate | None:
        proposal = self.run.get("proposal", turn, Proposal)
        return proposal.candidate if proposal is not None else None


def generate(session: Session, turn: int) -> None:
    """Ask the policy for a candidate."""
    if session.run.has("proposal", turn):
        return
    session.log("request", turn, {})
    hint = session.run.options.hint
    proposal = session.policy.propose(Request(session.view, session.run.turns, hint))
    session.log("proposal", turn, proposal)


def compile(session: Session, turn: int) -> None:
    """Parse, check the contract, compile for the device and, where its compiler is here, for the target."""
    if session.run.has("compile", turn):
        return
    candidate = session.candidate(turn)
    assert candidate is not None
    session.log("structure", turn, structure(candidate))
    function = session.run.task.function
    with ThreadPoolExecutor() as pool:
        target = pool.submit(compile_for_target, function, candidate, session.run.options.arch)
        result = session.build(candidate, checked=False).result
        session.log("compile", turn, _joined(result, target.result()))


def test(session: Session, turn: int) -> None:
    """*Screen* on few small cases, then *accept* on all of them with every checker, and on a large one."""
    if session.run.has("test", turn):
        return
    candidate = session.candidate(turn)
    assert candidate is not None
    session.log("test", turn, tested(session, candidate))


def profile(session: Session, turn: int) -> None:
    """Count memory transactions on the large case and estimate the time on the named GPU."""
    if session.run.has("profile", turn):
        return
    candidate = session.candidate(turn)
    compiled = session.run.get("compile", turn, CompileResult)
    assert candidate is not None and compiled is not None
    build = session.build(candidate, checked=True)
    execution = session.device.run(build, [session.suite.large.case], COUNTING)[0]
    session.log("profile", turn, join_profile(session.device.name, execution, compiled, session.gpu))


def reflect(session: Session, turn: int) -> None:
    """Turn the evidence into a reward and a diagnosis; this completes the turn."""
    if session.run.has("reflection", turn):
        return
    proposal = session.run.get("proposal", turn, Proposal)
    assert proposal is not None
    evidence = session.run.evidence(turn)
    value = reward(evidence.compile, evidence.right, evidence.profile, speedup=None)
    diagnosis = diagnose(proposal, evidence, repeated=_repeated(session.run, turn))
    session.log(
        "reflection",
        turn,
        {"reward": value.model_dump(mode="json"), "diagnosis": diagnosis.model_dump(mode="json")},
    )


STEPS = {"generate": generate, "compile": compile, "test": test, "profile": profile, "reflect": reflect}


def take_turn(session: Session, turn: int) -> Turn:
    """Walk one turn from generate to reflect, without the graph around it."""
    while len(session.run.turns) <= turn:
        stage = next_stage(session.run, turn)
        assert stage is not None, "the run has no turn left"
        STEPS[stage](session, turn)
    return session.run.turns[turn]


def next_stage(run: Run, turn: int) -> str | None:
    """The one router: what follows in this turn, given what the log holds of it; None at the end."""
    proposal = run.get("proposal", turn, Proposal)
    if proposal is None:
        return None if stop_reason(run) else "generate"
    if proposal.finished:
        return None
    if proposal.candidate is None or _repeated(run, turn):
        return "reflect"
    evidence = run.evidence(turn)
    if evidence.compile is None:
        return "compile"
    if not evidence.compile.ok:
        return "reflect"
    if evidence.test is None:
        return "test"
    if not evidence.right or evidence.profile is not None:
        return "reflect"
    return "profile"


def stop_reason(run: Run) -> str | None:
    """Why the loop ends after the turns so far, or None if it goes on."""
    turns, options = run.turns, run.options
    done = _policy_is_done(run)
    if done:
        return done
    if len(turns) >= options.max_turns:
        return "its turn is done" if options.max_turns == 1 else f"all {options.max_turns} turns are done"
    if options.max_seconds is not None and time.time() - run.events[0].seconds > options.max_seconds:
        return f"{options.max_seconds:g} s spent"
    dollars = run.spent.dollars
    if options.max_cost is not None and (dollars or 0.0) >= options.max_cost > 0:
        return f"${options.max_cost:g} spent"
    return None


def _policy_is_done(run: Run) -> str | None:
    """Why the policy has no more to say, or None: it finished, or refused the task."""
    last = run.get("proposal", None, Proposal)
    if last is None:
        return None
    if last.finished:
        return last.reason
    return last.refusal.message if last.refusal is not None else None


def outcome(run: Run) -> Outcome:
    """How a run that stopped ends. Exit status 0: right; 1: nothing right; 4: budget spent before anything was."""
    reason = stop_reason(run) or "stopped"
    found = best(run.turns)
    if found is not None:
        return Outcome(status=0, reason=reason, best=found.index)
    spent = not _policy_is_done(run) and len(run.turns) < run.options.max_turns
    return Outcome(status=4 if spent else 1, reason=reason)


def tested(session: Session, candidate: Candidate) -> TestReport:
    function, suite, device = session.run.task.function, session.suite, session.device
    plain = session.build(candidate, checked=False)
    screened = verify(device, plain, function, suite.screen, PLAIN, "screen")
    if screened.verdict not in ("right", "crash", "timeout"):
        # The checkers name causes where the plain run sees only a wrong value.
        checked = verify(
            device, session.build(candidate, checked=True), function, suite.screen, THOROUGH, "screen"
        )
        return checked if checked.verdict != "right" else screened
    if screened.verdict != "right":
        return screened
    accepted = verify(
        device, session.build(candidate, checked=True), function, suite.accept, THOROUGH, "accept"
    )
    if not accepted.right:
        return accepted
    large = verify(device, plain, function, [suite.large], Checks(order="reverse"), "accept")
    return large.model_copy(
        update={
            "cases": accepted.cases + large.cases,
            "findings": tuple(dict.fromkeys(accepted.findings + large.findings)),
            "message": f"{len(accepted.cases) + 1} configurations right" if large.right else large.message,
        }
    )


def _joined(device: CompileResult, target: CompileResult | None) -> CompileResult:
    """The device decides what runs; the target's compiler adds its errors and the kernels' resources."""
    if target is None:
        return device
    return device.model_copy(
        update={
            "ok": device.ok and target.ok,
            "diagnostics": tuple(dict.fromkeys(device.diagnostics + target.diagnostics)),
            "resources": target.resources,
            "arch": target.arch,
            "compiler": f"{device.compiler}; {target.compiler}",
        }
    )


def _repeated(run: Run, turn: int) -> bool:
    proposal = run.get("proposal", turn, Proposal)
    if proposal is None or proposal.candidate is None:
        return False
    earlier = (run.get("proposal", t, Proposal) for t in range(turn))
    return any(
        p is not None and p.candidate is not None and p.candidate.id == proposal.candidate.id for p in earlier
    )
