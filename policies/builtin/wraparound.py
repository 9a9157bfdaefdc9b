"""Variables that carry a value from one iteration to the next: each reader computes it again instead.

    for (i ...) { y[i] = x[i] + before; before = x[i]; }   reads   (i == first ? before : x[i - 1])

(Wolfe, "Beyond Induction Variables", PLDI 1992: wrap-around variables.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from ...tools.c import ast
from . import flow
from .build import At
from .dependence import Overlap
from .loops import Loop, counted, jumps, statements_of
from .tree import Names, root_of, substituted

# How many iterations back a value may come from.
MOST_BACK = 8


def unwrapped(
    statement: ast.For, live_after: Callable[[str], bool], overlap: Overlap, names: Names
) -> ast.Block | None:
    """The loop without carried variables whose values the iteration before computes from what the loop only reads.

    None where there are none.
    """
    loop = counted(statement)
    body = statements_of(statement.body)
    if not isinstance(loop, Loop) or abs(loop.step) != 1 or any(map(jumps, body)):
        return None
    made = _Made(At(statement.place), loop, body, overlap)
    carried = [v for v in made.carried if made.can_compute(v)]
    if not carried:
        return None
    at, counter = made.at, made.at.name(loop.variable, loop.type)
    own = {v: at.name(names.fresh(v), made.written[v].type) for v in carried}
    starts = [at.declare(own[v], made.before(v, counter)) for v in carried]
    moved = dataclasses.replace(statement, body=at.block(*starts, *(substituted(s, own) for s in body)))
    after = made.after([v for v in carried if live_after(v)], names)
    return at.block(moved, *after)


class _Made:
    """What each carried variable is made of."""

    def __init__(self, at: At, loop: Loop, body: tuple[ast.Stmt, ...], overlap: Overlap) -> None:
        self.at = at
        self.loop = loop
        self.body = body
        self.written: dict[str, ast.Name] = {}
        self.values: dict[str, ast.Expr] = {}
        self.stored = _stored(body)
        self.overlap = overlap
        changed = [name for s in body for n in ast.walk(s) for name in flow.changed_by(n)]
        for s in body:
            match s:
                case ast.Evaluate(
                    expression=ast.Assign(op="=", target=ast.Name(name=name) as v, value=value)
                ) if changed.count(name) == 1 and v.type.kind in ("int", "float") and v.scope != "global":
                    self.written[name], self.values[name] = v, value
                case ast.Declare(variables=variables):
                    for d in variables:
                        if d.init is not None and d.type.kind in ("int", "float") and d.name not in changed:
                            self.written[d.name] = at.name(d.name, d.type)
                            self.values[d.name] = d.init
        self.changed = set(changed) | flow.declared_in(body).keys() | {loop.variable}

    @property
    def carried(self) -> list[str]:
        return [v for v in self.written if flow.Use(v, self.body).exposed]

    def can_compute(self, name: str, back: int = 0) -> bool:
        """Whether a variable's value after an iteration follows from what the loop does not change."""
        value = self.values[name]
        if (
            back > MOST_BACK
            or self.loop.variable in flow.names_in([self.loop.first])
            or not flow.is_pure([value])
        ):
            return False
        if flow.names_in([self.loop.first, self.loop.bound]).keys() & self.changed:
            return False
        for mentioned, node in flow.names_in([value]).items():
            if mentioned == self.loop.variable:
                continue
            if mentioned in self.values:
                if not self.can_compute(mentioned, back + 1):
                    return False
            elif mentioned in self.changed or (node.scope == "global" and node.type.scalar):
                return False
        read = {root_of(n) for n in ast.walk(value) if _is_load(n)}
        if not read or not self.stored:
            return True
        return None not in self.stored | read and all(
            self.overlap(r, s) == "distinct"
            for r in read
            for s in self.stored
            if r is not None and s is not None
        )

    def now(self, name: str, index: ast.Expr) -> ast.Expr:
        """What a variable is after its assignment in an iteration."""
        values: dict[str, ast.Expr] = {self.loop.variable: index}
        order = list(self.values)
        for other in flow.names_in([self.values[name]]):
            if other in self.values:
                earlier = order.index(other) < order.index(name)
                values[other] = self.now(other, index) if earlier else self.before(other, index)
        value = substituted(self.values[name], values)
        type = dataclasses.replace(self.written[name].type, const=False)
        return value if value.type.spelling == type.spelling else ast.Cast(value, type, self.at.place)

    def before(self, name: str, index: ast.Expr) -> ast.Expr:
        """What a variable is when an iteration begins."""
        variable = self.written[name]
        first = self.at.binary("==", index, self.loop.first)
        return ast.Conditional(
            first, variable, self.now(name, self.back(index)), variable.type, self.at.place
        )

    def back(self, index: ast.Expr) -> ast.Expr:
        """The index of the iteration before."""
        sign = "-" if self.loop.step > 0 else "+"
        match index:
            case ast.Binary(op=op, left=left, right=ast.Literal(value=int() as by)) if op == sign:
                return self.at.binary(sign, left, self.at.number(by + 1))
            case _:
                return self.at.binary(sign, index, self.at.number(1))

    def after(self, live: Sequence[str], names: Names) -> list[ast.Stmt]:
        """Gives variables what the last iteration leaves in them, where there is one."""
        if not live:
            return []
        at, loop = self.at, self.loop
        last = loop.bound if loop.inclusive else self.back(loop.bound)
        ends = {v: at.name(names.fresh(f"{v}_end"), self.written[v].type) for v in live}
        runs = ast.Binary(loop.comparison, loop.first, loop.bound, loop.type, at.place)
        computed = [at.declare(end, self.now(v, last)) for v, end in ends.items()]
        return [at.when(runs, *computed, *(at.set(self.written[v], end) for v, end in ends.items()))]


def _is_load(node: ast.Expr | ast.Stmt) -> bool:
    return isinstance(node, ast.Subscript | ast.Member) or (isinstance(node, ast.Unary) and node.op == "*")


def _stored(body: Sequence[ast.Stmt]) -> set[str | None]:
    """The arrays that a body stores to; None among them: some that is not known by name."""
    targets = [
        n.target
        for s in body
        for n in ast.walk(s)
        if isinstance(n, ast.Assign | ast.Step) and not isinstance(n.target, ast.Name)
    ]
    return {root_of(t) for t in targets} | ({None} if flow.calls_others(body) else set())
