"""What the host part of a candidate can do: arithmetic on numbers, calls of functions of numbers, copies and fills.

Single elements of arrays are read and written by copies; arrays that are local to the function live on the device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tools.c import ast
from ...tools.c.library import PUNS, SPEAKS, is_told
from . import pointers
from .callgraph import called_by, globals_of
from .mathematics import is_library_function
from .refusals import Refused
from .tree import only_read

if TYPE_CHECKING:
    from .plan import Plan


def declare(unit: ast.Unit, plan: Plan, variable: ast.Variable, *, repeated: bool) -> None:
    """Books a local array as scratch memory or as a table; `repeated`: in a loop. Raises Refused."""
    place = variable.place
    if variable.init is not None:
        check(unit, plan, variable.init)
    if variable.type.kind != "array":
        if variable.static and not variable.type.const:
            raise Refused("static-local", f"{variable.name} keeps its value between calls", place)
        if variable.type.kind == "other" or (variable.type.kind == "struct" and not variable.type.fields):
            raise Refused("construct", f"{variable.name} has a type that is not translated", place)
        return
    if variable.init is not None and only_read(variable.name, plan.function.body):
        plan.tables[variable.name] = variable
        return
    if variable.static:
        raise Refused("static-local", f"{variable.name} keeps its values between calls", place)
    zero = isinstance(variable.init, ast.InitList) and all(
        isinstance(i, ast.Literal) and i.value == 0 for i in variable.init.items
    )
    if repeated or (variable.init is not None and not zero):
        message = f"the local array {variable.name} is set up where the host part cannot"
        raise Refused("construct", message, place)
    plan.scratch[variable.name] = variable


def check(unit: ast.Unit, plan: Plan, expression: ast.Expr) -> None:
    """Books the functions that an expression calls on the host. Raises Refused for what the host part cannot do."""
    for node in ast.walk(expression):
        match node:
            case ast.Call(function=name, arguments=arguments) if name in unit.functions:
                if any(a.type.element is not None for a in arguments):
                    message = f"{name} takes pointers and is called outside of any parallel loop"
                    raise Refused("unknown-call", message, node.place)
                if any(n.type.element is not None for n in globals_of(unit, name).values()):
                    message = f"{name} reads global arrays and is called outside of any parallel loop"
                    raise Refused("unknown-call", message, node.place)
                plan.host_calls |= {name, *called_by(unit, name)}
            case ast.Call(function="memcpy" | "memset") if node is expression and _moves_arrays(plan, node):
                pass
            case ast.Call(function=name, arguments=arguments) if name in SPEAKS and all(
                map(is_told, arguments)
            ):
                pass
            case ast.Call(function=name) if name in PUNS or not is_library_function(name):
                raise Refused("unknown-call", f"{name} is not translated", node.place)
            case (
                ast.Assign(target=ast.Name(scope="global", name=name))
                | ast.Step(target=ast.Name(scope="global", name=name))
            ):
                raise Refused("construct", f"the global variable {name} is written", node.place)
            case ast.Subscript() | ast.Unary(op="*") if node.type.kind == "pointer":
                raise Refused("construct", "a pointer is read from memory", node.place)


def spoken(statement: ast.Stmt) -> ast.Call | None:
    """A call in a statement that only the host can make, such as one that prints."""
    calls = (n for n in ast.walk(statement) if isinstance(n, ast.Call))
    return next((call for call in calls if call.function in SPEAKS), None)


def _moves_arrays(plan: Plan, call: ast.Call) -> bool:
    """Whether a copy or fill is of arrays on the device."""
    moved = call.arguments[: 2 if call.function == "memcpy" else 1]
    roots = [pointers.pointed(p) for p in moved]
    return all(r is not None and r not in plan.tables for r in roots)
