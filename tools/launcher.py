"""Splits a candidate into its host part, its device part and the table of kernels that it launches.

The host part is plain C++, launches work as nvcc makes them: each kernel is a stub that sends its arguments over the
launch ABI (see cpu/runtime/host.h), ``k<<<grid, block>>>(x)`` has become ``(configure(grid, block), k(x))``, so that
C++ itself picks overloads and deduces template arguments. Device functions are gone. The device part is CUDA without
the host's functions. Both keep the candidate's line numbers. What cannot be split is refused by name, from one table.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tree_sitter

from .constructs import (
    COMPILER_REMEDY,
    CUDA_HEADERS,
    DEVICE_HEADERS,
    DEVICE_LIBRARY,
    DEVICE_LIBRARY_HEADER,
    HOST_LIBRARY,
    LIBRARY,
    NEEDS_COMPILER,
    ONLY_IN_PROGRAMS,
    UNSUPPORTED,
)
from .cuda_source import (
    Item,
    Source,
    apply_edits,
    code,
    declarator_of,
    head,
    items,
    line_at,
    name_of,
    parse,
    syntax_errors,
    walk,
)
from .launch_macros import rewritten_launches
from .records import Candidate, Finding, FunctionSpec


@dataclass(frozen=True)
class Kernel:
    """A ``__global__`` function as it is defined, by its qualified name without template arguments (``ns::sum``)."""

    name: str
    is_template: bool


@dataclass(frozen=True)
class Symbol:
    """A ``__device__`` variable, or with `constant` a ``__constant__`` one, by its qualified name."""

    name: str
    constant: bool


@dataclass(frozen=True)
class Whole:
    """A source as NVIDIA's compiler takes it. `lines` gives what is added to the line numbers of each file, by path;
    `folders` hold what it includes."""

    text: str
    flags: tuple[str, ...]
    folders: tuple[Path, ...]
    lines: dict[str, int]


@dataclass(frozen=True)
class Split:
    """A candidate in two parts. `symbols` stand in the order of the host part's table.

    `needs` are constructs for which the device part needs NVIDIA's compiler; it gets the `whole` source.

    `launches` tells whether any kernel is launched. `findings` are reasons to refuse the candidate, and then the parts
    may be incomplete.
    """

    file: str
    host: str
    device: str
    kernels: tuple[Kernel, ...]
    symbols: tuple[Symbol, ...]
    launches: bool
    findings: tuple[Finding, ...]
    needs: tuple[Finding, ...] = ()
    whole: Whole | None = None

    @property
    def instances(self) -> tuple[str, ...] | None:
        """The kernels by name where the source alone tells them all; None where templates or overloads are left to
        C++, and only the compiled host part tells which instantiations there are."""
        names = tuple(dict.fromkeys(k.name for k in self.kernels))
        return None if len(names) < len(self.kernels) or any(k.is_template for k in self.kernels) else names


_NAMES = {"using_declaration", "alias_declaration", "type_definition"}
# No macro, since the standard library spells its own attribute like that.
_NOINLINE, _ATTRIBUTE = re.compile(r"(?<![\w(])__noinline__\b(?!\s*\))"), "__attribute__((noinline))"
_SPECIFIERS = re.compile(r"\b(?:__device__|__managed__|static)\b")
_TYPES = {"struct_specifier", "class_specifier", "union_specifier", "enum_specifier"}


def split(function: FunctionSpec, candidate: Candidate) -> Split:
    """Splits a candidate of one CUDA file, and checks that it keeps the contract of `function`."""
    file = next(f for f in candidate.files if f.language == "cuda")
    source = parse(file.name, file.text)
    parts = split_source(file.name, file.text)
    own_types = {source.text(n) for i in items(source) for n in _type_names(i.inner)}
    prelude = "" if any(s.name in own_types for s in function.structs) else function.prelude
    prototype = f"{function.launcher_prototype};\n"
    include = '#include "host.h"\n' + _standard_library(source)
    known = bool(prelude) or not function.structs
    host = (
        f'{include}#line 1 "prelude"\n{prelude}\n{prototype if known else ""}'
        f"{parts.host}{'' if known else prototype}"
        f'#line 1 "entry"\nextern "C" void cudaperf_entry(void **arguments) '
        f"{{ cudaperf::call({function.launcher}, arguments); }}\n"
    )
    device = f'#line 1 "prelude"\n{prelude}\n{parts.device}'
    findings = parts.findings + _contract(source, function)
    if not parts.launches and not findings:
        place = source.finding(
            source.root, "no-kernel", "the launcher launches no kernel", "launch one with <<<...>>>"
        )
        findings = (place,)
    head = "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
    whole = f'{head}#line 1 "prelude"\n{prelude}\n#line 1 "{file.name}"\n{file.text}'
    return dataclasses.replace(
        parts, host=host, device=device, findings=findings, whole=Whole(whole, (), (), {file.name: 0})
    )


def split_program(name: str, text: str, device_text: str | None = None, whole: Whole | None = None) -> Split:
    """Splits a whole CUDA source, whatever functions it exports. `device_text` is the source as the device side sees
    it, where the preprocessor made two of it. What our grammar cannot parse is left to the compiler."""
    parts = split_source(name, text, strict=False)
    host = f'#include "host.h"\n{_standard_library(parse(name, text))}{parts.host}'
    other = parts if device_text is None else split_source(name, device_text, strict=False)
    findings = parts.findings + tuple(f for f in other.findings if f not in parts.findings)
    whole = whole or Whole(f'#line 1 "{name}"\n{text}', (), (), {name: 0})
    return dataclasses.replace(parts, host=host, device=other.device, findings=findings, whole=whole)


def split_source(name: str, text: str, *, strict: bool = True) -> Split:
    """The two parts of a CUDA source, without includes of our own and without a check of any contract.

    `strict` refuses a source that does not parse.
    """
    source = parse(name, text)
    return _Splitter(source, syntax_errors(source) if strict else (), strict).run()


class _Splitter:
    """Collects the edits that turn one source into its two parts."""

    def __init__(self, source: Source, errors: Sequence[Finding], strict: bool) -> None:
        self.source = source
        self.strict = strict
        self.host: list[tuple[int, int, bytes]] = []
        self.device: list[tuple[int, int, bytes]] = []
        self.findings: list[Finding] = list(errors)
        self.items = list(items(source))
        self.kernels: list[Kernel] = []
        self.symbols: list[Symbol] = []
        self.needs: list[Finding] = []
        self.launches = False

    def run(self) -> Split:
        self._refuse_unsupported()
        for item in self.items:
            self._place(item)
        if self.findings:
            host = device = ""
        else:
            shadows = "".join(f"(const void *)&{s.name}, " for s in self.symbols)
            line = f'#line 1 "{self.source.name}"\n'
            host = (
                line
                + _NOINLINE.sub(_ATTRIBUTE, apply_edits(self.source.data, self.host).decode())
                + '\n#line 1 "symbols"\n'
                f'extern "C" const void *const cudaperf_shadows[] = {{{shadows}nullptr}};\n'
                f'extern "C" const int cudaperf_shadow_count = {len(self.symbols)};\n'
            )
            device = _NOINLINE.sub(_ATTRIBUTE, apply_edits(self.source.data, self.device).decode())
            headers = [h for h, names in DEVICE_LIBRARY.items() if names.search(device)]
            device = "".join(f"#include <{h}>\n" for h in headers) + line + device + "\n"
        return Split(
            self.source.name,
            host,
            device,
            tuple(self.kernels),
            tuple(self.symbols),
            self.launches,
            tuple(self.findings),
            tuple(self.needs),
        )

    def _refuse(self, node: tree_sitter.Node, message: str, remedy: str) -> None:
        self.findings.append(self.source.finding(node, "unsupported", message, remedy))

    def _refuse_unsupported(self) -> None:
        text = code(self.source)
        for construct, (pattern, remedy) in UNSUPPORTED.items():
            if (match := pattern.search(text)) and (self.strict or construct not in ONLY_IN_PROGRAMS):
                self.findings.append(self._at(text, match, construct, "not supported", remedy))
        for construct, pattern in NEEDS_COMPILER.items():
            if match := pattern.search(text):
                self.needs.append(
                    self._at(text, match, construct, "needs NVIDIA's compiler", COMPILER_REMEDY)
                )
        for node in walk(self.source.root):
            if node.type in ("preproc_def", "preproc_function_def") and "<<<" in self.source.text(node):
                self._place_macro(node)

    def _at(self, text: str, match: re.Match[str], construct: str, what: str, remedy: str) -> Finding:
        return Finding(
            rule="unsupported",
            message=f"{construct} ({match[0].strip()}): {what}",
            file=self.source.name,
            line=line_at(text[: match.start()]),
            column=match.start() - text.rfind("\n", 0, match.start()),
            remedy=remedy,
        )

    def _place_macro(self, node: tree_sitter.Node) -> None:
        """A macro that launches: only the host part has it."""
        self.launches = True
        text = self.source.text(node)
        self.host.append((node.start_byte, node.end_byte, rewritten_launches(text).encode()))
        self._drop(self.device, node)

    def _name(self, node: tree_sitter.Node) -> str:
        declarator = declarator_of(node, "function_declarator")
        name = name_of(declarator) if declarator else None
        return self.source.text(name) if name else ""

    def _function_head(self, node: tree_sitter.Node) -> set[str]:
        return head(self.source, node) if declarator_of(node, "function_declarator") else set()

    def _place(self, item: Item) -> None:
        """Decides which parts a declaration belongs to."""
        node, text = item.inner, self.source.text(item.outer)
        if node.type == "preproc_include":
            self._place_include(node)
        elif node.type == "function_definition" or (node.type == "declaration" and self._function_head(node)):
            self._place_function(item)
        elif node.type == "declaration":
            self._place_variable(item)
        elif node.type in _TYPES:
            members = [m for m in walk(node) if m.type == "function_definition"]
            edits = [e for m in members for e in self._place_member(m)]
            for member in members:
                if "__device__" not in head(self.source, member):
                    self._place_calls(item, member, on_device=False)
            if HOST_LIBRARY.search(self._rest(node, edits)):
                self._drop(self.device, item.outer)
            else:
                self.device += edits
        elif node.type == "template_instantiation" or (node.type in _NAMES and HOST_LIBRARY.search(text)):
            self._drop(self.device, item.outer)

    @staticmethod
    def _defines_type(node: tree_sitter.Node) -> bool:
        kind = node.child_by_field_name("type")
        return kind is not None and kind.child_by_field_name("body") is not None

    def _rest(self, node: tree_sitter.Node, edits: list[tuple[int, int, bytes]]) -> str:
        """The node's text without what the edits take away."""
        begin = node.start_byte
        moved = [(b - begin, e - begin, text) for b, e, text in edits]
        return apply_edits(self.source.data[begin : node.end_byte], moved).decode()

    def _place_member(self, member: tree_sitter.Node) -> list[tuple[int, int, bytes]]:
        """A member function of a type that both sides know: each side has the bodies that it can run.

        Returns the edits of the device part.
        """
        words = head(self.source, member)
        body = member.child_by_field_name("body")
        around = member.parent
        whole = around if around and around.type in ("template_declaration", "friend_declaration") else member
        if self._device_only(words):
            self._drop(self.host, whole)
        elif body is not None and not words & {"__device__", "constexpr"}:
            initializers = next((c for c in member.children if c.type == "field_initializer_list"), body)
            signature = self.source.data[member.start_byte : initializers.start_byte].decode()
            if HOST_LIBRARY.search(signature):
                return [(whole.start_byte, whole.end_byte, b"")]
            return [(initializers.start_byte, body.end_byte, b";")]
        return []

    def _place_include(self, node: tree_sitter.Node) -> None:
        path = self.source.text(node.child_by_field_name("path") or node)
        name = path[1:-1]
        if DEVICE_LIBRARY_HEADER.match(name):
            message = f"{name}: needs NVIDIA's compiler"
            self.needs.append(self.source.finding(node, "unsupported", message, COMPILER_REMEDY))
            if name != "mma.h":  # the host uses the half types that it declares
                self._drop(self.host, node)
        elif LIBRARY.match(name):
            self._refuse(node, f"{name}: libraries are not supported", "write the kernel out")
        elif not path.startswith("<"):
            self._refuse(node, f"#include {path}: a candidate is one file", "put its text here")
        if name in CUDA_HEADERS or not path.startswith("<"):
            self._drop(self.host, node)
        if name not in DEVICE_HEADERS:
            self._drop(self.device, node)

    def _place_function(self, item: Item) -> None:
        node = item.inner
        words = self._function_head(node)
        body = node.child_by_field_name("body")
        if "__global__" in words:
            if body is not None:
                self.kernels.append(
                    Kernel("::".join((*item.scope, self._declared(item).partition("<")[0])), item.is_template)
                )
                self.host += self._stub(item, body)
        elif self._device_only(words):
            self._drop(self.host, item.outer)
        elif not words & {"__device__", "constexpr"}:
            self._drop(self.device, item.outer)
        if body is None:
            return
        self._place_calls(item, body, on_device=bool(words & {"__global__", "__device__"}))

    def _place_calls(self, item: Item, body: tree_sitter.Node, *, on_device: bool) -> None:
        for call in walk(body):
            if call.type == "call_expression":
                self._place_call(item, call, on_device)

    @staticmethod
    def _device_only(words: set[str]) -> bool:
        return "__device__" in words and "__host__" not in words

    def _place_variable(self, item: Item) -> None:
        node, text = item.inner, self.source.text(item.inner)
        words = head(self.source, node)
        if "__shared__" in words:
            self._drop(self.host, item.outer)
        elif "__managed__" in words:
            self._place_managed(item)
        elif words & {"__device__", "__constant__"}:
            for declarator in node.children_by_field_name("declarator"):
                name = name_of(declarator)
                if name is not None and "extern" not in words:
                    qualified = "::".join((*item.scope, self.source.text(name)))
                    self.symbols.append(Symbol(qualified, "__constant__" in words))
        elif HOST_LIBRARY.search(text) or not (words & {"const", "constexpr"} or self._defines_type(node)):
            self._drop(self.device, item.outer)

    def _place_managed(self, item: Item) -> None:
        """A variable that both sides see: a reference into memory that they share, at one address for both."""
        node = item.inner
        names = [n for d in node.children_by_field_name("declarator") if (n := name_of(d)) is not None]
        declaration = _SPECIFIERS.sub(" ", self.source.text(node))
        number = len(self.symbols)
        kind = f"cudaperf_managed_{number}"
        text = (
            f"struct {kind} {{ {declaration} }}; "
            f"static {kind} &{kind}_memory = ::cudaperf::managed<{kind}>({number});"
        )
        for name in map(self.source.text, names):
            self.symbols.append(Symbol("::".join((*item.scope, name)), constant=False))
            text += f" static auto &{name} = {kind}_memory.{name};"
        for edits in (self.host, self.device):
            edits.append((item.outer.start_byte, item.outer.end_byte, text.encode()))

    def _place_call(self, item: Item, call: tree_sitter.Node, on_device: bool) -> None:
        launch = next((c for c in call.children if c.type == "kernel_call_syntax"), None)
        function = call.child_by_field_name("function")
        if launch is None or function is None:
            self.launches |= function is not None and self.source.text(function).startswith("cudaLaunch")
            return
        if on_device:
            self._refuse(call, "a kernel launched from device code", "launch from the launcher")
            return
        self.launches = True
        callee = self.source.text(function)
        newlines = "\n" * callee.count("\n")
        opening = f"(::cudaperf::configure({newlines}".encode()
        closing = f"), {' '.join(callee.split())}".encode()
        self.host.append((call.start_byte, launch.start_byte + 3, opening))
        self.host.append((launch.end_byte - 3, launch.end_byte, closing))
        self.host.append((call.end_byte, call.end_byte, b")"))

    def _template_parameters(self, item: Item) -> list[tree_sitter.Node]:
        template = item.outer.child_by_field_name("parameters") if item.is_template else None
        return [p for p in template.named_children if p.type != "comment"] if template else []

    def _stub(self, item: Item, body: tree_sitter.Node) -> list[tuple[int, int, bytes]]:
        """Edits that turn a kernel's definition into its stub: it hands its own address and its arguments on."""
        declarator = declarator_of(item.inner, "function_declarator")
        parameters = declarator.child_by_field_name("parameters") if declarator else None
        edits, names = [], []
        for i, parameter in enumerate(parameters.named_children if parameters else ()):
            if not parameter.type.endswith("parameter_declaration") or self.source.text(parameter) == "void":
                continue
            name = name_of(parameter)
            if name is None:
                edits.append((parameter.end_byte, parameter.end_byte, f" cudaperf_{i}".encode()))
            text = self.source.text(name) if name else f"cudaperf_{i}"
            names.append((text, "..." if parameter.type.startswith("variadic") else ""))
        arguments = [
            self._template_argument(p, f"cudaperf_t{i}", edits)
            for i, p in enumerate(self._template_parameters(item))
        ]
        kernel = "::" + "::".join((*item.scope, self._declared(item)))
        if arguments:
            kernel += f"<{', '.join(arguments)}>"
        types = ", ".join(f"::cudaperf::plain<decltype({name})>{pack}" for name, pack in names)
        values = "".join(f", {name}{pack}" for name, pack in names)
        stub = f"{{ ::cudaperf::stub(static_cast<void (*)({types})>({kernel}){values}); }}"
        return [*edits, (body.start_byte, body.end_byte, stub.encode())]

    def _declared(self, item: Item) -> str:
        """The kernel's name as its definition spells it, with the arguments of a specialization."""
        declarator = declarator_of(item.inner, "function_declarator")
        name = declarator.child_by_field_name("declarator") if declarator else None
        return self.source.text(name) if name else ""

    def _template_argument(
        self, parameter: tree_sitter.Node, name_if_none: str, edits: list[tuple[int, int, bytes]]
    ) -> str:
        """The parameter's name; one without gets the given one, by an edit of the host part."""
        name = parameter.child_by_field_name("name") or name_of(parameter)
        if name is None:
            template = parameter.type.startswith("template")
            is_type = parameter.type.endswith("type_parameter_declaration") or template
            named = [n for n in walk(parameter) if n.type == "type_identifier"] if is_type else []
            name = named[-1] if named else None
        if name is None:
            equals = next((c for c in parameter.children if c.type == "="), None)
            end = equals.start_byte if equals else parameter.end_byte
            edits.append((end, end, f" {name_if_none} ".encode()))
            return name_if_none
        return self.source.text(name) + ("..." if parameter.type.startswith("variadic") else "")

    @staticmethod
    def _drop(edits: list[tuple[int, int, bytes]], node: tree_sitter.Node) -> None:
        edits.append((node.start_byte, node.end_byte, b""))


def _type_names(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    for inner in walk(node):
        name = inner.child_by_field_name("name")
        if inner.type in _TYPES and inner.child_by_field_name("body") is not None and name is not None:
            yield name
        elif inner.type == "type_definition":
            yield from (d for d in inner.children_by_field_name("declarator"))


def _standard_library(source: Source) -> str:
    """nvcc's headers bring in parts of the standard library that hosts use without including them."""
    text = code(source)
    return "#include <algorithm>\n#include <cmath>\n" if "std" in re.findall(r"\bstd\b", text) else ""


def _contract(source: Source, function: FunctionSpec) -> tuple[Finding, ...]:
    """Where the candidate breaks the contract: its launcher is missing, or has another shape."""
    wanted = function.launcher_prototype
    for item in items(source):
        declarator = declarator_of(item.inner, "function_declarator")
        name = name_of(declarator) if declarator else None
        if item.inner.type != "function_definition" or name is None or source.text(name) != function.launcher:
            continue
        assert declarator is not None
        parameters = declarator.child_by_field_name("parameters")
        given = [p for p in parameters.named_children if p.type != "comment"] if parameters else []
        if [source.text(p) for p in given] == ["void"]:
            given = []
        if not item.is_extern_c:
            message = f'{function.launcher} is not extern "C"'
            return (source.finding(item.inner, "contract", message, f"declare it as: {wanted}"),)
        if len(given) != len(function.parameters):
            message = f"{function.launcher} takes {len(given)} parameters, not {len(function.parameters)}"
            return (source.finding(declarator, "contract", message, f"declare it as: {wanted}"),)
        return ()
    message = f"the launcher {function.launcher} is missing"
    return (source.finding(source.root, "contract", message, f"define: {wanted}"),)
