"""Splits a candidate into its host part, its device part and the table of kernels that it launches.

The host part is plain C++: each launch has become a call of the launch ABI (see cpu/runtime/host.h), kernels are
prototypes, device functions are gone. The device part is CUDA without the host's functions. Both keep the
candidate's line numbers. What cannot be split is refused by name, from one table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from .cuda_source import (
    Item,
    Source,
    apply_edits,
    code,
    declarator_of,
    head,
    items,
    name_of,
    parse,
    syntax_errors,
    walk,
)
from .records import Candidate, Finding, FunctionSpec


@dataclass(frozen=True)
class Kernel:
    """A kernel as it is launched: its qualified name with template arguments (``ns::sum<float, 256>``)."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """A ``__device__`` variable, or with `constant` a ``__constant__`` one, by its qualified name."""

    name: str
    constant: bool


@dataclass(frozen=True)
class Split:
    """A candidate in two parts. `symbols` stand in the order of the host part's table.

    `findings` are reasons to refuse it, and then the parts may be incomplete.
    """

    file: str
    host: str
    device: str
    kernels: tuple[Kernel, ...]
    symbols: tuple[Symbol, ...]
    findings: tuple[Finding, ...]


# Construct -> (pattern over code without comments and strings, what to do instead).
UNSUPPORTED: dict[str, tuple[re.Pattern[str], str]] = {
    name: (re.compile(pattern), remedy)
    for name, pattern, remedy in (
        ("inline assembly", r"\b(?:asm|__asm__)\b", "use CUDA C++ and its intrinsics"),
        ("managed memory", r"\b(?:__managed__|cudaMallocManaged)\b", "use cudaMalloc and cudaMemcpy"),
        (
            "textures and surfaces",
            r"\b(?:tex[123]D\w*|texture\s*<|surf[123]D\w*|cudaTextureObject_t)",
            "read arrays",
        ),
        ("cudaLaunchKernel", r"\bcudaLaunch\w*\b", "launch with <<<...>>>"),
        ("CUDA graphs", r"\bcuda(?:Graph\w+|StreamBeginCapture)\b", "launch the kernels directly"),
        ("the driver API", r"\bcu(?:Launch|Mem|Module|Ctx|Device|Init)\w*\s*\(", "use the runtime API"),
        ("thread block clusters", r"\b(?:__cluster_dims__|this_cluster|cluster_group)\b", "use blocks"),
        ("grid-wide synchronization", r"\b(?:this_grid|grid_group)\b", "end the kernel and launch another"),
        (
            "asynchronous copies",
            r"\b(?:memcpy_async|__pipeline_\w+|cuda::(?:pipeline|barrier))",
            "copy with loads",
        ),
        ("tensor core fragments", r"\b(?:wmma::|nvcuda\b)", "use ordinary arithmetic"),
        ("half precision", r"\b(?:__half2?|__nv_bfloat162?|cuda_(?:fp16|bf16))\b", "use float"),
        ("device lambdas", r"\]\s*(?:__host__\s*)?__device__\b", "use a functor or a template parameter"),
        (
            "mapped host memory",
            r"\bcudaHost(?:Register|GetDevicePointer|Alloc)\b",
            "use cudaMalloc and cudaMemcpy",
        ),
        ("kernel attributes", r"\bcudaFuncGetAttributes\b", "leave the query out"),
    )
}
_LIBRARY = re.compile(
    r"(cublas|cusparse|cufft|curand|cusolver|cudnn|cutlass|cute|cub|thrust|mma|cuda_fp16|cuda_bf16|cuda_fp8|nccl|npp"
    r"|cuda/)"
)
_CUDA_HEADERS = {
    "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h", "device_functions.h",
    "vector_types.h", "vector_functions.h", "math_constants.h", "math_functions.h", "sm_20_intrinsics.h",
    "cooperative_groups.h", "cooperative_groups/reduce.h", "driver_types.h", "crt/host_defines.h",
}  # fmt: skip
_DEVICE_HEADERS = {"cstdint", "cstddef", "climits", "cfloat", "type_traits", "limits", "cooperative_groups.h"}
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
    if not parts.kernels and not findings:
        place = source.finding(
            source.root, "no-kernel", "the launcher launches no kernel", "launch one with <<<...>>>"
        )
        findings = (place,)
    return Split(file.name, host, device, parts.kernels, parts.symbols, findings)


def split_program(name: str, text: str) -> Split:
    """Splits a whole CUDA source, whatever functions it exports."""
    parts = split_source(name, text)
    host = f'#include "host.h"\n{_standard_library(parse(name, text))}{parts.host}'
    return Split(name, host, parts.device, parts.kernels, parts.symbols, parts.findings)


def split_source(name: str, text: str) -> Split:
    """The two parts of a CUDA source, without includes of our own and without a check of any contract."""
    source = parse(name, text)
    return _Splitter(source).run()


class _Splitter:
    """Collects the edits that turn one source into its two parts."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.host: list[tuple[int, int, bytes]] = []
        self.device: list[tuple[int, int, bytes]] = []
        self.findings: list[Finding] = list(syntax_errors(source))
        self.items = list(items(source))
        self.defined = {
            self._name(i.inner): i for i in self.items if "__global__" in self._function_head(i.inner)
        }
        self.kernels: dict[str, int] = {}
        self.symbols: list[Symbol] = []

    def run(self) -> Split:
        self._refuse_unsupported()
        for item in self.items:
            self._place(item)
        if self.findings:
            host = device = ""
        else:
            shadows = "".join(f"&{s.name}, " for s in self.symbols)
            line = f'#line 1 "{self.source.name}"\n'
            host = (
                line + apply_edits(self.source.data, self.host).decode() + '\n#line 1 "symbols"\n'
                f'extern "C" const void *const cudaperf_shadows[] = {{{shadows}nullptr}};\n'
                f'extern "C" const int cudaperf_shadow_count = {len(self.symbols)};\n'
            )
            device = line + apply_edits(self.source.data, self.device).decode() + "\n"
        kernels = tuple(Kernel(name) for name in self.kernels)
        return Split(self.source.name, host, device, kernels, tuple(self.symbols), tuple(self.findings))

    def _refuse(self, node: tree_sitter.Node, message: str, remedy: str) -> None:
        self.findings.append(self.source.finding(node, "unsupported", message, remedy))

    def _refuse_unsupported(self) -> None:
        text = code(self.source)
        for construct, (pattern, remedy) in UNSUPPORTED.items():
            if match := pattern.search(text):
                line = text.count("\n", 0, match.start()) + 1
                column = match.start() - text.rfind("\n", 0, match.start())
                message = f"{construct} ({match.group(0).strip()}): not supported"
                self.findings.append(
                    Finding(
                        rule="unsupported",
                        message=message,
                        file=self.source.name,
                        line=line,
                        column=column,
                        remedy=remedy,
                    )
                )
        for node in walk(self.source.root):
            if node.type in ("preproc_def", "preproc_function_def") and "<<<" in self.source.text(node):
                self._refuse(node, "a kernel launch inside a macro", "write the launch out")

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
        elif node.type in _TYPES and "std::" in text:
            self._drop(self.device, item.outer)
        elif node.type in _TYPES:
            for member in walk(node):
                if member.type == "function_definition" and self._device_only(head(self.source, member)):
                    self._drop(self.host, member)

    def _place_include(self, node: tree_sitter.Node) -> None:
        path = self.source.text(node.child_by_field_name("path") or node)
        name = path[1:-1]
        if _LIBRARY.match(name):
            self._refuse(node, f"{name}: libraries are not supported", "write the kernel out")
        elif not path.startswith("<"):
            self._refuse(node, f"#include {path}: a candidate is one file", "put its text here")
        if name in _CUDA_HEADERS or not path.startswith("<"):
            self._drop(self.host, node)
        if name not in _DEVICE_HEADERS:
            self._drop(self.device, node)

    def _place_function(self, item: Item) -> None:
        node = item.inner
        words = self._function_head(node)
        body = node.child_by_field_name("body")
        if "__global__" in words:
            if body is not None:
                self.host.append((body.start_byte, body.end_byte, b";"))
        elif self._device_only(words):
            self._drop(self.host, item.outer)
        elif not words & {"__device__", "constexpr"}:
            self._drop(self.device, item.outer)
        if body is None:
            return
        on_device = bool(words & {"__global__", "__device__"})
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
        elif words & {"__device__", "__constant__"}:
            for declarator in node.children_by_field_name("declarator"):
                name = name_of(declarator)
                if name is not None and "extern" not in words:
                    qualified = "::".join((*item.scope, self.source.text(name)))
                    self.symbols.append(Symbol(qualified, "__constant__" in words))
        elif "std::" in text or not words & {"const", "constexpr", "struct", "class", "union", "enum"}:
            self._drop(self.device, item.outer)

    def _place_call(self, item: Item, call: tree_sitter.Node, on_device: bool) -> None:
        launch = next((c for c in call.children if c.type == "kernel_call_syntax"), None)
        function = call.child_by_field_name("function")
        if function is None:
            return
        if launch is None:
            if self.source.text(function).startswith("cuda"):
                self._replace_handles(item, call)
            return
        if on_device:
            self._refuse(call, "a kernel launched from device code", "launch from the launcher")
            return
        index = self._kernel_index(item, function)
        callee = self.source.text(function)
        opening = f"::cudaperf::Launch<decltype(&{callee})>({{{index}}}, ".encode()
        self.host.append((call.start_byte, launch.start_byte + 3, opening))
        self.host.append((launch.end_byte - 3, launch.end_byte, b")"))

    def _replace_handles(self, item: Item, call: tree_sitter.Node) -> None:
        """Kernels named as arguments of the runtime API become their number."""
        arguments = call.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments else ():
            last = [n for n in walk(argument) if n.type in ("identifier", "template_function")]
            if last and self._base(last[0]) in self.defined:
                index = self._kernel_index(item, last[0])
                self.host.append(
                    (argument.start_byte, argument.end_byte, f"::cudaperf::Kernel{{{index}}}".encode())
                )

    def _base(self, callee: tree_sitter.Node) -> str:
        name = callee
        while (inner := name.child_by_field_name("name")) is not None:
            name = inner
        return self.source.text(name)

    def _kernel_index(self, item: Item, callee: tree_sitter.Node) -> int:
        base = self._base(callee)
        kernel = self.defined.get(base)
        arguments = next((n for n in walk(callee) if n.type == "template_argument_list"), None)
        if kernel is None:
            self._refuse(
                callee,
                f"{base} is launched, but is no kernel of this file",
                "launch a __global__ function by name",
            )
            return -1
        if kernel.is_template and self._leaves_deduction(kernel, arguments):
            self._refuse(
                callee,
                f"the template arguments of {base} are deduced",
                f"write them out: {base}<...><<<...>>>(...)",
            )
            return -1
        name = "::".join((*kernel.scope, base))
        if arguments is not None:
            name += self._closed_arguments(item, callee, arguments)
        return self.kernels.setdefault(name, len(self.kernels))

    @staticmethod
    def _leaves_deduction(kernel: Item, arguments: tree_sitter.Node | None) -> bool:
        """Whether a launch leaves template arguments to be deduced that have no default."""
        parameters = kernel.outer.child_by_field_name("parameters")
        named = parameters.named_children if parameters else []
        needed = [p for p in named if p.type.startswith(("parameter", "type"))]
        return (len(arguments.named_children) if arguments else 0) < len(needed)

    def _closed_arguments(self, item: Item, callee: tree_sitter.Node, arguments: tree_sitter.Node) -> str:
        """Template arguments as they read at namespace scope: the function's own constants are inlined."""
        text = " ".join(self.source.text(arguments).split())
        parameters = set()
        if item.is_template:
            template = item.outer.child_by_field_name("parameters")
            parameters = (
                {self.source.text(n) for n in walk(template) if n.type.endswith("identifier")}
                if template
                else set()
            )
        for node in walk(arguments):
            if node.type not in ("identifier", "type_identifier"):
                continue
            name = self.source.text(node)
            if name in parameters:
                self._refuse(
                    callee,
                    f"the template argument {name} depends on a template of the host",
                    "launch each instantiation from a plain function",
                )
            elif (value := self._local_constant(item.inner, name)) is not None:
                text = re.sub(rf"\b{name}\b", f"({value})", text)
        return text

    def _local_constant(self, function: tree_sitter.Node, name: str) -> str | None:
        for node in walk(function):
            if node.type != "init_declarator" or node.parent is None or node.parent.type != "declaration":
                continue
            declared, value = name_of(node), node.child_by_field_name("value")
            if declared is not None and value is not None and self.source.text(declared) == name:
                return self.source.text(value)
        return None

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
