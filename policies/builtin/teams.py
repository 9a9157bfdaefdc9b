"""A team of threads for each iteration of a nest with loops inside: they share those loops, and join what they sum up.

A whole warp where neighbours inside a loop lie next to each other in memory (a matrix times a vector); else a part of
one, so that neighbouring iterations of the nest lie next to each other in the rest of it.
(Bell and Garland, "Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors", SC 2009.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial

from ...tools.c import ast
from . import flow
from .body import BodyPrinter
from .build import At
from .emit import INDENT
from .indexing import Index, count_of, guarded, stride
from .kernel import BLOCKS, Code, Site, launch
from .loops import Loop, statements_of
from .mathematics import is_library_function
from .nest import Nest, Surroundings, shared_loop
from .promotion import promoted
from .reduce import word
from .reduction import Reduction
from .refusals import Refused
from .tree import Names, root_of

WARP, SECTOR = 32, 32
BLOCK = 256


@dataclasses.dataclass(frozen=True)
class Shared:
    """A loop that the members of a team share, with what it reduces; `stores`: it writes to memory."""

    loop: Loop
    reductions: tuple[Reduction, ...]
    stores: bool


@dataclasses.dataclass(frozen=True)
class Team:
    """What an iteration does, part by part: shared loops, statements of all members, and those of the first alone."""

    size: int
    parts: tuple[Shared | ast.Stmt, ...]


def with_team(nest: Nest, around: Surroundings) -> Nest:
    """The nest with the team that could run each of its iterations, where one could."""
    if len(nest.loops) != 1 or nest.reductions or nest.atomic or nest.scans or nest.overlapping:
        return nest
    body = tuple(s.statement for s in nest.inner) if nest.inner else nest.body
    if len(body) != 1 and nest.inner:
        return nest
    names = Names((*flow.names_in(nest.body), *flow.declared_in(nest.body), *nest.names))
    parts: list[Shared | ast.Stmt] = []
    inside = dataclasses.replace(around, outer=(*around.outer, *nest.loops))
    flat = _flat(body, inside, names)
    accesses = []
    for position, statement in enumerate(flat):
        if not isinstance(statement, ast.For):
            if not _is_plain(statement):
                return nest
            parts.append(statement)
            continue
        alive = dataclasses.replace(inside, live_after=partial(_is_live, flat[position + 1 :], around))
        try:
            own = shared_loop(statement, alive)
        except Refused:
            if _stores(statement) or any(isinstance(n, ast.Return) for n in ast.walk(statement)):
                return nest
            parts.append(statement)
            continue
        if own.atomic or own.scans or any(r.operator.startswith("=") for r in own.reductions):
            return nest
        accesses += [(a, own.loops[0]) for a in own.accesses]
        parts.append(Shared(own.loops[0], own.reductions, bool(own.written)))
    if not any(isinstance(p, Shared) for p in parts):
        return nest
    inner = sum(stride(a, loop) == 1 for a, loop in accesses)
    outer = sum(stride(a, nest.loops[0]) == 1 for a, _ in accesses)
    widest = max((a.expression.type.size or 8 for a, _ in accesses), default=8)
    size = WARP if inner >= outer else max(2, WARP * widest // SECTOR)
    return dataclasses.replace(nest, team=Team(size, tuple(parts)))


def _is_live(rest: Sequence[ast.Stmt], around: Surroundings, name: str) -> bool:
    return flow.Use(name, rest).exposed or around.live_after(name)


def _flat(body: Sequence[ast.Stmt], around: Surroundings, names: Names) -> list[ast.Stmt]:
    """The statements without blocks around them, and sums in memory with a variable in its place."""
    flat: list[ast.Stmt] = []
    for statement in body:
        if isinstance(statement, ast.Block):
            flat += _flat(statement.body, around, names)
        elif isinstance(statement, ast.For) and (parts := _with_known_bounds(statement, names)):
            flat += _flat(parts, around, names)
        elif (
            isinstance(statement, ast.For)
            and (block := promoted(statement, around.overlap, names)) is not None
        ):
            flat += _flat(_unguarded(block), around, names)
        else:
            flat.append(statement)
    return flat


def _with_known_bounds(statement: ast.For, names: Names) -> tuple[ast.Stmt, ...]:
    """A loop whose bounds are read from memory that it does not change, behind variables that hold them; else none."""
    match statement:
        case ast.For(
            init=ast.Declare(variables=(ast.Variable(init=first) as variable,)),
            condition=ast.Binary(left=ast.Name() as tested, right=bound) as condition,
        ) if first is not None and tested.name == variable.name:
            pass
        case _:
            return ()
    loads = [n for e in (first, bound) for n in ast.walk(e) if isinstance(n, ast.Subscript | ast.Member)]
    written = {
        root_of(n.target)
        for n in ast.walk(statement.body)
        if isinstance(n, ast.Assign | ast.Step) and not isinstance(n.target, ast.Name)
    }
    if not loads or None in written or written & {root_of(n) for n in loads}:
        return ()
    at = At(statement.place)
    ends = [
        at.name(names.fresh(f"{variable.name}_{word}"), e.type)
        for word, e in (("first", first), ("end", bound))
    ]
    known = dataclasses.replace(
        statement,
        init=at.declare(at.name(variable.name, variable.type), ends[0]),
        condition=dataclasses.replace(condition, right=ends[1]),
    )
    return at.declare(ends[0], first), at.declare(ends[1], bound), known


def _unguarded(block: ast.Block) -> list[ast.Stmt]:
    """A promoted loop that every member reaches, whether it runs or not."""
    (guard,) = block.body
    assert isinstance(guard, ast.If), "a promoted loop stands behind a test"
    declare, loop, store = statements_of(guard.then)
    assert isinstance(declare, ast.Declare) and isinstance(store, ast.Stmt)
    (variable,) = declare.variables
    at = At(declare.place)
    zero = ast.Literal(0, "0", variable.type, declare.place)
    assert variable.init is not None
    first = ast.Conditional(guard.condition, variable.init, zero, variable.type, declare.place)
    return [at.declare(at.name(variable.name, variable.type), first), loop, at.when(guard.condition, store)]


def _is_plain(statement: ast.Stmt) -> bool:
    """Whether a statement either only computes variables, or only stores to memory."""
    if any(
        isinstance(n, ast.For | ast.While | ast.Jump | ast.Return)
        or (isinstance(n, ast.Call) and not is_library_function(n.function))
        for n in ast.walk(statement)
    ):
        return False
    return not (_stores(statement) and (flow.written([statement]) or flow.declared_in([statement])))


def _stores(statement: ast.Stmt) -> bool:
    return any(
        isinstance(n, ast.Assign | ast.Step) and not isinstance(n.target, ast.Name)
        for n in ast.walk(statement)
    )


def has_team(nest: Nest) -> bool:
    return nest.team is not None


def team_kernel(site: Site) -> Code:
    """The kernel and its launch. Teams without an iteration leave; the mask names the lanes of a warp that stay."""
    nest, team = site.nest, site.nest.team
    assert team is not None, "the strategy applies to nests with a team"
    names, printer = site.names(), BodyPrinter(site)
    own = Names((*site.used, *flow.declared_in(p for p in team.parts if not isinstance(p, Shared))))
    t, member, mask, count = (own.fresh(n) for n in ("t", "member", "mask", "count"))
    loop, width = nest.loops[0], WARP // team.size
    first = f"((long long)blockIdx.x * blockDim.x + threadIdx.x) / {WARP}"
    if width > 1:
        first = f"{first} * {width} + threadIdx.x % {width}"
    value = Index(loop, "x", t, printer).value(t)
    lines = [
        site.head(site.kernel, site.parameters([f"long long {count}"])),
        "{",
        *site.table_lines(1),
        f"{INDENT}const long long {t} = {first};",
        f"{INDENT}const int {member} = threadIdx.x % {WARP}{f' / {width}' if width > 1 else ''};",
        f"{INDENT}const unsigned int {mask} = __ballot_sync(0xffffffff, {t} < {count});",
        f"{INDENT}if ({t} >= {count})",
        f"{INDENT * 2}return;",
        f"{INDENT}const {loop.type.spelling} {loop.variable} = ({loop.type.spelling})({value});",
    ]
    private = [ast.Variable(n.name, dataclasses.replace(n.type, const=False), n.place) for n in nest.private]
    lines += [f"{INDENT}{line};" for v in private for line in printer.declarations((v,))]
    for part in team.parts:
        if isinstance(part, Shared):
            lines += _shared_lines(part, printer, member, mask, width, own)
        elif _stores(part):
            lines += [f"{INDENT}if ({member} == 0) {{", *printer.statement(part, 2), f"{INDENT}}}"]
            lines.append(f"{INDENT}__syncwarp({mask});")
        else:
            lines += printer.statement(part, 1)
    while lines[-1] == f"{INDENT}__syncwarp({mask});":
        lines.pop()
    iterations = names.fresh("iterations")
    run = launch(
        names,
        site.kernel,
        (BLOCK,),
        [f"{BLOCKS}({iterations}, {BLOCK // team.size})"],
        site.arguments([iterations]),
    )
    launched = (f"const long long {iterations} = {count_of(loop)};", *run.lines)
    functions = dict.fromkeys(
        _join_text(r) for p in team.parts if isinstance(p, Shared) for r in p.reductions
    )
    return Code((*functions, "\n".join([*lines, "}"])), guarded([loop], launched))


def _shared_lines(
    part: Shared, printer: BodyPrinter, member: str, mask: str, width: int, names: Names
) -> list[str]:
    loop, lines, after = part.loop, [], []
    for r in part.reductions:
        type, total = r.type.spelling, f"{_join(r)}({r.name}, {width}, {mask})"
        if r.neutral is None:
            after.append(f"{r.name} = {total};")
            continue
        before = names.fresh(f"{r.name}_before")
        lines += [f"const {type} {before} = {r.name};", f"{r.name} = {r.neutral};"]
        after += [f"{r.name} = {total};", f"{r.name} = {r.joined(before, r.name)};"]
    first = printer.expression(loop.first)
    by = WARP // width * abs(loop.step)
    step = "" if abs(loop.step) == 1 else f"{abs(loop.step)} * "
    begin = (
        f"{member}"
        if first == "0" and loop.step > 0
        else f"{first} {'+' if loop.step > 0 else '-'} {step}{member}"
    )
    type = loop.type.spelling
    head = (
        f"for ({type} {loop.variable} = {begin}; "
        f"{loop.variable} {loop.comparison} {printer.expression(loop.bound, 9)}; "
        f"{loop.variable} {'+' if loop.step > 0 else '-'}= {by}) {{"
    )
    body = printer.statements(statements_of(loop.statement.body), 2)
    lines += [head, *(line.removeprefix(INDENT) for line in body), "}"]
    lines += after
    if part.stores:
        lines.append(f"__syncwarp({mask});")
    return [f"{INDENT}{line}" for line in lines]


def _join(reduction: Reduction) -> str:
    return f"team_{word(reduction)}"


def _join_text(r: Reduction) -> str:
    """A device function that joins the values of a team's members: lanes `width` apart."""
    type = r.type.spelling
    narrow = "(int)" if (r.type.size or 4) < 4 else ""
    return f"""\
// What the members of a team have, joined; they are the lanes `width` apart.
static __device__ {type} {_join(r)}({type} value, int width, unsigned int mask)
{{
    for (int offset = width; offset < {WARP}; offset *= 2) {{
        const {type} other = __shfl_xor_sync(mask, {narrow}value, offset);
        value = {r.joined("value", "other")};
    }}
    return value;
}}"""
