"""Puts simple functions in which threads wait into the kernels that call them, so that these can be taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import tree_sitter

from ...cuda_source import Item, Source, declarator_of, head, items, line_at, name_of, parse, walk
from .parts import NotSimple
from .spread import certain

_MOST_CALLS = 40
_NEVER = ("goto_statement", "labeled_statement", "lambda_expression", "try_statement")
_FUNCTION_WORDS = re.compile(
    r"\b(?:__device__|__host__|__(?:forceinline|inline|noinline)__|inline|static|constexpr)\b"
)
_FLOAT = re.compile(r"[\d.]+(?:[eE][+-]?\d+)?[fF]")
_STORAGE_WORDS = re.compile(r"\b(?:const|static|extern|constexpr|volatile|__shared__|__restrict__)\b")


def inlined(source: Source, item: Item, helpers: Mapping[str, Item], file: str) -> tuple[Source, Item]:
    """The kernel in a source of its own, with the bodies of `helpers` in the place of their calls. Raises NotSimple."""
    line = line_at(source.data[: item.outer.start_byte].decode(errors="replace"))
    text = f'#line {line} "{file}"\n{source.text(item.outer)}\n'
    shared: dict[str, str] = {}
    for number in range(1, _MOST_CALLS):
        kernel = parse(source.name, text)
        if kernel.root.has_error:
            raise NotSimple
        inner = next(items(kernel))
        call = next(_calls(kernel, inner.inner, helpers), None)
        if call is None:
            names = {kernel.text(n) for n in walk(inner.inner) if n.type == "identifier"}
            if names & helpers.keys():
                raise NotSimple
            return (kernel, inner) if not shared else _with_shared(kernel, inner, shared)
        text = _Call(source, kernel, inner.inner, call, helpers, number, file, shared).replaced()
    raise NotSimple


def _with_shared(kernel: Source, item: Item, shared: Mapping[str, str]) -> tuple[Source, Item]:
    body = item.inner.child_by_field_name("body")
    assert body is not None
    begin = body.start_byte + 1
    data = kernel.data[:begin] + " ".join(shared.values()).encode() + kernel.data[begin:]
    complete = parse(kernel.name, data.decode())
    return complete, next(items(complete))


def _calls(source: Source, node: tree_sitter.Node, helpers: Mapping[str, Item]) -> Iterator[tree_sitter.Node]:
    """Calls of helpers, each behind those that it needs."""
    for child in node.children:
        yield from _calls(source, child, helpers)
    if node.type == "call_expression" and _called(source, node) in helpers:
        yield node


def _called(source: Source, call: tree_sitter.Node) -> str:
    function = call.child_by_field_name("function")
    if function is not None and function.type == "template_function":
        function = function.child_by_field_name("name")
    return source.text(function) if function is not None and function.type == "identifier" else ""


class _Call:
    """One call in a kernel, and the helper that it names."""

    def __init__(
        self,
        source: Source,
        kernel: Source,
        function: tree_sitter.Node,
        call: tree_sitter.Node,
        helpers: Mapping[str, Item],
        number: int,
        file: str,
        shared: dict[str, str],
    ) -> None:
        self.source, self.kernel, self.function, self.call = source, kernel, function, call
        self.number, self.file, self.shared = number, file, shared
        self.name = _called(kernel, call)
        self.helper = helpers[self.name]
        definitions = [
            n for n in walk(source.root)
            if n.type == "function_definition" and (d := declarator_of(n, "function_declarator"))
            and (called := name_of(d)) is not None and source.text(called) == self.name
        ]  # fmt: skip
        body = self.helper.inner.child_by_field_name("body")
        declarator = declarator_of(self.helper.inner, "function_declarator")
        if body is None or declarator is None or len(definitions) != 1:
            raise NotSimple
        if any(n.type in _NEVER for n in walk(body)):
            raise NotSimple
        parameters = declarator.child_by_field_name("parameters")
        self.body = body
        self.parameters = [p for p in parameters.named_children if p.type != "comment"] if parameters else []
        given = call.child_by_field_name("arguments")
        self.arguments = [a for a in given.named_children if a.type != "comment"] if given else []
        # What each name of the helper's means in the kernel.
        self.types = self._template_arguments()
        self.names = {n: f"{n}_{number}" for n in self._locals()}

    def replaced(self) -> str:
        """The kernel's text with the helper's body before the statement, and its result in the call's place."""
        statement = self._statement()
        data = self.kernel.data
        line = line_at(data[: statement.start_byte].decode(errors="replace"))
        result, lines = "", [self._parameter(parameter, argument) for parameter, argument in self._pairs()]
        statements = [n for n in self.body.named_children if n.type != "comment"]
        last = statements[-1] if statements else None
        if last is not None and last.type == "return_statement":
            statements.pop()
        for node in statements:
            if any(n.type == "return_statement" for n in walk(node)):
                raise NotSimple
            if node.type == "declaration" and "__shared__" in head(self.source, node):
                self._share(node)
            else:
                lines.append(f"{self._place(node)}{self._text(node)}")
        if last is not None and last.type == "return_statement" and last.named_children:
            result = f"{self.name}_{self.number}"
            value = self._text(last.named_children[0])
            lines.append(f"{self._place(last)}{self._result_type()} {result} = {value};")
        before = "\n".join(["", *lines])
        rest = data[statement.start_byte : self.call.start_byte] + result.encode()
        rest += data[self.call.end_byte : statement.end_byte]
        if not result and rest.strip() != b";":
            raise NotSimple
        text = f'{before}\n#line {line} "{self.file}"\n'.encode() + (rest if result else b"")
        if statement.parent is not None and statement.parent.type != "compound_statement":
            text = b"{ " + text + b" }"
        return (data[: statement.start_byte] + text + data[statement.end_byte :]).decode()

    def _statement(self) -> tree_sitter.Node:
        """The statement before which the helper's body may stand: nothing of it is evaluated but once."""
        node = self.call
        while (parent := node.parent) is not None:
            if node.type == "expression_statement":
                return node
            if node.type == "declaration":
                if len(node.children_by_field_name("declarator")) > 1 or parent.type != "compound_statement":
                    raise NotSimple
                return node
            if parent.type == "if_statement" and node == parent.child_by_field_name("condition"):
                if parent.parent is None or parent.parent.type != "compound_statement":
                    raise NotSimple
                return parent
            evaluated = certain(parent)
            if parent.type in ("comma_expression", "lambda_expression") or evaluated not in (None, node):
                raise NotSimple
            node = parent
        raise NotSimple

    def _pairs(self) -> Iterator[tuple[tree_sitter.Node, str]]:
        """The parameters with the text of what they are given."""
        for i, parameter in enumerate(self.parameters):
            if i < len(self.arguments):
                yield parameter, self.kernel.text(self.arguments[i])
                continue
            value = parameter.child_by_field_name("default_value")
            if value is None:
                raise NotSimple
            yield parameter, self.source.text(value)

    def _parameter(self, parameter: tree_sitter.Node, argument: str) -> str:
        """The parameter's declaration; one by reference is another name for the argument."""
        name = name_of(parameter)
        declarator = parameter.child_by_field_name("declarator")
        if name is None or declarator is None:
            return ""
        plain, kind = self.source.text(name), self._renamed(self._head(parameter))
        shape = "".join(self.source.text(declarator).split())
        if shape.startswith("&"):
            if not argument.isidentifier():
                raise NotSimple
            self.names[plain] = argument
            return ""
        new = self.names[plain]
        if shape == plain or re.fullmatch(r"(?:\*|__restrict__)+" + plain, shape):
            return f"{kind} {shape.removesuffix(plain)}{' ' if shape != plain else ''}{new} = {argument};"
        if re.fullmatch(plain + r"\[\w*\]", shape):
            return f"{kind} *{new} = {argument};"
        raise NotSimple

    def _head(self, node: tree_sitter.Node) -> str:
        declarator = node.child_by_field_name("declarator")
        assert declarator is not None
        return self.source.data[node.start_byte : declarator.start_byte].decode().strip()

    def _share(self, node: tree_sitter.Node) -> None:
        """A variable that all calls of the helper share moves to the top of the kernel."""
        text = self.source.text(node)
        if re.search(rf"\b(?:{'|'.join(self.types) or '0'})\b", text):
            suffix = "_".join([self.name, *(re.sub(r"\W+", "_", t) for t in self.types.values())])
        else:
            suffix = self.name
        for declarator in node.children_by_field_name("declarator"):
            name = name_of(declarator)
            if name is None:
                raise NotSimple
            self.names[self.source.text(name)] = f"{self.source.text(name)}_{suffix}"
        self.shared[suffix + text] = " ".join(self._text(node).split())

    def _result_type(self) -> str:
        words = _FUNCTION_WORDS.sub(" ", self._head(self.helper.inner))
        declarator = self.helper.inner.child_by_field_name("declarator")
        if declarator is None or declarator.type != "function_declarator" or "void" in words.split():
            raise NotSimple
        return " ".join(self._renamed(words).split())

    def _place(self, node: tree_sitter.Node) -> str:
        line = line_at(self.source.data[: node.start_byte].decode(errors="replace"))
        return f'#line {line} "{self.file}"\n'

    def _text(self, node: tree_sitter.Node) -> str:
        """A piece of the helper's text with the kernel's names in it."""
        pieces, position = [], node.start_byte
        for inner in walk(node):
            if inner.type in ("identifier", "type_identifier"):
                word = self.source.text(inner)
                name = self.names.get(word) if inner.type == "identifier" else None
                before = self.source.data[position : inner.start_byte].decode()
                pieces += [before, name or self.types.get(word, word)]
                position = inner.end_byte
        return "".join([*pieces, self.source.data[position : node.end_byte].decode()])

    def _renamed(self, text: str) -> str:
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: self.types.get(m[0], m[0]), text)

    def _locals(self) -> Iterator[str]:
        for node in [*self.parameters, *(n for n in walk(self.body) if n.type == "declaration")]:
            declarators = node.children_by_field_name("declarator")
            yield from (self.source.text(n) for d in declarators if (n := name_of(d)) is not None)

    def _template_arguments(self) -> dict[str, str]:
        """The helper's template parameters: as the call gives them, or from the types of its arguments."""
        if not self.helper.is_template:
            return {}
        listed = self.helper.outer.child_by_field_name("parameters")
        parameters = [p for p in listed.named_children if p.type != "comment"] if listed else []
        function = self.call.child_by_field_name("function")
        brackets = function.child_by_field_name("arguments") if function is not None else None
        explicit = [self.kernel.text(a) for a in brackets.named_children] if brackets is not None else []
        found: dict[str, str] = {}
        for i, parameter in enumerate(parameters):
            name = next((n for n in walk(parameter) if n.type in ("type_identifier", "identifier")), None)
            if parameter.type == "parameter_declaration":
                name = name_of(parameter)
            defaults = (parameter.child_by_field_name(f) for f in ("default_value", "default_type"))
            default = next(filter(None, defaults), None)
            if name is None:
                raise NotSimple
            word = self.source.text(name)
            if i < len(explicit):
                found[word] = explicit[i] if parameter.type.startswith("type") else f"({explicit[i]})"
            elif (deduced := self._deduced(word)) is not None:
                found[word] = deduced
            elif default is not None:
                found[word] = self.source.text(default)
            else:
                raise NotSimple
        return found

    def _deduced(self, word: str) -> str | None:
        """The type that a template parameter has by the helper's parameters of that type."""
        for parameter, argument in zip(self.parameters, self.arguments, strict=False):
            declarator = parameter.child_by_field_name("declarator")
            if declarator is None or _STORAGE_WORDS.sub(" ", self._head(parameter)).split() != [word]:
                continue
            wanted = len(re.findall(r"[*\[]", self.source.text(declarator)))
            type_ = self._type_of(argument, wanted)
            if type_ is not None:
                return type_
        return None

    def _type_of(self, argument: tree_sitter.Node, levels: int) -> str | None:
        """The type of an argument with so many levels of pointers taken off; None where it is not written down."""
        while argument.type == "subscript_expression":
            inner = argument.child_by_field_name("argument")
            assert inner is not None
            argument, levels = inner, levels + 1
        if argument.type == "parenthesized_expression":
            return self._type_of(argument.named_children[0], levels)
        if argument.type == "number_literal":
            text = self.kernel.text(argument)
            return "int" if text.isdigit() else "float" if _FLOAT.fullmatch(text) else None
        sign = argument.child_by_field_name("operator")
        if argument.type == "binary_expression" and sign is not None and sign.type in ("+", "-", "*", "/"):
            operands = (argument.child_by_field_name(f) for f in ("left", "right"))
            types = {self._type_of(o, levels) for o in operands if o is not None}
            if len(types) == 2 and types & {"float", "double"}:
                types.discard("int")
            return types.pop() if len(types) == 1 else None
        for node in walk(self.function):
            if argument.type != "identifier" or node.type not in ("declaration", "parameter_declaration"):
                continue
            for declarator in node.children_by_field_name("declarator"):
                name = name_of(declarator)
                if name is None or self.kernel.text(name) != self.kernel.text(argument):
                    continue
                shape = self.kernel.text(declarator).partition("=")[0]
                first = node.children_by_field_name("declarator")[0]
                kind = self.kernel.data[node.start_byte : first.start_byte].decode()
                type_ = " ".join(_STORAGE_WORDS.sub(" ", kind).split())
                known = "auto" not in type_.split() and "(" not in shape
                if known and len(re.findall(r"[*\[]", shape)) == levels:
                    return type_
        return None
