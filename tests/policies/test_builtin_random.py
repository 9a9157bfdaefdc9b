"""Random loop nests: what is called parallel never conflicts, and every port does what its original does.

The first property enumerates all iterations for small sizes and looks for two that conflict; the second runs both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cudaperf_agent.policies.builtin.plan import plan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from porting import Refused, compare, spec_of, unit_of

SIZES = [(n, w) for n in (1, 2, 3, 5, 8) for w in (1, 2, 3, 7)]
OFFSET = 200
LENGTH = 500
COMPARISONS = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])


@dataclass(frozen=True)
class Both:
    """One expression in C and in Python."""

    c: str
    py: str


def divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def both(template: str, *parts: Both, py: str | None = None) -> Both:
    return Both(template.format(*(p.c for p in parts)), (py or template).format(*(p.py for p in parts)))


def variables(names: list[str]) -> st.SearchStrategy[Both]:
    return st.sampled_from(names).map(lambda v: Both(v, v))


def constants(low: int, high: int) -> st.SearchStrategy[Both]:
    return st.integers(low, high).map(lambda k: Both(f"({k})", f"({k})"))


@st.composite
def affine(draw, names: list[str]) -> Both:
    """Sums of multiples of variables, and rows of a flat array of width w."""
    total = draw(constants(-2, 2))
    for name in names:
        factor = draw(st.sampled_from([0, 0, 1, 1, 1, 2, -1]))
        total = both(f"({{0}} + ({factor}) * {name})", total)
    if len(names) > 1 and draw(st.integers(0, 2)) == 0:
        row, column = draw(st.integers(-1, 1)), draw(st.integers(-1, 1))
        text = f"(({names[0]} + ({row})) * w + {names[1]} + ({column}))"
        return Both(text, text)
    return total


@st.composite
def expression(draw, names: list[str], depth: int = 2) -> Both:
    """Anything that an integer can be computed by."""
    kind = draw(st.sampled_from("vvvc+-*/%>&?w" if depth else "vvvc"))
    if kind == "v":
        return draw(variables(names))
    if kind == "c":
        return draw(constants(-3, 3))
    a = draw(expression(names, depth - 1))
    if kind in "+-":
        return both(f"({{0}} {kind} {{1}})", a, draw(expression(names, depth - 1)))
    if kind == "*":
        return both(f"({draw(st.sampled_from([-1, 2, 3]))} * {{0}})", a)
    if kind in "/%":
        k = draw(st.sampled_from([2, 3, 4]))
        python = f"divide({{0}}, {k})" if kind == "/" else f"({{0}} - divide({{0}}, {k}) * {k})"
        return both(f"({{0}} {kind} {k})", a, py=python)
    if kind == ">":
        return both("({0} >> 1)", a)
    if kind == "&":
        return both(f"({{0}} & {draw(st.sampled_from([1, 3, 7]))})", a)
    b = draw(expression(names, depth - 1))
    if kind == "w":
        return both("({0} * w + {1})", a, b)
    op, x, y = draw(COMPARISONS), draw(variables(names)), draw(constants(-1, 3))
    return both(
        f"({{0}} {op} {{1}} ? {{2}} : {{3}})", x, y, a, b, py=f"({{2}} if {{0}} {op} {{1}} else {{3}})"
    )


@dataclass(frozen=True)
class Program:
    """A nest over `names` in C, and in Python as statements that call `touch(array, subscript, writes)`."""

    names: tuple[str, ...]
    c: str
    py: str


@st.composite
def body(draw, names: list[str], depth: int, fresh: list[int]) -> tuple[list[str], list[str]]:
    """Statements: lines of C and lines of Python."""
    c: list[str] = []
    py: list[str] = []
    visible = list(names)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from("tiiflsss") if depth else st.sampled_from("tss"))
        subscript = draw(st.one_of(affine(visible), expression(visible)))
        if kind == "t":
            fresh[0] += 1
            name = f"t{fresh[0]}"
            c.append(f"int {name} = {subscript.c};")
            py.append(f"{name} = {subscript.py}")
            visible.append(name)
        elif kind in "if":
            op, a, b = draw(COMPARISONS), draw(expression(visible, 1)), draw(expression(visible, 1))
            inner_c, inner_py = draw(body(visible, depth - 1, fresh))
            c += [f"if ({a.c} {op} {b.c}) {{", *inner_c, "}"]
            py += [f"if {a.py} {op} {b.py}:", *(f"  {line}" for line in inner_py)]
            if kind == "f":
                inner_c, inner_py = draw(body(visible, depth - 1, fresh))
                c += ["else {", *inner_c, "}"]
                py += ["else:", *(f"  {line}" for line in inner_py)]
        elif kind == "l":
            fresh[0] += 1
            name = f"m{fresh[0]}"
            bound = draw(st.one_of(constants(1, 3), st.just(Both("w", "w"))))
            inner_c, inner_py = draw(body([*visible, name], depth - 1, fresh))
            c += [f"for (int {name} = 0; {name} < {bound.c}; {name}++) {{", *inner_c, "}"]
            py += [f"for {name} in range({bound.py}):", *(f"  {line}" for line in inner_py)]
        else:
            target, source = draw(st.sampled_from("ab")), draw(st.sampled_from("abc"))
            read = draw(st.one_of(affine(visible), expression(visible)))
            value = draw(expression(visible, 1))
            c.append(f"{target}[{subscript.c} + {OFFSET}] = {source}[{read.c} + {OFFSET}] + {value.c};")
            py += [f"touch('{source}', {read.py}, False)", f"touch('{target}', {subscript.py}, True)"]
    return c, py


@st.composite
def program(draw) -> Program:
    names = ["i", "j", "k"][: draw(st.integers(1, 3))]
    heads_c, heads_py = [], []
    for depth, name in enumerate(names):
        low = draw(st.sampled_from(["0", "0", "1", *names[:depth]]))
        high = draw(st.sampled_from(["n", "w", "w", "n - 1", "3", *names[:depth]]))
        step = draw(st.sampled_from([1, 1, 1, 2]))
        heads_c.append(f"for (int {name} = {low}; {name} < {high}; {name} += {step})")
        heads_py.append(f"{' ' * depth}for {name} in range({low}, {high}, {step}):")
    c, py = draw(body(names, 2, [0]))
    pad = " " * len(names)
    python = "\n".join([*heads_py, f"{pad}at[:] = [{', '.join(names)}]", *(f"{pad}{line}" for line in py)])
    source = "\n".join(
        ["void f(int n, int w, int *a, int *b, const int *c) {", " { ".join(heads_c), "{", *c, "}"]
        + ["}"] * len(names)
    )
    return Program(tuple(names), source, python)


def touches(p: Program, n: int, w: int) -> dict[tuple[str, int], list[tuple[tuple[int, ...], bool]]]:
    """Which iterations touch each element, and whether they write it."""
    found: dict[tuple[str, int], list[tuple[tuple[int, ...], bool]]] = {}
    at: list[int] = []

    def touch(array: str, subscript: int, writes: bool) -> None:
        found.setdefault((array, subscript), []).append((tuple(at), writes))

    exec(p.py, {"touch": touch, "divide": divide, "at": at, "n": n, "w": w})  # the program is our own
    return found


def conflicting(p: Program, n: int, w: int, fixed: list[int]) -> set[str]:
    """The loops whose iterations conflict while the loops at the positions in `fixed` stand still."""
    found: set[str] = set()
    for uses in touches(p, n, w).values():
        for one, writes in set(uses):
            for other in {it for it, _ in uses} if writes else ():
                if all(one[f] == other[f] for f in fixed):
                    found |= {name for name, x, y in zip(p.names, one, other, strict=True) if x != y}
    return found


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(program())
def test_what_is_called_parallel_never_conflicts(p):
    try:
        made = plan(unit_of(p.c), spec_of(p.c))
    except Refused:
        return
    if made.rewritten:
        return
    for nest in made.nests.values():
        parallel = {loop.variable for loop in nest.loops}
        inside = parallel | {loop.variable for loop in nest.inner}
        fixed = [i for i, name in enumerate(p.names) if name not in inside]
        for n, w in SIZES:
            assert not parallel & conflicting(p, n, w, fixed), (n, w, p.c)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(program(), st.sampled_from([(1, 2), (3, 3), (4, 6)]))
def test_random_port_does_what_the_original_does(p, sizes):
    rng = np.random.default_rng(5)
    n, w = sizes
    if any(not 0 <= subscript + OFFSET < LENGTH for _, subscript in touches(p, n, w)):
        return
    arrays = {name: rng.integers(-9, 9, LENGTH).astype(np.int32) for name in "abc"}
    try:
        compare(p.c, {"n": n, "w": w, **arrays}, strategies=("naive",))
    except Refused:
        return
