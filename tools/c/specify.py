"""A C function -> FunctionSpec: the launcher's parameters in the contract's order, and the types that they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..records import Argument, FunctionSpec, Parameter, StructField, StructSpec
from . import ast
from .annotations import Annotation, Role
from .ast import CType
from .calls import global_uses, reached
from .complexes import COMPLEX
from .extents import ArrayUse, Uses, uses
from .parse import SourceError
from .parts import Obstacle, has_pointers, null_test
from .plain import Plain
from .standard import CHARACTERS
from .unsupported import UNSUPPORTED

# Names that are C but no C++, and CUDA's built-in variables.
RESERVED = frozenset(
    """
    alignas alignof and and_eq asm bitand bitor bool catch class compl const_cast constexpr decltype delete
    dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq
    private protected public reinterpret_cast static_assert static_cast template this thread_local throw true try
    typeid typename using virtual wchar_t xor xor_eq
    threadIdx blockIdx blockDim gridDim warpSize
    """.split()  # noqa: SIM905
)

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def specify(
    original: ast.Function, made: Plain, source: str, annotations: Mapping[str, Annotation]
) -> FunctionSpec:
    """What a port of the function must implement, `made` being its unit with plain parameters.

    Parameters whose names C++ reserves get an underscore at their end. Raises SourceError, with the construct's
    name from `UNSUPPORTED`, for what a launcher cannot take yet.
    """
    unit, function = made.unit, made.unit.functions[original.name]
    _refuse(made, function)
    used = uses(unit, function, annotations)
    names = {p.name: _launched(p.name) for p in function.parameters}
    parameters = [
        _array(used.arrays[p.name], names[p.name], used, annotations, names)
        if p.name in used.arrays
        else _scalar(p, names[p.name], used, annotations, names)
        for p in function.parameters
    ]
    parameters = [
        _placed(p, v.name, original, made) for p, v in zip(parameters, function.parameters, strict=True)
    ]
    for group in made.exchanged:
        shapes = {
            p.shape[1:] for p, v in zip(parameters, function.parameters, strict=True) if v.name in group
        }
        if len(shapes) > 1:
            names_ = " and ".join(sorted(group))
            message = f"{names_} take each other's place, and their rows differ in length"
            raise _unsupported(
                "pointer to pointer", min(group), function.place, Obstacle(message, function.place)
            )
    parameters += _globals(unit, function, used, annotations)
    if function.result.kind != "void" and _returns_value(function):
        name = "result" if "result" not in names else "result_"
        parameters.append(
            Parameter(
                name=name,
                declaration=f"{_unqualified(function.result).spelling} *{name}",
                dtype=dtype(function.result),
                role="out",
                shape=("1",),
                origin="result",
                is_pointer=True,
            )
        )
    types = [a.element for a in used.arrays.values()] + [p.type for p in function.parameters]
    given = [*types, *(p.type for p in original.parameters), function.result]
    return FunctionSpec(
        name=function.name,
        line=function.place.line,
        returns=_unqualified(function.result).spelling,
        original_parameters=_parameter_text(original, source),
        parameters=tuple(parameters),
        arguments=tuple(_argument(p, made, {q.name: q for q in parameters}) for p in original.parameters),
        structs=tuple(_struct_spec(s) for s in _structs(types)),
        prelude=_prelude(unit, tuple(_structs(given)), given),
        static=function.static,
        assumptions=(*used.assumptions, *_taken_for_granted(unit, original)),
    )


def _taken_for_granted(unit: ast.Unit, original: ast.Function) -> Iterator[str]:
    """What a port relies on: pointers to something, and the library's functions as they are here."""
    for parameter in original.parameters:
        if any(null_test(node, parameter) is not None for node in ast.walk(original.body)):
            yield f"'{parameter.name}' is not NULL"
    called = {
        node.function
        for function in reached(unit, original.name)
        for node in ast.walk(unit.functions[function].body)
        if isinstance(node, ast.Call)
    }
    if any(c.startswith(f"{kind}_{op}") for c in called for kind in COMPLEX for op in ("mul", "div")):
        yield "complex products and quotients follow the plain formulas, as with -fcx-limited-range"
    if called & {f"c_{name}" for name in CHARACTERS}:
        yield "characters are classified as in the locale 'C'"


def dtype(type: CType) -> str:
    """NumPy's name of a scalar type; a struct's own name."""
    match type.kind:
        case "struct":
            return type.spelling.removeprefix("struct ")
        case "bool":
            return "bool"
        case "float":
            return f"float{8 * (type.size or 0)}"
        case _:
            return f"{'' if type.signed else 'u'}int{8 * (type.size or 0)}"


def _placed(parameter: Parameter, name: str, original: ast.Function, made: Plain) -> Parameter:
    """The parameter, of this name in the unit, with where the original has it."""
    parameter = parameter.model_copy(update={"row_levels": made.levels.get(name, 0)})
    for argument in original.parameters:
        for part in made.parts.get(argument.name, ()):
            if part.name == name:
                inside = part.inside and parameter.is_pointer
                if inside and argument.type.kind == "struct" and parameter.role != "in":
                    raise _unsupported("own copy", part.access, argument.place)
                access = _launched(argument.name).join(part.access.split(argument.name, 1))
                return parameter.model_copy(update={"access": access, "inside": inside})
    return parameter


def _argument(original: ast.Variable, made: Plain, parameters: Mapping[str, Parameter]) -> Argument:
    name, type = _launched(original.name), _unqualified(original.type)
    if original.name in made.parts:
        struct = type.element if type.element is not None else type
        declared, pointer = ast.declare(type, name), type.kind == "pointer"
        return Argument(name=name, declaration=declared, struct=struct.spelling, by_pointer=pointer)
    if parameters[name].row_levels:
        return Argument(name=name, declaration=ast.declare(type, name))
    return Argument(name=name, declaration=parameters[name].declaration)


def _launched(name: str) -> str:
    """What a launcher calls a parameter."""
    return f"{name}_" if name in RESERVED else name


def _refuse(made: Plain, function: ast.Function) -> None:
    unit = made.unit
    if function.result.kind != "void" and not function.result.scalar:
        raise _unsupported("result", function.name, function.place)
    for parameter in function.parameters:
        element = parameter.type.element
        while element is not None and element.kind == "array":
            element = element.element
        obstacle = made.obstacles.get(parameter.name)
        if parameter.type.kind == "struct":
            raise _unsupported("struct value", parameter.name, parameter.place, obstacle)
        if element is not None and element.kind == "pointer":
            raise _unsupported("pointer to pointer", parameter.name, parameter.place, obstacle)
        if element is not None and element.unnamed:
            raise _unsupported("unnamed", parameter.name, parameter.place)
        if element is not None and element.kind == "void":
            raise _unsupported("void pointer", parameter.name, parameter.place)
        for struct in _structs([parameter.type]):
            for label, type, _ in _flat_fields(struct, "", 0):
                if type.kind == "pointer":
                    raise _unsupported("pointer field", f"{dtype(struct)}.{label}", parameter.place, obstacle)
    for name in global_uses(unit, function.name):
        variable = unit.globals.get(name.name)
        if variable is None:
            continue
        if has_pointers(variable.type):
            raise _unsupported("pointer global", name.name, name.place)
        if _innermost(variable.type).unnamed:
            raise _unsupported("unnamed", name.name, name.place)


def _unsupported(key: str, name: str, place: ast.Place, obstacle: Obstacle | None = None) -> SourceError:
    """The refusal of a parameter, with the use of it that is in the way of what would do."""
    message = f"'{name}' is not supported yet: {UNSUPPORTED[key]}"
    if obstacle is not None:
        place = obstacle.place
        message += f", where {obstacle.message}"
    return SourceError(message, place.file, place.line, place.column, "pass plain arrays and numbers instead")


def _returns_value(function: ast.Function) -> bool:
    """Old C leaves the result of a function that has none to be int."""
    return any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(function.body))


def _array(
    array: ArrayUse,
    name: str,
    used: Uses,
    annotations: Mapping[str, Annotation],
    names: Mapping[str, str],
) -> Parameter:
    element = array.element
    declaration = ast.declare(CType("pointer", "", element=element), name)
    if array.scope == "global" and array.role == "in" and not element.const:
        declaration = f"const {declaration}"
    told = annotations.get(array.name)
    if told is None or not (told.low or told.high):
        least, most = used.indices.get(array.name, (None, None))
        told = Annotation(
            array.name, ast.Place("", 0, 0), low=None if least is None else str(least), high=most
        )
    return Parameter(
        name=name,
        declaration=declaration,
        dtype=dtype(element),
        role=array.role,
        shape=tuple(_renamed(extent, names) for extent in array.shape),
        origin="parameter" if array.scope == "param" else "global",
        is_pointer=True,
        **_range(told, names),
    )


def _scalar(
    variable: ast.Variable,
    name: str,
    used: Uses,
    annotations: Mapping[str, Annotation],
    names: Mapping[str, str],
) -> Parameter:
    type = _unqualified(variable.type)
    least, most = used.limits.get(variable.name, (None, None))
    limits = {"low": least, "high": most} | _range(annotations.get(variable.name), names)
    return Parameter(
        name=name,
        declaration=ast.declare(type, name),
        dtype=dtype(type),
        role="in",
        usage=used.usage.get(variable.name, "value") if type.kind != "float" else "value",
        **limits,
    )


def _globals(
    unit: ast.Unit, function: ast.Function, used: Uses, annotations: Mapping[str, Annotation]
) -> list[Parameter]:
    """The globals that the function writes, then those that it only reads."""
    found: list[Parameter] = []
    for name in dict.fromkeys(n.name for n in global_uses(unit, function.name)):
        variable = unit.globals[name]
        if name in used.arrays:
            parameter = _array(used.arrays[name], name, used, annotations, {})
        elif name in used.globals_written:
            role: Role = "inout" if name in used.globals_read else "out"
            array = ArrayUse(name, "global", _unqualified(variable.type), role, ("1",))
            if used.usage.get(name) == "size":
                place = used.globals_written[name]
                message = f"the global '{name}' is written, and the length of an array depends on it"
                raise SourceError(
                    message, place.file, place.line, place.column, "pass the length as a parameter"
                )
            parameter = _array(array, name, used, annotations, {})
        else:
            parameter = _scalar(variable, name, used, annotations, {}).model_copy(update={"origin": "global"})
        shapes = not parameter.shape and used.usage.get(name) == "size"
        if (
            parameter.role == "in"
            and variable.init is not None
            and not shapes
            and not _is_written(unit, name)
        ):
            parameter = parameter.model_copy(update={"fixed": True})
        if name in RESERVED:
            place = variable.place
            message = f"the global '{name}' has a name that C++ reserves"
            raise SourceError(message, place.file, place.line, place.column, "rename it")
        found.append(parameter)
    return sorted(found, key=lambda p: p.role == "in")


def _is_written(unit: ast.Unit, name: str) -> bool:
    """Whether some function of the file may change a global."""
    if name not in unit.globals or any(
        construct for construct in unit.unsupported if construct in unit.calls
    ):
        return not unit.globals[name].type.const and not _constant(unit.globals[name].type)
    return any(
        _root(target) == name
        for function in unit.functions.values()
        for node in ast.walk(function.body)
        for target in _targets(node)
    )


def _targets(node: ast.Expr | ast.Stmt) -> tuple[ast.Expr, ...]:
    match node:
        case ast.Assign(target=target) | ast.Step(target=target) | ast.Unary(op="&", operand=target):
            return (target,)
        case ast.Call(arguments=arguments):
            return tuple(a for a in arguments if a.type.element is not None)
        case _:
            return ()


def _root(expression: ast.Expr) -> str:
    while isinstance(expression, ast.Subscript | ast.Member):
        expression = expression.base
    return expression.name if isinstance(expression, ast.Name) and expression.scope == "global" else ""


def _constant(type: CType) -> bool:
    return _innermost(type).const


def _innermost(type: CType) -> CType:
    """What an array is made of in the end."""
    while type.kind == "array" and type.element is not None:
        type = type.element
    return type


def _range(told: Annotation | None, names: Mapping[str, str]) -> dict[str, Any]:
    """The bounds of an annotation, as a Parameter's fields: numbers, else expressions."""
    bounds: dict[str, Any] = {}
    for field, text in (("low", told.low), ("high", told.high)) if told else ():
        if text is None:
            continue
        try:
            bounds[field] = float(text)
        except ValueError:
            bounds[f"{field}_expr"] = _renamed(text, names)
    return bounds


def _unqualified(type: CType) -> CType:
    return CType(
        type.kind, type.spelling, type.size, type.signed, False, type.element, type.length, type.fields
    )


def _renamed(extent: str, names: Mapping[str, str]) -> str:
    return re.sub(r"[A-Za-z_]\w*", lambda found: names.get(found[0], found[0]), extent)


def _parameter_text(function: ast.Function, source: str) -> str:
    """The parameter list as written, comments left out."""
    head = source.encode()[function.start : function.body_start].decode()
    head = _COMMENT.sub(lambda found: " " * len(found[0]), head)
    named = re.search(rf"\b{function.name}\s*\(", head)
    if named is None:
        return ", ".join(ast.declare(p.type, p.name) for p in function.parameters)
    depth = 1
    for position in range(named.end(), len(head)):
        depth += (head[position] == "(") - (head[position] == ")")
        if depth == 0:
            return " ".join(head[named.end() : position].split())
    return ""


def _structs(types: Iterable[CType]) -> Iterator[CType]:
    """The structs that types need, each after those that it needs itself."""
    seen: set[str] = set()

    def visit(type: CType | None) -> Iterator[CType]:
        if type is None:
            return
        yield from visit(type.element)
        if type.kind == "struct" and type.spelling not in seen:
            seen.add(type.spelling)
            for field in type.fields:
                yield from visit(field.type)
            if not type.unnamed:
                yield type

    for type in types:
        yield from visit(type)


def _struct_spec(struct: CType) -> StructSpec:
    name = dtype(struct)
    fields = []
    for label, type, offset in _flat_fields(struct, "", 0):
        count, element = 1, type
        while element.kind == "array" and isinstance(element.length, int) and element.element is not None:
            count, element = count * element.length, element.element
        fields.append(StructField(name=label, dtype=dtype(element), offset=offset, count=count))
    return StructSpec(name=name, spelling=struct.spelling, size=struct.size or 0, fields=tuple(fields))


def _flat_fields(struct: CType, prefix: str, start: int) -> Iterator[tuple[str, CType, int]]:
    """Fields with those of inner structs in their place: ``position.x``, ``corner[1].x``."""
    for field in struct.fields:
        label, offset = prefix + field.name, start + field.offset
        if field.type.kind == "struct":
            yield from _flat_fields(field.type, f"{label}." if field.name else prefix, offset)
            continue
        element, count = field.type.element, field.type.length
        if field.type.kind == "array" and element is not None and element.kind == "struct":
            for index in range(count if isinstance(count, int) else 0):
                yield from _flat_fields(element, f"{label}[{index}].", offset + index * (element.size or 0))
            continue
        yield label, field.type, offset


def _prelude(unit: ast.Unit, structs: Iterable[CType], types: Iterable[CType]) -> str:
    """Definitions in C and C++ of the structs and enums that the parameters need, with the user's typedefs of them."""
    enums = [t for t in types if t.kind == "enum"]
    enums += [f.type for s in structs for f in s.fields if f.type.kind == "enum"]
    lines = []
    for enum in dict.fromkeys(e.spelling for e in enums):
        name = enum.removeprefix("enum ")
        body = ", ".join(f"{label} = {value}" for label, value in unit.enums.get(name, ()))
        lines.append(f"enum {name} {{ {body} }};" if enum != name else f"typedef enum {{ {body} }} {name};")
    for struct in structs:
        name = dtype(struct)
        fields = "".join(f"    {ast.declare(f.type, f.name)};\n" for f in struct.fields)
        tagged = struct.spelling != name
        lines.append(
            f"{'' if tagged else 'typedef '}struct {name} {{\n{fields}}}{'' if tagged else f' {name}'};"
        )
        for alias, type in unit.typedefs.items():
            if type.kind == "struct" and type.spelling == struct.spelling and alias != struct.spelling:
                lines.append(f"typedef {struct.spelling} {alias};")
    return "\n".join(lines)
