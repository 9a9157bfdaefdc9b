"""The built-in policy: a rule-based translator from C loop nests to CUDA. It needs no model and no network."""

from __future__ import annotations

from ...tools.c.parse import SourceError, parse
from ...tools.records import Candidate, File, Finding, Proposal
from ..base import Request
from .candidate import assemble, kernel_names
from .ladder import next_step
from .plan import plan
from .refusals import Refused, loop_at
from .strategies import written_with


class BuiltinPolicy:
    """Proposes the plainest port first, then what the evidence of the turns before asks for.

    The same request gives the same proposal. A function that cannot be ported is refused with a finding at its place
    in the C source; when no strategy is left, the proposal has neither candidate nor refusal.
    """

    name = "builtin"

    def propose(self, request: Request) -> Proposal:
        view = request.view
        try:
            unit = parse(view.path, view.source, view.flags)
            made = plan(unit, view.function)
            names = zip(kernel_names(view.function, made), made.nests.items(), strict=True)
            parallel = {name: nest for name, (loop, nest) in names if loop not in made.single}
            step = next_step(parallel, request.turns)
            if step is None:
                return Proposal(text="", candidate=None, finished=True, reason="no strategy left")
            text = assemble(view.function, made, written_with(step.strategy))
        except Refused as refusal:
            return _refusal(refusal.finding)
        except SourceError as error:
            finding = Finding(
                rule="source",
                message=error.message,
                file=error.file,
                line=error.line,
                column=error.column,
                remedy=error.remedy,
            )
            return _refusal(finding)
        name = view.function.name
        notes = [f"one thread runs a loop in order: {r.finding.message}" for r in made.alone.values()]
        notes += [
            f"the {loop_at(loop.place)} stays on the host, since it calls {call.function}, and copies what it reads"
            for loop, call in made.kept.items()
        ]
        remarks = "".join(f"// {note}\n" for note in notes)
        text = f"// {name}: {step.strategy.summary}.\n{remarks}\n{text}"
        candidate = Candidate(
            files=(File(name=f"{name}.cu", language="cuda", text=text),), entry=view.function.launcher
        )
        reason = "; ".join([step.reason, *([] if request.turns else notes)])
        return Proposal(text=text, candidate=candidate, strategy=step.strategy.name, reason=reason)


def _refusal(finding: Finding) -> Proposal:
    return Proposal(text=str(finding), candidate=None, reason=finding.message, refusal=finding)
