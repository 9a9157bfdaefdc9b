"""How good a plan is, before anything is measured: what runs one after the other counts against it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from ...tools.c import ast
from .nest import Nest

Cost = tuple[float, float, int]


def cost(nests: Mapping[ast.For, Nest], launches: Mapping[ast.For, int], single: Container[ast.For]) -> Cost:
    """How many loops around the innermost statements run one after the other, on average; how many of those on the
    host; and how many kernels there are."""
    paths = []
    for statement, nest in nests.items():
        around = launches[statement]
        for inside in _loop_depths(nest.body):
            serial = around + len(nest.inner) + inside
            parallel = 0 if statement in single else len(nest.loops)
            paths.append((serial + parallel, serial, around))
    most = max((total for total, _, _ in paths), default=0)
    hot = [(serial, launches) for total, serial, launches in paths if total == most]
    ways = max(len(hot), 1)
    return sum(s for s, _ in hot) / ways, sum(n for _, n in hot) / ways, len(nests)


def depth_of(body: Iterable[ast.Stmt]) -> int:
    """How many loops stand around the innermost statement of a body."""
    return max(_loop_depths(body))


def _loop_depths(body: Iterable[ast.Stmt], depth: int = 0) -> list[int]:
    """How deep each innermost loop of a body lies in it; the body itself counts as one where it has no loop."""
    found = []
    for node in body:
        if isinstance(node, ast.For | ast.While):
            found += _loop_depths((node.body,), depth + 1)
        else:
            inner = [c for c in ast.children(node) if isinstance(c, ast.Stmt)]
            if any(isinstance(n, ast.For | ast.While) for c in inner for n in ast.walk(c)):
                found += _loop_depths(inner, depth)
    return found or [depth]
