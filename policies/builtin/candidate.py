"""Puts a candidate together: kernels, device functions, and the launcher that keeps the host part."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

from ...tools.c import ast
from ...tools.c.ast import declare
from ...tools.c.library import SPEAKS
from ...tools.records import FunctionSpec
from . import flow
from .callgraph import globals_of, helpers
from .definitions import definitions
from .emit import ASSIGNMENT, INDENT, UNARY, Callee, Printer, folded
from .kernel import BLOCKS, LOAD, STORE, Code, Site, constant, decayed, is_rows, with_const_elements, wrapped
from .nest import Nest
from .plan import Plan
from .refusals import Refused
from .threads import single_kernel
from .tree import CUDA_FUNCTIONS, RESERVED, Names

Calls = dict[str, Callee]

_BLOCKS = f"""\
// How many blocks of the given size cover so many iterations: at least one, at most `most`.
static unsigned int {BLOCKS}(long long iterations, long long size, long long most = 2147483647)
{{
    const long long needed = iterations > size ? (iterations - 1) / size + 1 : 1;
    return (unsigned int)(needed < most ? needed : most);
}}"""

_LOAD = f"""\
// One value from the device.
template <typename T>
static T {LOAD}(const T *address)
{{
    T value;
    cudaMemcpy(&value, address, sizeof(T), cudaMemcpyDeviceToHost);
    return value;
}}"""

_STORE = f"""\
// One value to the device.
template <typename T>
static T {STORE}(T *address, T value)
{{
    cudaMemcpy(address, &value, sizeof(T), cudaMemcpyHostToDevice);
    return value;
}}"""


def assemble(spec: FunctionSpec, plan: Plan, make: Callable[[Site], Code]) -> str:
    """The text of a candidate whose kernels `make` writes, nest by nest."""
    unit = plan.unit
    used = _used_names(unit, spec, plan)
    if clash := used & {BLOCKS, LOAD, STORE}:
        raise Refused("construct", f"the name {min(clash)} is taken", plan.function.place)
    names = Names(used)
    device = helpers(unit, [s for n in plan.nests.values() for s in n.body])
    called = [f for f in helpers(unit, [plan.function.body]) if f in device or f in plan.host_calls]
    calls = {
        name: Callee(
            name=names.fresh(name) if name in RESERVED | CUDA_FUNCTIONS else name,
            parameters=tuple(p.type for p in unit.functions[name].parameters),
            globals=tuple(globals_of(unit, name)),
        )
        for name in called
    }
    codes: dict[ast.For, Code] = {}
    starts = _starts(plan)
    for name, (statement, nest) in zip(kernel_names(spec, plan), plan.nests.items(), strict=True):
        site = _site(spec, plan, nest, names.fresh(name, "_kernel"), frozenset(used), calls)
        if statement in starts:
            site = dataclasses.replace(site, start=starts[statement][1])
        codes[statement] = single_kernel(site) if statement in plan.single else make(site)
    functions = [
        _function(spec, unit, name, calls, on_device=name in device, on_host=name in plan.host_calls)
        for name in called
    ]
    types = definitions(unit, [plan.function, *(unit.functions[f] for f in called)], spec.prelude)
    kernels = dict.fromkeys(text for code in codes.values() for text in code.kernels)
    launcher = _launcher(spec, plan, codes, calls, frozenset(s for s, _ in starts.values()))
    host = [
        text for name, text in ((BLOCKS, _BLOCKS), (LOAD, _LOAD), (STORE, _STORE)) if f"{name}(" in launcher
    ]
    headers = sorted({SPEAKS[f] for f in host_functions(unit, plan) if f in SPEAKS})
    includes = ["\n".join(f"#include <{header}>" for header in headers)] if headers else []
    text = "\n\n".join((*includes, *types, *functions, *kernels, *host, launcher))
    return "".join(f"{folded(line)}\n" for line in text.split("\n"))


def host_functions(unit: ast.Unit, plan: Plan) -> set[str]:
    """The names of what the host part calls, in the functions of the file that it calls too."""
    bodies = [plan.function.body, *(unit.functions[f].body for f in plan.host_calls)]
    return {n.function for body in bodies for n in ast.walk(body) if isinstance(n, ast.Call)}


def _used_names(unit: ast.Unit, spec: FunctionSpec, plan: Plan) -> frozenset[str]:
    """Every name that the candidate could clash with."""
    bodies = [plan.function.body, *(f.body for f in unit.functions.values())]
    return frozenset(
        (
            *(p.name for p in spec.parameters),
            *flow.names_in(bodies),
            *flow.declared_in(bodies),
            *unit.functions,
            *unit.typedefs,
            *unit.structs,
            *(e for values in unit.enums.values() for e, _ in values),
            spec.launcher,
        )
    )


def kernel_names(spec: FunctionSpec, plan: Plan) -> tuple[str, ...]:
    """What the names of each nest's kernels begin with: the function, and where there are several, what is written."""
    names = Names(())

    def name(nest: Nest) -> str:
        subjects = nest.written[:2] or tuple(r.name for r in nest.reductions[:1])
        return names.fresh("_".join((spec.name, *subjects)) if len(plan.nests) > 1 else spec.name)

    return tuple(map(name, plan.nests.values()))


def _site(
    spec: FunctionSpec, plan: Plan, nest: Nest, kernel: str, used: frozenset[str], calls: Calls
) -> Site:
    unit = plan.unit
    returned = plan.returned.get(nest.statement)
    result = next((p for p in spec.parameters if p.origin == "result"), None)
    captured = {k: n for f in helpers(unit, nest.body) for k, n in globals_of(unit, f).items()}
    return Site(
        nest=nest,
        kernel=kernel,
        tables=plan.tables,
        calls=calls,
        globals_called=captured,
        returned=returned.value if returned is not None else None,
        result=result.name if result is not None else "",
        result_type=plan.function.result.spelling,
        order=tuple(p.name for p in spec.parameters),
        used=used,
    )


def _function(
    spec: FunctionSpec,
    unit: ast.Unit,
    name: str,
    calls: Calls,
    *,
    on_device: bool,
    on_host: bool,
) -> str:
    """A helper function, with the globals that it uses as further parameters."""
    function = unit.functions[name]
    space = "__host__ __device__ " if on_device and on_host else "__device__ " if on_device else ""
    own = [declare(decayed(p.type), p.name) for p in function.parameters]
    extra = [_global_parameter(spec, n) for n in globals_of(unit, name).values()]
    head = wrapped(f"static {space}{declare(function.result)} {calls[name].name}(", [*own, *extra], ")")
    body = Printer(calls=calls, result=function.result).statements(function.body.body, 1)
    return "\n".join((head, "{", *body, "}"))


def _global_parameter(spec: FunctionSpec, name: ast.Name) -> str:
    type = decayed(name.type)
    if type.kind == "pointer" and all(p.role == "in" for p in spec.parameters if p.name == name.name):
        type = with_const_elements(type)
    return declare(dataclasses.replace(type, const=False), name.name)


def _starts(plan: Plan) -> dict[ast.For, tuple[ast.Stmt, ast.Expr]]:
    """For nests whose reduction is returned: the statement before that sets its variable to an element of memory, and
    that element, which the host need not wait for where the kernel can read it."""
    found: dict[ast.For, tuple[ast.Stmt, ast.Expr]] = {}
    for block in (n for n in ast.walk(plan.function.body) if isinstance(n, ast.Block)):
        for before, statement in itertools.pairwise(block.body):
            if isinstance(statement, ast.For) and statement in plan.returned and statement not in plan.single:
                nest = plan.nests[statement]
                element = _element_set(before, nest.reductions[0].name)
                if element is not None and _is_readable(element, nest):
                    found[statement] = (before, element)
    return found


def _element_set(statement: ast.Stmt, name: str) -> ast.Expr | None:
    """The element of an array that a statement sets the variable to."""
    match statement:
        case ast.Declare(
            variables=(ast.Variable(name=declared, init=ast.Subscript(base=ast.Name()) as init),)
        ):
            return init if declared == name else None
        case ast.Evaluate(
            expression=ast.Assign(
                op="=", target=ast.Name(name=assigned), value=ast.Subscript(base=ast.Name()) as value
            )
        ):
            return value if assigned == name else None
    return None


def _is_readable(element: ast.Expr, nest: Nest) -> bool:
    """Whether all threads may read an element, of what they have anyway, in place of the reduction's first value."""
    (reduction,) = nest.reductions
    mentioned = flow.names_in([element]).keys()
    plain = not any(isinstance(n, ast.Assign | ast.Step | ast.Call) for n in ast.walk(element))
    around = [e for loop in nest.loops for e in (loop.first, loop.bound)]
    return (
        reduction.neutral is None
        and plain
        and element.type.spelling == reduction.type.spelling
        and mentioned <= nest.names.keys() - {reduction.name, *nest.written, *(n.name for n in nest.private)}
        and reduction.name not in flow.names_in(around)
    )


def _launcher(
    spec: FunctionSpec,
    plan: Plan,
    codes: dict[ast.For, Code],
    calls: Calls,
    dropped: frozenset[ast.Stmt],
) -> str:
    parameters = [p.declaration for p in spec.parameters] or ["void"]
    head = wrapped(f'extern "C" void {spec.launcher}(', parameters, ")")
    printer = _HostPrinter(spec, plan, codes, calls, dropped)
    lines = printer.statements(plan.function.body.body, 1)
    if not lines or lines[-1] != f"{INDENT}return;":
        lines += printer.frees(1)
    else:
        lines.pop()
    return "\n".join((head, "{", *lines, "}"))


class _HostPrinter(Printer):
    """Prints the host part: nests as launches, single elements of arrays as copies from and to the device."""

    def __init__(
        self,
        spec: FunctionSpec,
        plan: Plan,
        codes: dict[ast.For, Code],
        calls: Calls,
        dropped: frozenset[ast.Stmt],
    ) -> None:
        super().__init__(self.memory, calls)
        self.dropped = dropped
        self.plan = plan
        self.codes = codes
        self.rows = {
            n.name for n in flow.names_in([plan.function.body]).values() if is_rows(n) and n.scope != "local"
        }
        self.stored = set(plan.returned.values())
        self.live: list[str] = []
        self.target = next((p for p in spec.parameters if p.origin == "result"), None)

    def statement(self, statement: ast.Stmt, depth: int) -> list[str]:
        pad = INDENT * depth
        if statement in self.dropped:
            return []
        match statement:
            case ast.For() if statement in self.codes:
                return [f"{pad}{line}" for line in self.codes[statement].launch]
            case ast.Return(value=value):
                lines = []
                if value is not None and self.target is not None and statement not in self.stored:
                    type = self.plan.function.result.spelling
                    lines = [f"{pad}{STORE}({self.target.name}, ({type}){self.expression(value, UNARY)});"]
                return [*lines, *self.frees(depth), f"{pad}return;"]
            case ast.Declare(variables=variables):
                kept = tuple(v for v in variables if v.name not in self.plan.scratch)
                made = [v for v in variables if v.name in self.plan.scratch]
                lines = [f"{pad}{text};" for text in self.declarations(kept)] if kept else []
                self.live += [v.name for v in made]
                return [*lines, *(f"{pad}{text}" for v in made for text in self.allocated(v))]
            case ast.Block():
                outer = len(self.live)
                *lines, end = super().statement(statement, depth)
                if not lines or lines[-1].strip() != "return;":
                    lines += [f"{pad}{INDENT}cudaFree({name});" for name in self.live[outer:]]
                del self.live[outer:]
                return [*lines, end]
            case ast.If(then=ast.For() as then) if then in self.codes:
                block = ast.Block((then,), then.place)
                return super().statement(dataclasses.replace(statement, then=block), depth)
        return super().statement(statement, depth)

    def headed(self, head: str, body: ast.Stmt, depth: int) -> list[str]:
        if not isinstance(body, ast.Block):
            body = ast.Block((body,), body.place)
        return super().headed(head, body, depth)

    def declarations(self, variables: tuple[ast.Variable, ...]) -> list[str]:
        return super().declarations(
            tuple(constant(v) if v.name in self.plan.tables else v for v in variables)
        )

    def allocated(self, variable: ast.Variable) -> list[str]:
        """A local array as scratch memory on the device."""
        pointer = decayed(variable.type)
        length = variable.type.length
        count = f"(size_t)({self.expression(length)})" if isinstance(length, ast.Expr) else str(length)
        size = f"{count} * sizeof(*{variable.name})"
        lines = [f"{declare(pointer, variable.name)};", f"cudaMalloc(&{variable.name}, {size});"]
        if variable.init is not None:
            lines.append(f"cudaMemset({variable.name}, 0, {size});")
        return lines

    def frees(self, depth: int) -> list[str]:
        return [f"{INDENT * depth}cudaFree({name});" for name in self.live]

    def memory(self, expression: ast.Expr) -> str | None:
        match expression:
            case ast.Name(name=name, scope="param" | "global") if name in self.rows:
                return f"(({declare(decayed(expression.type))}){name})"
            case ast.Subscript() | ast.Unary(op="*") | ast.Member() if self.on_device(expression):
                if expression.type.kind == "array":
                    return self.raw(expression)
                return f"{LOAD}({self.address(expression)})"
            case ast.Call(function="memcpy", arguments=(to, source, size)):
                moved = ", ".join(self.expression(a, ASSIGNMENT) for a in (to, source, size))
                return f"cudaMemcpy({moved}, cudaMemcpyDeviceToDevice)"
            case ast.Call(function="memset", arguments=arguments):
                return f"cudaMemset({', '.join(self.expression(a, ASSIGNMENT) for a in arguments)})"
            case ast.Unary(op="&", operand=operand) if self.on_device(operand):
                return f"({self.address(operand)})"
            case ast.Assign(op=op, target=target, value=value) if self.on_device(target):
                text = self.expression(value, UNARY)
                type = target.type.spelling
                if op != "=":
                    text = f"({LOAD}({self.address(target)}) {op[:-1]} {text})"
                return f"{STORE}({self.address(target)}, ({type}){text})"
            case ast.Step(op=op, target=target) if self.on_device(target):
                text = f"({target.type.spelling})({LOAD}({self.address(target)}) {op[0]} 1)"
                return f"{STORE}({self.address(target)}, {text})"
        return None

    def on_device(self, lvalue: ast.Expr) -> bool:
        while isinstance(lvalue, ast.Member) and not lvalue.arrow:
            lvalue = lvalue.base
        match lvalue:
            case ast.Subscript(base=base):
                while isinstance(base, ast.Subscript):
                    base = base.base
                return not (isinstance(base, ast.Name) and base.name in self.plan.tables)
            case ast.Unary(op="*") | ast.Member():
                return True
            case _:
                return False

    def address(self, lvalue: ast.Expr) -> str:
        if isinstance(lvalue, ast.Unary):
            return self.expression(lvalue.operand)
        return f"&{self.raw(lvalue)}"

    def raw(self, lvalue: ast.Expr) -> str:
        """The element itself, with what stands inside its subscripts read as ever."""
        if isinstance(lvalue, ast.Member) and not lvalue.arrow:
            return f"{self.raw(lvalue.base)}.{lvalue.field}"
        return self._spelled(lvalue)[0]
