"""Extents of random loop nests are never too small: what the compiled nests touch tells."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from cudaperf_agent.tools.c.expression import evaluate
from cudaperf_agent.tools.c.extents import uses
from cudaperf_agent.tools.c.parse import SourceError, parse

SIZES = [(n, m, k) for n in (1, 2, 3, 5, 8, 13) for m in (1, 3, 6, 9) for k in (1, 2, 3)]
NESTS = 25

PROBE = """\
#include <stdio.h>
static long last, first;
static int probe(int i) { if (i > last) last = i; if (i < first) first = i; return i < 0 || i > 9999 ? 0 : i; }
static int x[10000];
"""


class Nests:
    """Makes bodies of functions of the integers n, m and k that write into x."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def subscript(self, counters: list[str]) -> str:
        if not counters:
            return self.random.choice(["0", "n - 1", "k"])
        i, j = self.random.choice(counters), self.random.choice(counters)
        forms = (
            *(i, f"{i} + 1", f"n - 1 - {i} + m", f"{i} * m + {j}", f"{i} / 2", f"{i} % m", f"2 * {i} + 1"),
            *(f"({i} + {j}) / 2", f"({i} + 3) % n", f"{i} * ({i} + 1) / 2 + {j}", f"{i} & 7", "c / 2", "c"),
            *(f"({i} < m ? {i} : m - 1)", f"({i} > 2 ? {i} - 2 : 0)", f"(c + {i}) % n"),
        )
        return self.random.choice(forms)

    def loop(self, counters: list[str]) -> str:
        i = "ijp"[len(counters)]
        start = self.random.choice(["0", "0", "1", "2", *counters])
        end = self.random.choice(
            ["n", "m - 1", "n / 2", "n + m", "k", *(f"n - {c}" for c in counters), *counters]
        )
        step = self.random.choice([f"{i}++", f"{i}++", f"{i} += 2", f"{i} += 3", f"{i} += k"])
        body = "".join(self.statement([*counters, i]) for _ in range(self.random.randint(1, 2)))
        match self.random.choice(["up", "up", "down", "while"]):
            case "up":
                return f"for (int {i} = {start}; {i} {self.random.choice(['<', '<='])} {end}; {step}) {{ {body} }}\n"
            case "down":
                return f"for (int {i} = {end} - 1; {i} >= {self.random.choice('01')}; {i}--) {{ {body} }}\n"
            case _:
                return f"{{ int {i} = {start}; while ({i} < {end}) {{ {body} {step}; }} }}\n"

    def statement(self, counters: list[str]) -> str:
        chance = self.random.random()
        if chance < 0.5 and len(counters) < 3:
            return self.loop(counters)
        if chance < 0.65:
            relation = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            inner = f"x[{self.subscript(counters)}] = 1;"
            return f"if ({self.subscript(counters)} {relation} {self.random.choice(['m', 'n', '3'])}) {{ {inner} }}\n"
        if chance < 0.75:
            return self.random.choice(["c++;\n", f"c = {self.subscript(counters)};\n"])
        return f"x[{self.subscript(counters)}] = 1;\n"

    def body(self) -> str:
        return "int c = 0; x[0] = 1;\n" + "".join(self.loop([]) for _ in range(self.random.randint(1, 2)))


def touched(folder: Path, functions: list[str]) -> list[list[tuple[int, int]]]:
    """The first and last element that each function touches, for each of SIZES."""
    calls = "".join(
        f'first = last = 0; f{i}(n, m, k); printf("%ld %ld\\n", first, last);\n' for i in range(NESTS)
    )
    table = ", ".join(f"{{{n}, {m}, {k}}}" for n, m, k in SIZES)
    text = PROBE + "".join(
        re.sub(r"x\[(.*?)\] =", r"x[probe(\1)] =", f.replace(", int *x", "")) for f in functions
    )
    text += f"static const int sizes[][3] = {{{table}}};\nint main(void) {{ for (int s = 0; s < {len(SIZES)}; s++) {{\n"
    text += f"int n = sizes[s][0], m = sizes[s][1], k = sizes[s][2];\n{calls}}} return 0; }}\n"
    (folder / "run.c").write_text(text)
    subprocess.run(["cc", "-O1", "-w", "run.c", "-o", "run"], cwd=folder, check=True)
    printed = subprocess.run([folder / "run"], capture_output=True, text=True, check=True, timeout=60).stdout
    lines = [tuple(map(int, line.split())) for line in printed.splitlines()]
    return [[(first, last) for first, last in lines[i::NESTS]] for i in range(NESTS)]


@pytest.mark.parametrize("seed", [1, 2])
def test_no_extent_is_too_small(tmp_path: Path, seed: int) -> None:
    nests = Nests(seed)
    functions = [f"void f{i}(int n, int m, int k, int *x) {{ {nests.body()} }}\n" for i in range(NESTS)]
    unit = parse("f.c", "".join(functions))
    bounded = 0
    for i, seen in enumerate(touched(tmp_path, functions)):
        try:
            found = uses(unit, unit.functions[f"f{i}"], {})
        except SourceError as problem:
            if "before the start" in problem.message:
                assert min(first for first, _ in seen) < 0, f"{problem}\n{functions[i]}"
            continue
        bounded += 1
        (extent,) = found.arrays["x"].shape
        for (n, m, k), (_, last) in zip(SIZES, seen, strict=True):
            values = {"n": n, "m": m, "k": k}
            limits = {name: found.limits.get(name, (None, None)) for name in values}
            if all(
                (low or 0) <= values[name] <= (high or values[name]) for name, (low, high) in limits.items()
            ):
                assert last < evaluate(extent, values), (
                    f"{extent} for {values}, but {last} in\n{functions[i]}"
                )
    assert bounded > NESTS // 2
