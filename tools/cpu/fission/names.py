"""What is known of the names in a kernel: which change, which have one value for a block or a warp."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from ...cuda_source import Source, code, declarator_of, head, items, name_of, walk
from .exchanges import OF_WARP
from .parts import NotSimple, Variable
from .spread import ANY, BLOCK, WARP, Spread, spread_of
from .walking import walking

# Words whose presence means that threads may wait for each other.
WAITING = re.compile(
    r"\b(?:__sync\w+|__shfl\w*|__ballot\w*|__any_sync|__all_sync|__match_\w+|__reduce_\w+|__activemask|__nanosleep"
    r"|cooperative_groups|cg::\w+|\w*sync)\b"
)
# The index of a lane in its warp, where rows are made of whole warps.
LANE = {
    "threadIdx.x%32",
    "threadIdx.x&31",
    "threadIdx.x%warpSize",
    "threadIdx.x&(warpSize-1)",
    "threadIdx.x&0x1f",
}
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Surroundings:
    """What a kernel's file says: its variables that threads may change, its functions that may change what they are
    given by name, and the values of its macros and constants."""

    changing_variables: frozenset[str]
    changing_functions: frozenset[str]
    constants: dict[str, str]


def surroundings(source: Source) -> Surroundings:
    variables = set()
    constants = dict(_MACRO.findall(code(source)))
    for item in items(source):
        words = head(source, item.inner) if item.inner.type == "declaration" else set()
        for declarator in item.inner.children_by_field_name("declarator"):
            name, value = name_of(declarator), declarator.child_by_field_name("value")
            if name is not None and words & {"__device__", "__managed__"}:
                variables.add(source.text(name))
            if name is not None and value is not None and words & {"const", "constexpr"}:
                constants[source.text(name)] = source.text(value)
    functions = set()
    for node in walk(source.root):
        parameters = node.child_by_field_name("parameters") if node.type == "function_declarator" else None
        name = name_of(node) if parameters is not None else None
        if parameters is not None and name is not None and "&" in source.text(parameters):
            functions.add(source.text(name))
    return Surroundings(frozenset(variables), frozenset(functions), constants)


def assigned(source: Source, node: tree_sitter.Node) -> Iterator[str]:
    """Names that something inside assigns, steps, or takes the address of."""
    for inner in walk(node):
        if inner.type in ("assignment_expression", "update_expression", "pointer_expression"):
            target = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
            address = inner.type != "pointer_expression" or source.text(inner).startswith("&")
            if target is not None and target.type == "identifier" and address:
                yield source.text(target)


class Names:
    """The names of one kernel; variables are declared and looked up in nested scopes. Raises NotSimple."""

    def __init__(self, source: Source, function: tree_sitter.Node, around: Surroundings) -> None:
        self.source, self.around = source, around
        body, declarator = (
            function.child_by_field_name("body"),
            declarator_of(function, "function_declarator"),
        )
        if body is None or declarator is None:
            raise NotSimple
        parameters = declarator.child_by_field_name("parameters")
        named = [name_of(p) for p in (parameters.named_children if parameters else ())]
        self.parameters = {source.text(n) for n in named if n is not None}
        lent = set(self._lent(body))
        self.modified = {*assigned(source, body), *lent}
        self.walking = walking(source, body, lent, self.modified, around.changing_variables)
        self.declared = {source.text(n) for d in walk(body) if d.type == "declaration" and (n := name_of(d))}
        self.scopes: list[dict[str, Variable]] = [{}]

    def declare(self, variable: Variable) -> None:
        # What is computed again must mean the same where it stands then.
        if self.lookup(variable.name) is not None or variable.name in self.parameters:
            raise NotSimple
        self.scopes[-1][variable.name] = variable

    def lookup(self, name: str) -> Variable | None:
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def needs(self, node: tree_sitter.Node) -> tuple[Variable, ...]:
        """The variables but for scalars that something mentions."""
        names = dict.fromkeys(self.source.text(n) for n in walk(node) if n.type == "identifier")
        found = (self.lookup(n) for n in names)
        return tuple(v for v in found if v is not None and not v.scalar)

    def is_lasting(self, node: tree_sitter.Node) -> bool:
        """Whether the names that an expression mentions keep their values, or are declared again with them."""
        for name in {self.source.text(n) for n in walk(node) if n.type == "identifier"}:
            variable = self.lookup(name)
            if variable is None and name in self.around.changing_variables | self.modified:
                return False
            if name in self.walking or not (variable is None or variable.computed or variable.scalar):
                return False
            if variable is not None and variable.scalar and variable.spread.over == ANY:
                return False
        return True

    def value_of(self, name: str) -> str:
        """The text of a constant's value, or nothing."""
        variable = self.lookup(name)
        if variable is not None:
            return variable.value if name not in self.modified else ""
        return self.around.constants.get(name, "")

    def means(self, node: tree_sitter.Node) -> str:
        """The text of an expression, without spaces; of a computed variable, that of its value."""
        text = "".join(self.source.text(node).split())
        variable = self.lookup(text)
        return "".join(variable.value.split()) if variable is not None and variable.computed else text

    def type_of(self, node: tree_sitter.Node) -> str:
        """The type of what means the thread's index."""
        variable = self.lookup(self.source.text(node))
        return variable.type if variable is not None else "unsigned int"

    def waits(self, node: tree_sitter.Node) -> bool:
        return bool(WAITING.search(code(self.source, node)))

    def spread(self, node: tree_sitter.Node, *, with_votes: bool = False) -> Spread:
        """How an expression's value spreads. `with_votes`: it stands where whole warps vote."""
        if not self.waits(node):
            return spread_of(self.source, node, self._spread_of_name)
        function = node.child_by_field_name("function")
        if not with_votes or not node.named_children:
            return Spread(ANY)
        if node.type == "call_expression" and function is not None and self.source.text(function) in OF_WARP:
            return Spread(WARP)
        return Spread(max(self.spread(c, with_votes=True).over for c in node.named_children))

    def _spread_of_name(self, name: str) -> Spread:
        variable = self.lookup(name)
        if variable is not None:
            return variable.spread
        unknown = self.declared | self.modified | self.around.changing_variables
        return Spread(ANY if name in unknown else BLOCK)

    def changes(self, node: tree_sitter.Node) -> set[str]:
        """Names whose value may change inside."""
        return {*assigned(self.source, node), *self._lent(node)}

    def _lent(self, node: tree_sitter.Node) -> Iterator[str]:
        """Names whose parts are assigned, or that what may change them gets hold of."""
        for inner in walk(node):
            targets = [inner.child_by_field_name(f) for f in ("left", "argument", "function")]
            whole = [t.child_by_field_name("argument") for t in targets if t and t.type == "field_expression"]
            match inner.type:
                case "assignment_expression" | "update_expression" | "pointer_expression":
                    yield from (self.source.text(w) for w in whole if w)
                case "call_expression":
                    yield from (self.source.text(w) for w in whole if w)
                    yield from self._given_away(inner)
                case "init_declarator" if "&" in self.source.text(inner).partition("=")[0]:
                    value = inner.child_by_field_name("value")
                    if value is not None:
                        yield self.source.text(value)

    def _given_away(self, call: tree_sitter.Node) -> Iterator[str]:
        function, given = (call.child_by_field_name(f) for f in ("function", "arguments"))
        name = self.source.text(function).partition("<")[0] if function else ""
        if given is not None and (name in self.around.changing_functions or not name.isidentifier()):
            yield from (self.source.text(a) for a in given.named_children if a.type == "identifier")
