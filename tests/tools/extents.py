"""What the analysis finds of a source's function."""

from __future__ import annotations

from functools import cache

from cudaperf_agent.tools.c.annotations import read_annotations
from cudaperf_agent.tools.c.extents import Uses, uses
from cudaperf_agent.tools.c.parse import parse


@cache
def used(source: str, name: str = "f") -> Uses:
    unit = parse("f.c", source)
    assert name in unit.functions, unit.unsupported
    return uses(unit, unit.functions[name], read_annotations("f.c", source, unit, unit.functions[name]))
