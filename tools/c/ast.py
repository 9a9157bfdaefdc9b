"""A small typed syntax tree of C, lowered from libclang after preprocessing.

Every node is frozen and carries the place it came from. Macros are already expanded; implicit casts are
dropped (an expression's ``type`` says what C computes in); parentheses are dropped, since the tree has them.
What the lowering does not cover becomes `tools.c.parse.Unsupported`, never a guess.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from typing import Literal as OneOf

Node = TypeVar("Node", bound=Any)


@dataclass(frozen=True)
class Place:
    """A position in the user's source: 1-based line and column."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Field:
    """A member of a struct; `offset` in bytes. An anonymous member, whose own members count as the struct's, has no
    name.
    """

    name: str
    type: CType
    offset: int


@dataclass(frozen=True)
class CType:
    """A C type. `spelling` is valid C and C++ (typedefs of the user's own resolved where they hide a scalar).

    `size` is in bytes, None where incomplete or variable. `element` is what a pointer or array holds;
    `length` an array's length: a number, an expression for a VLA, None for ``[]``. A parameter keeps the
    array type that it was declared with, although C passes a pointer.
    """

    kind: OneOf["void", "bool", "int", "float", "enum", "pointer", "array", "struct", "other"]
    spelling: str
    size: int | None = None
    signed: bool = True
    const: bool = False
    element: CType | None = None
    length: int | Expr | None = None
    fields: tuple[Field, ...] = ()

    @property
    def scalar(self) -> bool:
        return self.kind in ("bool", "int", "float", "enum")

    @property
    def unnamed(self) -> bool:
        """Whether this is a struct with neither tag nor typedef."""
        return self.kind == "struct" and "(" in self.spelling

    @property
    def members(self) -> tuple[Field, ...]:
        """The fields by the names that C reaches them under: those of anonymous members in their place."""
        found: list[Field] = []
        for own in self.fields:
            inner = own.type.members if not own.name else ()
            found += (Field(f.name, f.type, own.offset + f.offset) for f in inner) if inner else (own,)
        return tuple(found)


def lengths(type: CType | None) -> tuple[Expr, ...]:
    """The lengths in an array's type that are no constants, outermost first."""
    if type is None:
        return ()
    own = () if type.length is None or isinstance(type.length, int) else (type.length,)
    return (*own, *lengths(type.element))


def declare(type: CType, name: str = "") -> str:
    """Declares `name` in C and C++ alike: ``float (*a)[4]``; without a name, spells the type."""
    spelled = name
    while True:
        match type:
            case CType(kind="pointer", element=CType() as element):
                spelled = f"*{'const ' if type.const else ''}{spelled}".rstrip()
                if element.kind == "array":
                    spelled = f"({spelled})"
                type = element
            case CType(kind="array", element=CType() as element):
                length = type.length if isinstance(type.length, int) else ""
                spelled = f"{spelled}[{length}]"
                type = element
            case _:
                base = (
                    f"{'const ' if type.const else ''}{_definition(type) if type.unnamed else type.spelling}"
                )
                return f"{base} {spelled}" if spelled else base


def _definition(struct: CType) -> str:
    """A struct without a name, written out where it is used."""
    return f"struct {{ {' '.join(f'{declare(f.type, f.name)};' for f in struct.fields)} }}"


@dataclass(frozen=True)
class Variable:
    """A parameter, local, global or static; `init` only where the declaration has one."""

    name: str
    type: CType
    place: Place
    init: Expr | None = None
    static: bool = False


# Expressions. `type` is the type after C's promotions and conversions inside the expression.


@dataclass(frozen=True)
class Literal:
    """An integer, floating or character constant, also a folded sizeof; `text` is its C spelling."""

    value: int | float
    text: str
    type: CType
    place: Place


@dataclass(frozen=True)
class Name:
    """A use of a name; `value` is an enumerator's."""

    name: str
    scope: OneOf["param", "local", "global", "enum", "function"]
    type: CType
    place: Place
    value: int | None = None


@dataclass(frozen=True)
class Subscript:
    base: Expr
    index: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Member:
    base: Expr
    field: str
    arrow: bool
    type: CType
    place: Place


@dataclass(frozen=True)
class Unary:
    op: OneOf["-", "+", "!", "~", "*", "&"]
    operand: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Binary:
    """`op` is any of C's binary operators that assign nothing, the comma included."""

    op: str
    left: Expr
    right: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Assign:
    """`op` is ``=`` or a compound one such as ``+=``."""

    op: str
    target: Expr
    value: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Step:
    """``++`` or ``--``, before (`prefix`) or after its target."""

    op: OneOf["++", "--"]
    prefix: bool
    target: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Conditional:
    condition: Expr
    then: Expr
    otherwise: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Cast:
    """An explicit cast."""

    operand: Expr
    type: CType
    place: Place


@dataclass(frozen=True)
class Call:
    """A call of a named function; calls through pointers are unsupported."""

    function: str
    arguments: tuple[Expr, ...]
    type: CType
    place: Place


@dataclass(frozen=True)
class InitList:
    items: tuple[Expr, ...]
    type: CType
    place: Place


Expr = (
    Literal
    | Name
    | Subscript
    | Member
    | Unary
    | Binary
    | Assign
    | Step
    | Conditional
    | Cast
    | Call
    | InitList
)


# Statements.


@dataclass(frozen=True)
class Block:
    body: tuple[Stmt, ...]
    place: Place


@dataclass(frozen=True)
class Declare:
    variables: tuple[Variable, ...]
    place: Place


@dataclass(frozen=True)
class Evaluate:
    """An expression statement."""

    expression: Expr
    place: Place


@dataclass(frozen=True)
class If:
    condition: Expr
    then: Stmt
    otherwise: Stmt | None
    place: Place


@dataclass(frozen=True)
class For:
    init: Stmt | None
    condition: Expr | None
    step: Expr | None
    body: Stmt
    place: Place


@dataclass(frozen=True)
class While:
    """``while``; with `test_after`, ``do``-``while``."""

    condition: Expr
    body: Stmt
    test_after: bool
    place: Place


@dataclass(frozen=True)
class Return:
    value: Expr | None
    place: Place


@dataclass(frozen=True)
class Jump:
    kind: OneOf["break", "continue"]
    place: Place


Stmt = Block | Declare | Evaluate | If | For | While | Return | Jump


@dataclass(frozen=True)
class Function:
    """A function definition; `start` and `end` are byte offsets of the whole definition in its file."""

    name: str
    result: CType
    parameters: tuple[Variable, ...]
    body: Block
    place: Place
    start: int
    end: int
    body_start: int
    static: bool = False


@dataclass(frozen=True)
class Unit:
    """One C file after preprocessing: what it defines itself, and what it takes from its headers.

    `unsupported` names, for functions and globals that could not be lowered, the construct and its place.
    `pragmas` are the ``#pragma omp`` lines of the file itself: line number and text after ``omp``.
    `typedefs` and `enums` (by tag or typedef name, each a tuple of enumerators and values) come from the
    user's own files. `calls` names the functions that each definition calls, lowered or not.
    """

    path: str
    functions: dict[str, Function]
    globals: dict[str, Variable]
    structs: dict[str, CType]
    unsupported: dict[str, tuple[str, Place]]
    pragmas: tuple[tuple[int, str], ...] = ()
    typedefs: dict[str, CType] = field(default_factory=dict)
    enums: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    calls: dict[str, tuple[str, ...]] = field(default_factory=dict)


def children(node: Expr | Stmt) -> tuple[Expr | Stmt, ...]:
    """The direct sub-expressions and sub-statements of a node, in source order."""
    match node:
        case Subscript(base=a, index=b) | Binary(left=a, right=b) | Assign(target=a, value=b):
            return (a, b)
        case Member(base=a) | Unary(operand=a) | Cast(operand=a) | Step(target=a) | Evaluate(expression=a):
            return (a,)
        case Conditional(condition=a, then=b, otherwise=c):
            return (a, b, c)
        case Call(arguments=items) | InitList(items=items):
            return items
        case Block(body=body):
            return body
        case Declare(variables=variables):
            return tuple(v.init for v in variables if v.init is not None)
        case If(condition=a, then=b, otherwise=c):
            return (a, b) if c is None else (a, b, c)
        case For(init=a, condition=b, step=c, body=d):
            return tuple(x for x in (a, b, c, d) if x is not None)
        case While(condition=a, body=b, test_after=after):
            return (b, a) if after else (a, b)
        case Return(value=a):
            return () if a is None else (a,)
        case _:
            return ()


def walk(node: Expr | Stmt):
    """The node and everything below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def rebuild(node: Node, change: Callable[[Any], Any]) -> Node:
    """The node with `change` applied to each of its direct children, variables among them."""
    changed = {}
    for part in dataclasses.fields(node):
        value = getattr(node, part.name)
        if isinstance(value, tuple):
            new = tuple(change(item) if _is_node(item) else item for item in value)
            if any(a is not b for a, b in zip(new, value, strict=True)):
                changed[part.name] = new
        elif _is_node(value):
            new = change(value)
            if new is not value:
                changed[part.name] = new
    return dataclasses.replace(node, **changed) if changed else node


def _is_node(value: object) -> bool:
    return isinstance(value, Expr | Stmt | Variable)
