"""The loop as a LangGraph graph: five nodes, one router, durable checkpoints.

The graph's state is the run's id and the turn's number; all else is in the run's log.
"""

from __future__ import annotations

from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from . import nodes
from .nodes import STEPS, Session


class State(TypedDict):
    run: str
    turn: int


def walk(session: Session) -> None:
    """Walk the loop until it stops. Called again on the same run, it goes on where the log ends."""
    graph = StateGraph(State, context_schema=Session)
    for name, step in STEPS.items():
        graph.add_node(name, _node(step))
        graph.add_conditional_edges(name, _route, [*STEPS, END])
    graph.add_conditional_edges(START, _route, [*STEPS, END])
    run = session.run
    with SqliteSaver.from_conn_string(str(run.folder / "checkpoints.sqlite")) as saver:
        compiled = graph.compile(checkpointer=saver)
        compiled.invoke(
            {"run": run.id, "turn": len(run.turns)},
            {"configurable": {"thread_id": run.id}, "recursion_limit": 10 * run.options.max_turns + 10},
            context=session,
            durability="sync",
        )


def _node(step):
    def node(state: State, runtime: Runtime[Session]) -> State:
        step(runtime.context, state["turn"])
        return {"run": state["run"], "turn": len(runtime.context.run.turns)}

    return node


def _route(state: State, runtime: Runtime[Session]) -> str:
    return nodes.next_stage(runtime.context.run, state["turn"]) or END
