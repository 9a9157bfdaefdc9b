"""Takes a kernel apart where its threads wait: into stretches between barriers, and regions between exchanges.

Where barriers stand at the top of the kernel, or in loops and branches that all threads of a block take alike, no
thread needs a stack of its own: each stretch becomes a loop over the threads, and a variable that lives across a
barrier an array with an element a thread. A stretch in which warps exchange values becomes a loop over the warps, and
each region between exchanges a loop over the lanes. Whatever is not known to be of that shape stays with fibers.
(The technique: Stratton et al., "MCUDA: An Efficient Implementation of CUDA Kernels for Multi-core CPUs", LCPC 2008;
Jaaskelainen et al., "pocl: A Performance-Portable OpenCL Implementation", IJPP 2015; Han et al., "COX: Exposing CUDA
Warp-level Functions to CPUs", TACO 2022.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import tree_sitter

from ...cuda_source import Source, code, head, line_at, name_of, walk
from .exchanges import EXCHANGES, exchange, is_full
from .names import LANE, WAITING, Names, Surroundings
from .parts import Control, Narrowed, NotSimple, Part, Region, Statement, Stretch, Text, Variable
from .spread import ANY, BLOCK, INTEGERS, LANES, PURE, UNSIGNED, WARP, Spread, certain, converted, is_computed
from .walking import BLOCK_WAITS

# Warps run one after the other, so none may wait in a loop for what another does.
_SPINS = re.compile(r"\b(?:volatile|atomicCAS\w*|atomicExch\w*|clock\w*|__nanosleep)\b")
_UNROLL = re.compile(r"#\s*pragma\s+(?:no)?unroll")
_LOOPS = ("for_statement", "while_statement", "do_statement", "switch_statement", "for_range_loop")
_NOT_SIMPLE = ("goto_statement", "labeled_statement", "lambda_expression", "try_statement")
_TYPES = ("type_definition", "alias_declaration", "using_declaration", "static_assert_declaration")


class Shape:
    """The parts of a kernel. Raises NotSimple. `shared` gives the C++ of a ``__shared__`` declaration."""

    def __init__(
        self,
        source: Source,
        function: tree_sitter.Node,
        around: Surroundings,
        shared: Callable[[Source, tree_sitter.Node], str],
    ) -> None:
        self.source, self.shared = source, shared
        self.names = Names(source, function, around)
        body = function.child_by_field_name("body")
        if body is None or any(n.type in _NOT_SIMPLE for n in walk(body)):
            raise NotSimple
        text = code(source, body)
        self.last_wait = body.start_byte + max((m.start() for m in WAITING.finditer(text)), default=0)
        self.has_exchanges = any(re.search(rf"\b{e}\b", text) for e in EXCHANGES)
        if self.has_exchanges and _SPINS.search(text):
            raise NotSimple
        self.stretch: Stretch | None = None
        self.region = Region(None)
        self.ended: list[Part] = []  # where the region goes when it ends
        self.effects = False  # whether what stands before has any
        self.has_guards = False
        self.numbers = 0
        self.parts = self.block(body.named_children, outermost=True)

    # What all threads of a block run alike.

    def block(self, nodes: Sequence[tree_sitter.Node], *, outermost: bool = False) -> list[Part]:
        parts: list[Part] = []
        pending: list[tree_sitter.Node] = []

        def flush() -> None:
            self.stretch = Stretch() if any(map(self.names.waits, pending)) else None
            inner = self.straight(pending, parts)
            if self.stretch is not None:
                self.stretch.parts = inner
            parts.extend(inner if self.stretch is None else [self.stretch])
            self.stretch = None
            pending.clear()

        for node in nodes:
            if self.is_barrier(node):
                flush()
                self.effects = True
                parts.append(Text("CUDAPERF_WHOLE_BARRIER", self.line(node)))
            elif outermost and (condition := self.leaves_early(node)) is not None:
                flush()
                guards, all_leave = self.decided(condition)
                parts += [*guards, Text(f"if {all_leave} return true;", self.line(node))]
            elif self.walks(node):
                flush()
                parts.append(Text(self.source.text(node), self.line(node)))
            elif BLOCK_WAITS.search(code(self.source, node)):
                flush()
                parts += self.control(node)
            elif (condition := self.guarding(node, pending)) is not None:
                flush()
                if self.names.spread(condition).over > WARP:
                    parts += self.branch(node)
                else:
                    pending.append(node)
            else:
                pending.append(node)
        flush()
        return parts

    def is_barrier(self, node: tree_sitter.Node) -> bool:
        text = self.source.text(node).replace(" ", "")
        return node.type == "expression_statement" and text == "__syncthreads();"

    def walks(self, node: tree_sitter.Node) -> bool:
        """Whether the statement changes a variable that the block has once."""
        changed = (
            node.named_children[0] if node.type == "expression_statement" and node.named_children else node
        )
        target = changed.child_by_field_name("left") or changed.child_by_field_name("argument")
        return target is not None and self.source.text(target) in self.names.walking

    def leaves_early(self, node: tree_sitter.Node) -> tree_sitter.Node | None:
        """The condition of an ``if (...) return;`` with waiting behind it."""
        if node.type != "if_statement" or node.start_byte > self.last_wait:
            return None
        taken = node.child_by_field_name("consequence")
        if taken is not None and taken.type == "compound_statement" and taken.named_child_count == 1:
            taken = taken.named_children[0]
        if taken is None or taken.type != "return_statement" or node.child_by_field_name("alternative"):
            return None
        return node.child_by_field_name("condition")

    def guarding(self, node: tree_sitter.Node, before: Sequence[tree_sitter.Node]) -> tree_sitter.Node | None:
        """The condition of a branch with exchanges behind nothing but declarations."""
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if self.effects or condition is None or not self.names.waits(node) or self.names.waits(condition):
            return None
        plain = all(n.type == "declaration" and not self.names.waits(n) for n in before)
        return condition if plain else None

    def decided(self, condition: tree_sitter.Node) -> tuple[list[Part], str]:
        """A condition for the whole block, and what finds out before it whether it is one."""
        if self.names.spread(condition).over == BLOCK:
            return [], f"({self.source.text(condition)})"
        # Before anything has an effect the block may still be run on fibers.
        if self.effects or self.names.waits(condition) or self.has_effects(condition):
            raise NotSimple
        self.has_guards = True
        self.numbers += 1
        count, line = f"cudaperf_{self.numbers}", self.line(condition)
        self.region = guard = Region(None)
        self.add(f"{count} += {self.source.text(condition)} ? 1 : 0;", condition)
        mixed = f"{count} && {count} != blockDim.x * blockDim.y * blockDim.z"
        guards: list[Part] = [Text(f"unsigned int {count} = 0;", line), guard]
        return [*guards, Text(f"if ({mixed}) return false;", line)], f"({count} != 0)"

    # What the lanes of a warp, or the threads of a block that exchange nothing, run alike.

    def straight(self, nodes: Sequence[tree_sitter.Node], outside: list[Part] | None = None) -> list[Part]:
        """The parts of statements with no barrier. `outside` is for what is done once before all of them."""
        parts: list[Part] = []
        before, self.ended = self.ended, parts
        texts = parts if outside is None else outside
        self.region = Region(self.stretch)
        for node in nodes:
            if node.type == "comment" or _UNROLL.match(self.source.text(node)):
                continue
            if node.type.startswith("preproc") or self.leaves(node):
                raise NotSimple
            if node.type == "declaration":
                self.declaration(node, texts)
            elif node.type in _TYPES:
                texts.append(Text(self.source.text(node), self.line(node)))
            elif not self.names.waits(node):
                self.effects |= self.has_effects(node)
                self.add(self.without_returns(node), node)
            elif node.type == "expression_statement":
                self.effects = True
                text = self.exchanged(node)
                if text.strip() != ";":
                    self.add(text, node)
            else:
                self.cut()
                parts += self.control(node)
        self.cut()
        self.ended = before
        return parts

    def cut(self) -> None:
        """Ends the region: what follows runs when all lanes are through with it."""
        if self.region.statements:
            self.ended.append(self.region)
        self.region = Region(self.stretch)

    def add(self, text: str, node: tree_sitter.Node) -> None:
        self.region.statements.append(Statement(text, self.line(node), self.narrowed(node)))
        self.mention(node)

    def narrowed(self, node: tree_sitter.Node) -> Narrowed | None:
        """A branch as fewer turns of the loop, where its condition is one on the thread's index in its row alone."""
        parts = [node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")]
        compared = parts[0].child_by_field_name("value") if parts[0] and node.type == "if_statement" else None
        if (
            compared is None
            or compared.type != "binary_expression"
            or parts[1] is None
            or parts[2] is not None
        ):
            return None
        index, sign, bound = compared.children
        text = self.source.text(parts[1])
        if self.names.spread(bound).over > BLOCK or self.names.needs(bound) or "return" in text:
            return None
        limit = self.source.text(bound)
        if sign.type == "==" and limit.isdigit() and int(limit) < 32:
            lane = self.stretch is not None and self.names.means(index) in LANE
            if lane or (self.stretch is None and self.names.means(index) == "threadIdx.x"):
                end = f"{int(limit) + 1}" if lane else f"(blockDim.x > {limit} ? {int(limit) + 1} : 0)"
                return Narrowed(limit, end, text)
        if sign.type == "<" and self.stretch is None and self.names.means(index) == "threadIdx.x":
            zero = f"static_cast<{self.names.type_of(index)}>(0)"
            return Narrowed("0", f"::cudaperf::below({zero}, {limit}, blockDim.x)", text)
        return None

    def mention(self, node: tree_sitter.Node) -> None:
        for variable in self.names.needs(node):
            self.region.mentioned[variable] = None
            variable.regions.add(self.region)

    def without_returns(self, node: tree_sitter.Node) -> str:
        """A statement's text. A thread that returns leaves the loop's body, where nothing waits behind it."""
        text, begin = self.source.text(node).encode(), node.start_byte
        for inner in reversed([n for n in walk(node) if n.type == "return_statement"]):
            above: tree_sitter.Node | None = inner
            while above is not None and above != node.parent:
                if above.type in _LOOPS:
                    raise NotSimple
                above = above.parent
            if begin < self.last_wait or len(self.names.scopes) > 1:
                raise NotSimple
            text = text[: inner.start_byte - begin] + b"continue;" + text[inner.end_byte - begin :]
        return text.decode()

    def has_effects(self, node: tree_sitter.Node) -> bool:
        """Whether something may change more than the thread's own variables."""
        for inner in walk(node):
            match inner.type:
                case "call_expression":
                    if self.source.text(inner.children[0]) not in PURE:
                        return True
                case "assignment_expression" | "update_expression":
                    target = inner.child_by_field_name("left") or inner.child_by_field_name("argument")
                    variable = self.names.lookup(self.source.text(target)) if target else None
                    if variable is None or variable.scalar or "&" in variable.type + variable.declarator:
                        return True
                case "delete_expression" | "new_expression" | "return_statement" | "asm_statement":
                    return True
        return False

    def leaves(self, node: tree_sitter.Node) -> bool:
        """Whether a break or continue inside leaves a loop outside of the node."""
        if node.type in ("break_statement", "continue_statement"):
            return True
        if node.type in _LOOPS:
            return node.type == "switch_statement" and any(n.type == "continue_statement" for n in walk(node))
        return any(self.leaves(child) for child in node.named_children)

    # Declarations.

    def declaration(self, node: tree_sitter.Node, texts: list[Part]) -> None:
        """A declaration: once for the block where its value is the same for all threads."""
        words, line = head(self.source, node), self.line(node)
        declarators = node.children_by_field_name("declarator")
        if "__shared__" in words or (words & {"constexpr", "static"} and not self.names.waits(node)):
            shared = "__shared__" in words
            texts.append(Text(self.shared(self.source, node) if shared else self.source.text(node), line))
            for declarator in declarators:
                if (name := name_of(declarator)) is not None:
                    over = ANY if shared and declarator.type != "array_declarator" else BLOCK
                    self.names.declare(Variable(self.source.text(name), scalar=True, spread=Spread(over)))
            return
        for declarator in declarators:
            variable = self.variable(node, declarator)
            value = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            if variable.name in self.names.walking:
                if texts is self.ended:  # inside of what each warp runs
                    raise NotSimple
                variable.scalar, variable.spread = True, Spread(BLOCK)
            elif value is not None:
                self.classify(variable, value)
            if variable.scalar:
                given = f" = {variable.value}" if value is not None else ""
                texts.append(Text(f"{variable.type} {variable.declarator}{given};", line))
            elif not variable.computed:
                self.region.statements.append(variable)
                self.region.mentioned[variable] = None
                variable.regions.add(self.region)
                if value is not None:
                    self.mention(value)
                    self.effects |= self.has_effects(value)
            self.names.declare(variable)

    def classify(self, variable: Variable, value: tree_sitter.Node) -> None:
        """Finds out whether the variable's value is the block's, or can be computed wherever it is needed."""
        type_ = variable.type + variable.declarator.replace(variable.name, "")
        changes = variable.name in self.names.modified or re.search(r"[&\[]|\bvolatile\b", type_)
        if changes or not self.names.is_lasting(value):
            return
        needs, spread = self.names.needs(value), converted(self.names.spread(value), type_)
        integer = set(re.findall(r"\w+", type_)) & INTEGERS and "*" not in type_
        variable.scalar = bool(spread.over == BLOCK and integer and not needs)
        variable.computed = not variable.scalar and is_computed(self.source, value)
        if variable.scalar or variable.computed:
            variable.spread, variable.needs = spread, needs
            others = [n for n in needs if not n.rising]
            indices = self.source.text(value).count("threadIdx.x") + len(needs) - len(others)
            signed = integer and set(re.findall(r"\w+", type_)).isdisjoint(UNSIGNED)
            alike = all(n.spread.over == BLOCK for n in others)
            variable.rising = bool(signed and spread.over == LANES and indices == 1 and alike)

    def variable(self, node: tree_sitter.Node, declarator: tree_sitter.Node) -> Variable:
        first = node.children_by_field_name("declarator")[0]
        type_ = self.source.data[node.start_byte : first.start_byte].decode()
        value, inner = "", declarator
        if declarator.type == "init_declarator":
            given = declarator.child_by_field_name("value")
            assert given is not None
            value = self.exchanged(given)
            inner = declarator.child_by_field_name("declarator") or declarator
            if "=" not in self.source.text(declarator)[: given.start_byte - declarator.start_byte]:
                value = f"{{{value.strip('(){}')}}}"
        name = name_of(inner)
        if name is None:
            raise NotSimple
        return Variable(
            self.source.text(name), " ".join(type_.split()), self.source.text(inner), value, self.line(node)
        )

    # Loops and branches.

    def control(self, node: tree_sitter.Node) -> list[Part]:
        match node.type:
            case "for_statement":
                return [self.loop(node)]
            case "while_statement" if self.stretch is None:
                condition, body = (node.child_by_field_name(f) for f in ("condition", "body"))
                if condition is None or body is None or self.names.spread(condition).over > BLOCK:
                    raise NotSimple
                needs, heading = self.names.needs(condition), f"while {self.source.text(condition)}"
                return [Control(heading, self.line(node), needs, self.within(body))]
            case "if_statement":
                return self.branch(node)
            case "compound_statement":
                return [Control("", self.line(node), (), self.within(node))]
        raise NotSimple

    def within(self, node: tree_sitter.Node) -> list[Part]:
        """The parts of a loop's or branch's body."""
        nodes = node.named_children if node.type == "compound_statement" else [node]
        self.effects = True
        self.names.scopes.append({})
        parts = self.straight(nodes) if self.stretch else self.block(nodes)
        self.names.scopes.pop()
        return parts

    def branch(self, node: tree_sitter.Node) -> list[Part]:
        condition, taken, other = (
            node.child_by_field_name(f) for f in ("condition", "consequence", "alternative")
        )
        if condition is None or taken is None:
            raise NotSimple
        guards: list[Part] = []
        needs = self.names.needs(condition)
        if self.stretch is None:
            guards, text = self.decided(condition)
            needs = () if guards else needs
        else:
            if self.names.spread(condition, with_votes=True).over > WARP:
                raise NotSimple
            text = self.exchanged(condition)
            self.cut()
        body = self.within(taken)
        otherwise = self.within(other.named_children[-1]) if other is not None else []
        return [*guards, Control(f"if {text}", self.line(node), needs, body, otherwise)]

    def loop(self, node: tree_sitter.Node) -> Control:
        first, condition, update, body = (
            node.child_by_field_name(f) for f in ("initializer", "condition", "update", "body")
        )
        if condition is None or update is None or body is None:
            raise NotSimple
        limit = WARP if self.stretch else BLOCK
        self.names.scopes.append({})
        needs: list[Variable] = []
        if first is not None and first.type != "declaration" and not self.steps(first, limit):
            raise NotSimple
        for declarator in first.children_by_field_name("declarator") if first is not None else ():
            value, name = declarator.child_by_field_name("value"), name_of(declarator)
            if value is None or name is None or self.names.spread(value).over > limit:
                raise NotSimple
            if self.source.text(name) in self.names.changes(body):
                raise NotSimple
            needs += self.names.needs(value)
            self.names.declare(Variable(self.source.text(name), scalar=True, spread=Spread(limit)))
        if self.names.spread(condition).over > limit or not self.steps(update, limit):
            raise NotSimple
        needs += [*self.names.needs(condition), *self.names.needs(update)]
        heading = self.source.data[node.start_byte : body.start_byte].decode()
        parts = self.within(body)
        self.names.scopes.pop()
        return Control(" ".join(heading.split()), self.line(node), tuple(needs), parts)

    def steps(self, update: tree_sitter.Node, limit: int) -> bool:
        """Whether a part of a loop's head changes alike for all what is the loop's own, or the block's."""
        if update.type == "comma_expression":
            return all(self.steps(n, limit) for n in update.named_children)
        target = update.child_by_field_name("left") or update.child_by_field_name("argument")
        if update.type not in ("assignment_expression", "update_expression") or target is None:
            return False
        known = {*self.names.scopes[-1], *(self.names.walking if self.stretch is None else ())}
        value = update.child_by_field_name("right")
        return self.source.text(target) in known and (not value or self.names.spread(value).over <= limit)

    # Exchanges.

    def exchanged(self, node: tree_sitter.Node) -> str:
        """The node's text with its exchanges done: what the lanes give goes to the region, which ends there."""
        if not self.names.waits(node):
            return self.source.text(node)
        function = node.child_by_field_name("function") if node.type == "call_expression" else None
        if function is not None and self.source.text(function) in EXCHANGES:
            return self.exchange(node, self.source.text(function))
        if not node.children or node.type == "comma_expression":
            raise NotSimple
        evaluated = certain(node)
        pieces, position = [], node.start_byte
        for child in node.children:
            if evaluated is not None and child != evaluated and self.names.waits(child):
                raise NotSimple
            pieces += [self.source.data[position : child.start_byte].decode(), self.exchanged(child)]
            position = child.end_byte
        return "".join(pieces)

    def exchange(self, node: tree_sitter.Node, name: str) -> str:
        given = node.child_by_field_name("arguments")
        arguments = [a for a in given.named_children if a.type != "comment"] if given else []
        if self.stretch is None or (
            arguments and not is_full(self.source.text(arguments[0]), self.names.value_of)
        ):
            raise NotSimple
        if name == "__activemask":
            return "0xffffffffu"
        if name == "__syncwarp":
            self.cut()
            return ""
        self.numbers += 1
        number = self.numbers
        done = exchange(name, [self.exchanged(a) for a in arguments[1:]], number)
        self.stretch.exchanges.append(done.storage)
        if done.before:
            self.ended.append(Text(done.before, self.line(node)))
        self.add(done.give, arguments[1])
        self.cut()
        return done.taken

    def line(self, node: tree_sitter.Node) -> int:
        return line_at(self.source.data[: node.start_byte].decode(errors="replace"))
