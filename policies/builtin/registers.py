"""Matrix products with sums in registers: a thread works on a square of the result, a block on a larger one.

A value from shared memory then serves as many products as the square has rows or columns. A thread's rows and columns
come in groups of four, so that it reads words of four values, and a warp neighbouring ones. The next tiles are on their
way from memory while a block works on these.
(Volkov and Demmel, "Benchmarking GPUs to Tune Dense Linear Algebra", SC 2008.)
"""

from __future__ import annotations

import dataclasses

from ...tools.c import ast
from . import flow
from .emit import INDENT, Printer
from .indexing import MOST_BLOCKS_Y, Index, axes, blocks, guarded
from .kernel import Code, Site, launch
from .loops import Loop
from .nest import Nest
from .product import Factor, Product, product_of, value_at

LANES, THREADS, DEEP, GROUP = 16, 256, 16, 4
UNROLLED = "#pragma unroll"


def has_square(nest: Nest) -> bool:
    """Whether the nest is a product whose iterations have nothing for themselves but its sum."""
    product = product_of(nest)
    if product is None:
        return False
    own = {n.name for n in nest.private} | flow.declared_in((*product.before, *product.after)).keys()
    return own - {loop.variable for loop in nest.inner} - {product.sum.variable} <= {_name(product)}


def square_kernel(site: Site) -> Code:
    """The kernel and its launch."""
    product = product_of(site.nest)
    assert product is not None, "the strategy applies"
    names = site.names()
    by_axis = axes(site.nest)
    type = dataclasses.replace(_target(product).type, const=False)
    each = 8 if (type.size or 8) <= 4 else 4
    tile = LANES * each
    lane = {"x": names.fresh("column"), "y": names.fresh("row")}
    start = {"x": names.fresh("x0"), "y": names.fresh("y0")}
    k0, k, total, n = (names.fresh(w) for w in ("k0", "k", "total", "n"))
    at = {"x": names.fresh("c"), "y": names.fresh("r")}
    tiles = {f.axis: names.fresh(f"{f.access.location.root}_tile") for f in product.factors}
    waiting = {f.axis: names.fresh(f"{f.access.location.root}_next") for f in product.factors}
    values = {f.axis: names.fresh(f"{f.access.location.root}_value") for f in product.factors}
    factors = {f.axis: f for f in product.factors}

    spelled: dict[ast.Expr, str] = {f.access.expression: f"{values[a]}[{at[a]}]" for a, f in factors.items()}
    element = f"{total}[{at['y']}][{at['x']}]"

    def spell(expression: ast.Expr) -> str | None:
        if expression in spelled:
            return spelled[expression]
        if product.target is not None:
            return element if expression == product.target else None
        return element if isinstance(expression, ast.Name) and expression.name == _name(product) else None

    printer = Printer(spell, site.calls)
    indices = {a: Index(by_axis[a], a, names.fresh(f"t{a}"), printer) for a in ("y", "x")}
    inside = " && ".join(i.inside for i in indices.values())
    places = [
        f"const long long {i.counter} = {start[a]} + {_place(at[a], lane[a], each)};"
        for a, i in indices.items()
    ]
    variables = [line for i in indices.values() for line in i.variable()]

    def everywhere(body: list[str]) -> list[str]:
        """Lines for each element of the square."""
        return [
            UNROLLED,
            f"for (int {at['y']} = 0; {at['y']} < {each}; {at['y']}++) {{",
            f"{INDENT}{UNROLLED}",
            f"{INDENT}for (int {at['x']} = 0; {at['x']} < {each}; {at['x']}++) {{",
            *(f"{INDENT * 2}{line}" for line in body),
            f"{INDENT}}}",
            "}",
        ]

    def reached(then: list[str]) -> list[str]:
        """Lines for an element where the loops reach it."""
        return [*places, f"if ({inside}) {{", *(f"{INDENT}{line}" for line in (*variables, *then)), "}"]

    sum_index = Index(product.sum, "x", k0, printer)
    step = [
        UNROLLED,
        f"for (int {k} = 0; {k} < {DEEP}; {k}++) {{",
        *(f"{INDENT}{f.access.expression.type.spelling} {values[a]}[{each}];" for a, f in factors.items()),
        f"{INDENT}{UNROLLED}",
        f"{INDENT}for (int {n} = 0; {n} < {each}; {n}++) {{",
        *(f"{INDENT * 2}{values[a]}[{n}] = {tiles[a]}[{k}][{_place(n, lane[a], each)}];" for a in factors),
        f"{INDENT}}}",
        *(f"{INDENT}{line}" for line in everywhere(printer.statement(product.statement, 0))),
        "}",
    ]
    e = names.fresh("e")
    part = DEEP * tile // THREADS

    def moved(lines: list[str]) -> list[str]:
        """Lines for each element `e` that a thread carries to the tiles."""
        head = f"const unsigned int {e} = threadIdx.x + {n} * {THREADS};"
        return [
            UNROLLED,
            f"for (int {n} = 0; {n} < {part}; {n}++) {{",
            *(f"{INDENT}{x}" for x in (head, *lines)),
            "}",
        ]

    def loads(at_sum: str) -> list[str]:
        return moved(
            [
                f"{waiting[a]}[{n}] = {_value(f, product.sum, by_axis[a], tile, e, at_sum, start[a])};"
                for a, f in factors.items()
            ]
        )

    stores = [f"{tiles[a]}[{']['.join(_spot(f, tile, e))}] = {waiting[a]}[{n}];" for a, f in factors.items()]
    body = [
        f"{type.spelling} {total}[{each}][{each}];",
        *everywhere([f"{element} = 0;", *reached(_first(product, element, printer))]),
        *(f"{f.access.expression.type.spelling} {waiting[a]}[{part}];" for a, f in factors.items()),
        f"long long {k0} = {printer.expression(product.sum.first)};",
        *loads(k0),
        f"for (; {sum_index.inside}; {k0} += {DEEP}) {{",
        *(
            f"{INDENT}{line}"
            for line in (
                *moved(stores),
                "__syncthreads();",
                *loads(f"{k0} + {DEEP}"),
                *step,
                "__syncthreads();",
            )
        ),
        "}",
        *everywhere(reached(_last(product, element, site))),
    ]
    y = indices["y"]
    lines = [
        site.head(f"__launch_bounds__({THREADS}) {site.kernel}", site.parameters()),
        "{",
        *(
            f"{INDENT}__shared__ __align__(16) {f.access.expression.type.spelling} {tiles[a]}[{DEEP}][{tile + GROUP}];"
            for a, f in factors.items()
        ),
        *site.table_lines(1),
        f"{INDENT}const unsigned int {lane['x']} = threadIdx.x % {LANES}, {lane['y']} = threadIdx.x / {LANES};",
        f"{INDENT}const long long {start['x']} = {indices['x'].value(f'(long long)blockIdx.x * {tile}')};",
        f"{INDENT}for (long long {start['y']} = {y.value(f'(long long)blockIdx.y * {tile}')};",
        f"{INDENT}     {y.inside.replace(y.counter, start['y'], 1)}; {start['y']} += (long long)gridDim.y * {tile}) {{",
        *(f"{INDENT * 2}{line}" for line in body),
        f"{INDENT}}}",
        "}",
    ]
    grid = [blocks(by_axis["x"], tile), blocks(by_axis["y"], tile, most=MOST_BLOCKS_Y)]
    run = launch(names, site.kernel, (THREADS,), grid, site.arguments())
    return Code(("\n".join(lines),), guarded(site.nest.loops, run.lines))


def _target(product: Product) -> ast.Expr:
    """What the sum is added to."""
    assert isinstance(product.statement, ast.Evaluate) and isinstance(
        product.statement.expression, ast.Assign
    )
    return product.statement.expression.target


def _name(product: Product) -> str | None:
    target = _target(product)
    return target.name if isinstance(target, ast.Name) else None


def _place(index: str, lane: str, each: int) -> str:
    """Which row or column of the block's square a thread's own one is."""
    if each == GROUP:
        return f"{lane} * {GROUP} + {index}"
    return f"{index} / {GROUP} * {LANES * GROUP} + {lane} * {GROUP} + {index} % {GROUP}"


def _first(product: Product, element: str, printer: Printer) -> list[str]:
    """Lines that give an element's sum its first value."""
    lines: list[str] = []
    for statement in product.before:
        if isinstance(statement, ast.Declare):
            inits = [v.init for v in statement.variables if v.init is not None]
            lines += [f"{element} = {printer.expression(init)};" for init in inits]
        else:
            lines += printer.statement(statement, 0)
    if product.target is not None:
        lines.append(f"{element} = {Printer(calls=printer.calls).expression(product.target)};")
    return lines


def _last(product: Product, element: str, site: Site) -> list[str]:
    """Lines for an element whose sum is complete."""
    name = _name(product)

    def spell(expression: ast.Expr) -> str | None:
        return element if isinstance(expression, ast.Name) and expression.name == name else None

    printer = Printer(spell, site.calls)
    stored = [] if product.target is None else [f"{printer.expression(product.target)} = {element};"]
    return [*stored, *printer.statements(product.after, 0)]


def _spot(factor: Factor, tile: int, e: str) -> tuple[str, str]:
    """Where a carried element lies in a factor's tile: along the sum, and along its loop. Neighbouring threads carry
    neighbouring elements of memory."""
    return (f"{e} % {DEEP}", f"{e} / {DEEP}") if factor.along_sum else (f"{e} / {tile}", f"{e} % {tile}")


def _value(factor: Factor, sum_: Loop, loop: Loop, tile: int, e: str, at_sum: str, start: str) -> str:
    """A carried element's value."""
    k, own = _spot(factor, tile, e)
    return value_at(factor.access.expression, {loop: f"{start} + {own}", sum_: f"{at_sum} + {k}"})
