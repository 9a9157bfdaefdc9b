"""Loop fission: a kernel with barriers as loops over its block's threads, one for each stretch between barriers.

Where barriers stand at the top of the kernel, or in loops that all threads of a block run alike, no thread needs a
stack of its own: each stretch becomes a loop over the threads, and a variable that lives across a barrier becomes an
array with an element a thread. Whatever is not known to be of that shape stays with fibers.
(The technique: Stratton et al., "MCUDA: An Efficient Implementation of CUDA Kernels for Multi-core CPUs", LCPC 2008;
Jaaskelainen et al., "pocl: A Performance-Portable OpenCL Implementation", IJPP 2015.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import tree_sitter

from ..cuda_source import Item, Source, declarator_of, head, line_at, name_of, walk

PREFIX = "cudaperf_whole_"
# Words whose presence means that threads may wait for each other.
WAITING = re.compile(
    r"\b(?:__sync\w+|__shfl\w*|__ballot\w*|__any_sync|__all_sync|__match_\w+|__reduce_\w+|__activemask|__nanosleep"
    r"|cooperative_groups|cg::\w+|\w*sync)\b"
)
_BARRIER = "__syncthreads"
_LOOPS = ("for_statement", "while_statement", "do_statement", "switch_statement", "for_range_loop")
_NOT_SIMPLE = (
    "return_statement",
    "goto_statement",
    "labeled_statement",
    "lambda_expression",
    "try_statement",
)
_BUILT_IN = {"blockIdx", "blockDim", "gridDim", "warpSize"}
_PURE = {"min", "max"}


class NotSimple(Exception):
    """The kernel is not of the shape that can be taken apart."""


@dataclass
class Variable:
    """A variable of each thread: its declaration's type and declarator, and the storage's name once it needs one."""

    name: str
    type: str
    declarator: str
    value: str
    line: int
    storage: str = ""


@dataclass
class Region:
    """Statements between barriers, and the variables that they declare. A statement is a node or a variable."""

    statements: list[tree_sitter.Node | list[Variable]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)


@dataclass
class Loop:
    """A loop that the whole block runs alike."""

    heading: str
    line: int
    body: list[Part]


@dataclass
class Text:
    """What the block does once."""

    text: str
    line: int


Part = Region | Loop | Text


def whole_block(source: Source, item: Item, shared: Callable[[tree_sitter.Node], str], file: str) -> str:
    """C++ of a function that runs a whole block of the kernel, to stand behind its definition. Raises NotSimple.

    `shared` gives the C++ of a ``__shared__`` declaration.
    """
    return _Fission(source, item, shared, file).text()


class _Fission:
    def __init__(
        self, source: Source, item: Item, shared: Callable[[tree_sitter.Node], str], file: str
    ) -> None:
        self.source = source
        self.shared = shared
        self.file = file
        self.template = item.outer if item.is_template else None
        self.function = item.inner
        body = self.function.child_by_field_name("body")
        declarator = declarator_of(item.inner, "function_declarator")
        if body is None or declarator is None or self.function.type != "function_definition":
            raise NotSimple
        self.body, self.declarator = body, declarator
        if any(n.type in _NOT_SIMPLE for n in walk(body)):
            raise NotSimple
        parameters = declarator.child_by_field_name("parameters")
        self.parameters = parameters
        named = [name_of(p) for p in (parameters.named_children if parameters else ())]
        given = {source.text(n) for n in named if n is not None}
        self.modified = set(self._modified(body))
        if given & self.modified:  # each thread has parameters of its own
            raise NotSimple
        self.declared = {source.text(n) for d in walk(body) if d.type == "declaration" and (n := name_of(d))}
        self.uniform = (given - self.modified) | _BUILT_IN

    def text(self) -> str:
        parts = self.parts(self.body)
        self.expand(parts)
        parameters = self.source.text(self.parameters)[1:-1].strip() if self.parameters else ""
        hidden = "CUDAPERF_BLOCK" + (f", {parameters}" if parameters not in ("", "void") else "")
        name = name_of(self.declarator)
        assert name is not None
        if self.template is not None:
            heading = self.source.data[self.template.start_byte : self.function.start_byte].decode()
        else:
            heading = ""
        storage = " ".join(f"{v.type} {v.declarator};" for v in self.expanded)
        body = "".join(self.emitted(parts))
        line = line_at(self.source.data[: self.function.end_byte].decode(errors="replace"))
        return (
            f"\n{' '.join(heading.split())} static void {PREFIX}{self.source.text(name)}({' '.join(hidden.split())}) "
            f'{{ {storage}{body}\n}}\n#line {line} "{self.file}"\n'
        )

    def parts(self, block: tree_sitter.Node) -> list[Part]:
        """The statements of a block that all threads run alike."""
        parts: list[Part] = []
        region = Region()

        def flush() -> None:
            nonlocal region
            if region.statements:
                parts.append(region)
            region = Region()

        for node in block.named_children:
            if node.type == "comment":
                continue
            if self.is_barrier(node):
                flush()
                parts.append(Text("cudaperf_whole_barrier();", self.line(node)))
            elif self.waits(node):
                flush()
                parts.append(self.loop(node))
            elif node.type == "declaration" and "__shared__" in head(self.source, node):
                parts.append(Text(self.shared(node), self.line(node)))
            elif node.type in (
                "type_definition",
                "alias_declaration",
                "using_declaration",
                "static_assert_declaration",
            ):
                parts.append(Text(self.source.text(node), self.line(node)))
            elif node.type == "declaration":
                self.declaration(node, region, parts)
            elif node.type.startswith("preproc") or self.leaves(node):
                raise NotSimple
            else:
                region.statements.append(node)
                region.names |= self.names(node)
        flush()
        return parts

    def declaration(self, node: tree_sitter.Node, region: Region, parts: list[Part]) -> None:
        """A declaration of the kernel's: once for the block where its value is the same for all threads."""
        words = head(self.source, node)
        declarators = node.children_by_field_name("declarator")
        if words & {"constexpr", "static"}:
            parts.append(Text(self.source.text(node), self.line(node)))
            return
        names = [self.source.text(n) if (n := name_of(d)) else "" for d in declarators]
        plain = all(
            d.type == "init_declarator" and self.is_uniform(d.child_by_field_name("value"))
            for d in declarators
        )
        pointers = any("*" in self.source.text(d).partition("=")[0] for d in declarators)
        integers = words & {"int", "unsigned", "size_t", "long"} and not pointers
        if plain and integers and not self.modified & set(names):
            parts.append(Text(self.source.text(node), self.line(node)))
            self.uniform |= set(names)
            return
        variables = [self.variable(node, d) for d in declarators]
        region.statements.append(variables)
        region.names |= self.names(node)

    def variable(self, node: tree_sitter.Node, declarator: tree_sitter.Node) -> Variable:
        type_ = self.source.data[
            node.start_byte : node.children_by_field_name("declarator")[0].start_byte
        ].decode()
        value = ""
        inner = declarator
        if declarator.type == "init_declarator":
            given = declarator.child_by_field_name("value")
            assert given is not None
            value = self.source.text(given)
            inner = declarator.child_by_field_name("declarator") or declarator
            if "=" not in self.source.text(declarator)[: given.start_byte - declarator.start_byte]:
                value = f"{{{value.strip('(){}')}}}"
        name = name_of(inner)
        if name is None:
            raise NotSimple
        return Variable(
            self.source.text(name), " ".join(type_.split()), self.source.text(inner), value, self.line(node)
        )

    def loop(self, node: tree_sitter.Node) -> Loop:
        if node.type != "for_statement":
            raise NotSimple
        first, condition, update = (
            node.child_by_field_name(f) for f in ("initializer", "condition", "update")
        )
        body = node.child_by_field_name("body")
        if body is None or body.type != "compound_statement" or first is None or first.type != "declaration":
            raise NotSimple
        declarators = first.children_by_field_name("declarator")
        names = {self.source.text(n) for d in declarators if (n := name_of(d)) is not None}
        values = [d.child_by_field_name("value") for d in declarators]
        if not all(map(self.is_uniform, values)) or names & set(self._modified(body)) or names & self.uniform:
            raise NotSimple
        self.uniform |= names
        if not self.is_uniform(condition) or not self.is_uniform(update, updating=True):
            raise NotSimple
        heading = self.source.data[node.start_byte : body.start_byte].decode()
        inner = self.parts(body)
        self.uniform -= names
        return Loop(" ".join(heading.split()), self.line(node), inner)

    def expand(self, parts: list[Part]) -> None:
        """Gives storage to the variables that more than one region mentions."""
        regions = list(_regions(parts))
        self.expanded: list[Variable] = []
        declared: set[str] = set()
        for region in regions:
            for variables in (s for s in region.statements if isinstance(s, list)):
                for variable in variables:
                    if variable.name in declared:
                        raise NotSimple
                    declared.add(variable.name)
                    if any(variable.name in r.names for r in regions if r is not region):
                        self.expanded.append(self.stored(variable))

    def stored(self, variable: Variable) -> Variable:
        """The variable with its storage: an array with one more dimension, over the block's threads."""
        words = set(re.findall(r"\w+", variable.type))
        if "auto" in words or "volatile" in words or "&" in variable.type + variable.declarator:
            raise NotSimple
        variable.storage = f"{variable.name}_of_each"
        if "*" not in variable.declarator:
            variable.type = re.sub(r"\bconst\b", " ", variable.type)
        elif re.search(r"\*\s*const\b", variable.declarator):
            raise NotSimple
        declarator = re.sub(rf"\b{variable.name}\b", f"{variable.storage}[1024]", variable.declarator)
        return Variable(variable.name, variable.type, declarator, "", variable.line, variable.storage)

    def emitted(self, parts: list[Part]) -> Iterator[str]:
        for part in parts:
            match part:
                case Text(text=text, line=line):
                    yield f'\n#line {line} "{self.file}"\n{text}'
                case Loop(heading=heading, line=line, body=body):
                    yield f'\n#line {line} "{self.file}"\n{heading} {{'
                    yield from self.emitted(body)
                    yield "\n}"
                case Region():
                    yield from self.region(part)

    def region(self, region: Region) -> Iterator[str]:
        own = {v.name for s in region.statements if isinstance(s, list) for v in s}
        yield "\nCUDAPERF_EACH_THREAD {"
        for variable in self.expanded:
            if variable.name in region.names and variable.name not in own:
                yield f" auto &{variable.name} = {variable.storage}[cudaperf_thread_index];"
        for statement in region.statements:
            if isinstance(statement, list):
                for variable in statement:
                    yield f'\n#line {variable.line} "{self.file}"\n{self.declared_text(variable)}'
            else:
                yield f'\n#line {self.line(statement)} "{self.file}"\n{self.source.text(statement)}'
        yield "\n} CUDAPERF_END_EACH_THREAD"

    def declared_text(self, variable: Variable) -> str:
        if not variable.storage:
            value = f" = {variable.value}" if variable.value else ""
            return f"{variable.type} {variable.declarator}{value};"
        text = f"auto &{variable.name} = {variable.storage}[cudaperf_thread_index];"
        if variable.value and "[" in variable.declarator:
            declarator = re.sub(rf"\b{variable.name}\b", "first", variable.declarator)
            name = variable.name
            first = f"{variable.type} {declarator} = {variable.value};"
            return f"{text} {{ {first} memcpy(&{name}, &first, sizeof {name}); }}"
        return text + (f" {variable.name} = {variable.value};" if variable.value else "")

    def line(self, node: tree_sitter.Node) -> int:
        return line_at(self.source.data[: node.start_byte].decode(errors="replace"))

    def names(self, node: tree_sitter.Node) -> set[str]:
        return {self.source.text(n) for n in walk(node) if n.type == "identifier"}

    def is_barrier(self, node: tree_sitter.Node) -> bool:
        return (
            node.type == "expression_statement"
            and self.source.text(node).replace(" ", "") == f"{_BARRIER}();"
        )

    def waits(self, node: tree_sitter.Node) -> bool:
        return bool(WAITING.search(self.source.text(node)))

    def leaves(self, node: tree_sitter.Node) -> bool:
        """Whether a break or continue inside leaves a loop outside of the node."""
        if node.type in ("break_statement", "continue_statement"):
            return True
        if node.type in _LOOPS:
            return node.type == "switch_statement" and any(n.type == "continue_statement" for n in walk(node))
        return any(self.leaves(child) for child in node.named_children)

    def is_uniform(self, node: tree_sitter.Node | None, *, updating: bool = False) -> bool:
        """Whether an expression has one value for all threads of a block."""
        if node is None:
            return False
        for inner in walk(node):
            match inner.type:
                case "call_expression":
                    function = inner.child_by_field_name("function")
                    if function is None or self.source.text(function) not in _PURE:
                        return False
                case "subscript_expression" | "pointer_expression" | "lambda_expression" | "comma_expression":
                    return False
                case "assignment_expression" | "update_expression" if not updating:
                    return False
                case "identifier":
                    name = self.source.text(inner)
                    if name == "threadIdx" or (name in self.declared and name not in self.uniform):
                        return False
                    if name in self.modified and name not in self.uniform:
                        return False
        return True

    def _modified(self, node: tree_sitter.Node) -> Iterator[str]:
        """Names that something inside assigns, steps, or takes the address of."""
        for inner in walk(node):
            if inner.type in ("assignment_expression", "update_expression", "pointer_expression"):
                target = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
                address = inner.type != "pointer_expression" or self.source.text(inner).startswith("&")
                if target is not None and target.type == "identifier" and address:
                    yield self.source.text(target)


def _regions(parts: list[Part]) -> Iterator[Region]:
    for part in parts:
        if isinstance(part, Region):
            yield part
        elif isinstance(part, Loop):
            yield from _regions(part.body)
