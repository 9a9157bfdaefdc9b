"""Runs as training data: what the policy saw, what it answered, and what that was worth."""

from __future__ import annotations

from ..agent.run import Run
from ..tools.evidence import Diagnosis, Evidence
from ..tools.records import Proposal, Record
from ..tools.reward import Reward, Weights, returns


class RolloutTurn(Record):
    """One turn of a rollout. `multi_turn_return` discounts the rewards of the turns from this one on by `gamma`."""

    run: str
    task: str
    turn: int
    proposal: Proposal
    evidence: Evidence
    reward: Reward
    multi_turn_return: float
    gamma: float
    diagnosis: Diagnosis


def rollout(run: Run, gamma: float = Weights.gamma) -> tuple[RolloutTurn, ...]:
    """The completed turns of a run, in order. Secret inputs stay behind: a task goes by its content's id."""
    turns = run.turns
    values = returns([t.reward.total for t in turns], gamma)
    return tuple(
        RolloutTurn(
            run=run.id,
            task=run.task.id,
            turn=t.index,
            proposal=t.proposal,
            evidence=t.evidence,
            reward=t.reward,
            multi_turn_return=value,
            gamma=gamma,
            diagnosis=t.diagnosis,
        )
        for t, value in zip(turns, values, strict=True)
    )
