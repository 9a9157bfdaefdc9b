"""Matrix products through shared memory: a block loads square tiles of both factors and works on them together.

("Shared Memory", CUDA C++ Programming Guide: the blocked matrix product, for factors stored in either order.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from ...tools.c import ast
from . import flow
from .body import BodyPrinter
from .emit import INDENT, Printer
from .indexing import MOST_BLOCKS_Y, Axis, Index, axes, blocks, guarded, stride
from .kernel import Code, Site, launch
from .loops import Loop, counted, statements_of
from .nest import Nest
from .symbolic import Access

TILE = 16


@dataclass(frozen=True)
class Factor:
    """A factor's element in the inner loop. `axis` is the one whose loop it depends on; `along_sum`: its memory runs
    along the sum's loop, so threads next to each other load along that."""

    access: Access
    axis: Axis
    along_sum: bool


@dataclass(frozen=True)
class Product:
    """``before; for (sum) statement; after``, where `statement` adds products of two factors.

    `target` is set where the sum goes to an element of memory, which a register then stands for.
    """

    sum: Loop
    factors: tuple[Factor, ...]
    before: tuple[ast.Stmt, ...]
    statement: ast.Stmt
    after: tuple[ast.Stmt, ...]
    target: ast.Expr | None


def is_product(nest: Nest) -> bool:
    return product_of(nest) is not None


def product_of(nest: Nest) -> Product | None:
    """The product that a nest computes, or None."""
    if len(nest.loops) != 2 or nest.reductions or nest.atomic or any(loop.step != 1 for loop in nest.loops):
        return None
    parts = _parts(nest)
    if parts is None:
        return None
    before, loop, statement, after = parts
    match statement:
        case ast.Evaluate(expression=ast.Assign(op="+=" | "-=", target=target, value=ast.Binary(op="*"))):
            pass
        case _:
            return None
    changing = flow.written(nest.body) | flow.declared_in(nest.body).keys()
    changing |= {parallel.variable for parallel in nest.loops}
    if loop.step != 1 or not changing.isdisjoint(
        flow.names_in([loop.first, loop.bound]).keys() - {loop.variable}
    ):
        return None
    around = (*before, *after)
    if not all(isinstance(s, ast.Declare | ast.Evaluate) for s in around) or any(
        not v.type.scalar for v in flow.declared_in(around).values()
    ):
        return None
    if loop.variable in flow.names_in(after):
        return None
    by_axis = axes(nest)
    factors = [f for f in (_factor(a, loop, by_axis, nest) for a in nest.accesses) if f is not None]
    if sorted(f.axis for f in factors) != ["x", "y"] or not _is_all_factors(statement, loop, factors):
        return None
    memory = None if isinstance(target, ast.Name) else target
    if memory is not None and not _held(memory, loop, nest):
        return None
    return Product(loop, tuple(factors), before, statement, after, memory)


def _parts(nest: Nest) -> tuple[tuple[ast.Stmt, ...], Loop, ast.Stmt, tuple[ast.Stmt, ...]] | None:
    """What stands before the one loop of an iteration, that loop, its one statement, and what stands after it."""
    if nest.inner:
        return ((), nest.inner[0], nest.body[0], ()) if len(nest.inner) == len(nest.body) == 1 else None
    loops = [(i, s) for i, s in enumerate(nest.body) if isinstance(s, ast.For)]
    if len(loops) != 1:
        return None
    at, statement = loops[0]
    loop, inside = counted(statement), statements_of(statement.body)
    if isinstance(loop, str) or len(inside) != 1:
        return None
    return nest.body[:at], loop, inside[0], nest.body[at + 1 :]


def _factor(access: Access, loop: Loop, by_axis: dict[Axis, Loop], nest: Nest) -> Factor | None:
    """A read that depends on the sum's loop and on one of the others, with what it is made of known to every thread."""
    names = flow.names_in([access.expression]).keys()
    loops = {a: parallel for a, parallel in by_axis.items() if parallel.variable in names}
    own = {loop.variable, *(parallel.variable for parallel in nest.loops)}
    if (
        access.kind != "read"
        or loop.variable not in names
        or len(loops) != 1
        or access.conditional
        or access.helper
        or access.location.root in nest.written
        or not (names - own <= nest.names.keys())
        or not access.expression.type.scalar
    ):
        return None
    (axis,) = loops
    along_sum = stride(access, loops[axis]) != 1
    return Factor(access, axis, along_sum)


def _is_all_factors(statement: ast.Stmt, loop: Loop, factors: list[Factor]) -> bool:
    """Whether a statement reads memory, and the sum's variable, in its factors alone: so that all threads may run it,
    on zeros beyond the end."""
    own = {f.access.expression for f in factors}

    def clean(node: ast.Expr | ast.Stmt) -> bool:
        if node in own:
            return True
        if isinstance(node, ast.Subscript | ast.Member) or (isinstance(node, ast.Unary) and node.op == "*"):
            return False
        named = isinstance(node, ast.Name) and node.name == loop.variable
        return not named and all(map(clean, ast.children(node)))

    assert isinstance(statement, ast.Evaluate) and isinstance(statement.expression, ast.Assign)
    return clean(statement.expression.value)


def _held(target: ast.Expr, loop: Loop, nest: Nest) -> bool:
    """Whether an element of memory can be held in a register throughout the sum."""
    place = next(a.location for a in nest.accesses if a.expression == target)
    root = place.root
    others = [a for a in nest.accesses if a.location.root == root and a.location != place]
    return (
        loop.variable not in flow.names_in([target])
        and not others
        and root not in nest.overlapping
        and target.type.scalar
    )


def product_kernel(site: Site) -> Code:
    product = product_of(site.nest)
    assert product is not None
    names = site.names()
    by_axis = axes(site.nest)
    printer = BodyPrinter(site)
    first_sum = names.fresh(f"{product.sum.variable}0")
    y0, register = names.fresh("y0"), names.fresh("total")
    indices = {a: Index(loop, a, names.fresh(f"t{a}"), printer) for a, loop in by_axis.items()}
    tiles = {f: names.fresh(f"{f.access.location.root}_tile") for f in product.factors}
    k = product.sum.variable
    sum_index = Index(product.sum, "x", first_sum, printer)

    spelled: dict[ast.Expr, str] = {
        f.access.expression: tiles[f] + (f"[threadIdx.y][{k}]" if f.axis == "y" else f"[{k}][threadIdx.x]")
        for f in product.factors
    }
    if product.target is not None:
        spelled[product.target] = register
    inner = Printer(spelled.get, site.calls)
    inside = " && ".join(i.inside for i in reversed(indices.values()))

    lines = [site.head(site.kernel, site.parameters()), "{"]
    for f, name in tiles.items():
        lines.append(f"{INDENT}__shared__ {f.access.expression.type.spelling} {name}[{TILE}][{TILE + 1}];")
    lines += site.table_lines(1)
    lines.append(f"{INDENT}{indices['x'].declaration()}")
    y = indices["y"]
    start = y.value(f"(long long)blockIdx.y * {TILE}")
    lines += [
        f"{INDENT}for (long long {y0} = {start}; {y.inside.replace(y.counter, y0, 1)};",
        f"{INDENT}     {y0} += (long long)gridDim.y * {TILE}) {{",
        f"{INDENT * 2}const long long {y.counter} = {y0} + threadIdx.y;",
    ]
    for i in reversed(indices.values()):
        lines += [f"{INDENT * 2}{line}" for line in i.variable()]
    held = ast.Variable(register, product.target.type, y.loop.place) if product.target is not None else None
    lines += [f"{INDENT * 2}{line}" for line in _before(site, product, held, inside)]
    first = printer.expression(product.sum.first)
    lines += [
        f"{INDENT * 2}for (long long {first_sum} = {first}; {sum_index.inside}; {first_sum} += {TILE}) {{",
    ]
    for f, name in tiles.items():
        lines += [f"{INDENT * 3}{line}" for line in _loading(f, name, product, indices, first_sum, y0)]
    lines += [
        f"{INDENT * 3}__syncthreads();",
        f"{INDENT * 3}for (int {k} = 0; {k} < {TILE}; {k}++)",
        *inner.statement(product.statement, 4),
        f"{INDENT * 3}__syncthreads();",
        f"{INDENT * 2}}}",
    ]
    after = printer.statements(product.after, 3)
    if product.target is not None:
        after.insert(0, f"{INDENT * 3}{printer.expression(product.target)} = {register};")
    lines += [*_where(inside, after, 2), f"{INDENT}}}", "}"]

    grid = [blocks(loop, TILE, most=None if a == "x" else MOST_BLOCKS_Y) for a, loop in by_axis.items()]
    run = launch(names, site.kernel, (TILE, TILE), grid, site.arguments())
    return Code(("\n".join(lines),), guarded(site.nest.loops, run.lines))


def _before(site: Site, product: Product, held: ast.Variable | None, inside: str) -> list[str]:
    """Declarations for all threads, and their values for those inside the loops."""
    printer = BodyPrinter(site)
    own = tuple(
        ast.Variable(n.name, n.type, n.place) for n in site.nest.private if n.name != product.sum.variable
    )
    last = () if held is None else (dataclasses.replace(held, init=product.target),)
    place = product.sum.place
    lines: list[str] = []
    statements: list[ast.Stmt] = []
    for statement in (ast.Declare(own, place), *product.before, ast.Declare(last, place)):
        if not isinstance(statement, ast.Declare):
            statements.append(statement)
            continue
        for v in statement.variables:
            type = dataclasses.replace(v.type, const=False)
            known = v.init if isinstance(v.init, ast.Literal) else None
            lines.append(f"{ast.declare(type, v.name)} = {printer.expression(known) if known else 0};")
            if v.init is not None and known is None:
                name = ast.Name(v.name, "local", type, v.place)
                statements.append(ast.Evaluate(ast.Assign("=", name, v.init, type, v.place), v.place))
    return [*lines, *_where(inside, printer.statements(statements, 1), 0)]


def _where(inside: str, lines: list[str], depth: int) -> list[str]:
    """The lines under a condition; none where there are none."""
    pad = INDENT * depth
    if len(lines) < 2:
        return [f"{pad}if ({inside})", *lines] if lines else []
    return [f"{pad}if ({inside}) {{", *lines, f"{pad}}}"]


def _loading(
    factor: Factor, name: str, product: Product, indices: dict[Axis, Index], first_sum: str, y0: str
) -> list[str]:
    """Lines that load a factor's tile, threads along x next to each other in memory."""
    sum_thread, own_thread = (
        ("threadIdx.x", "threadIdx.y") if factor.along_sum else ("threadIdx.y", "threadIdx.x")
    )
    row, column = (own_thread, sum_thread) if factor.axis == "y" else (sum_thread, own_thread)
    outer = {"x": f"{indices['x'].counter} - threadIdx.x", "y": y0}[factor.axis]
    at = {indices[factor.axis].loop: f"{outer} + {own_thread}", product.sum: f"{first_sum} + {sum_thread}"}
    return [f"{name}[{row}][{column}] = {value_at(factor.access.expression, at)};"]


def value_at(expression: ast.Expr, at: Mapping[Loop, str]) -> str:
    """An expression with the given values of loops' variables; 0 where one of them is beyond its loop's end."""
    names = {loop.variable: text for loop, text in at.items()}

    def spelled(node: ast.Expr) -> str | None:
        if isinstance(node, ast.Name) and node.name in names:
            return f"({node.type.spelling})({names[node.name]})"
        return None

    printer = Printer(spelled)
    checks = [f"{text} {loop.comparison} {Index(loop, 'x', '', printer).bound}" for loop, text in at.items()]
    return f"{' && '.join(checks)} ? {printer.expression(expression)} : 0"
