"""MLIR text line by line, for dialects that jaxlib does not know: operations, values and bodies, without their meaning.

What is found is given in the shape of jaxlib's bindings, as far as `stablehlo.py` asks for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from jaxviz.read.mlir_locations import Locations, apart

_RESULTS = re.compile(r"((?:%[\w$.-]+(?::\d{1,3})?\s*,?\s*)+)=\s*")
_RESULT = re.compile(r"%([\w$.-]+)(?::(\d{1,3}))?")
_NAME = re.compile(r'"?([a-zA-Z_][\w$]*(?:\.[\w$]+)+|return|call)"?')
_USED = re.compile(r"%([\w$.-]+?)(?:#(\d{1,3}))?(?![\w$.#-])")
# A list of operands, at the beginning of what stands behind the name of an operation.
_OPERANDS = re.compile(r"\A\(?(?:%[\w$.#-]+(?:, )?)*+\)?")
_ARGUMENT = re.compile(r"%([\w$.-]+)\s*:\s*([^<,()%{}]+<[^<>]*+(?:<[^<>]*+>[^<>]*+)*+>|[^,()%{}]+)")
# In quotes where there are other characters in it.
_SYMBOL = r'@"?((?<=")[^"]*|[\w$.-]+)"?'
_FUNCTION = re.compile(rf"(?:\w+\.)?func\b.*?{_SYMBOL}\s*\((.*)")
_PRIVATE = re.compile(r"(?:\w+\.)?func private\b")
_MODULE = re.compile(rf"(?:builtin\.)?module {_SYMBOL}")
# How both are written where every operation is written alike.
_GENERIC = re.compile(r'"(?:builtin\.(module)|\w+\.func)"\(.*?\bsym_name = "([\w$.-]+)"')
_GENERIC_PRIVATE = 'sym_visibility = "private"'
_CALLEE = re.compile(_SYMBOL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_COMMENT = re.compile(r"//.*")
_MESH = re.compile(rf"sdy\.mesh {_SYMBOL} = (.*)")
# What a loop gives to its bodies, and what that is at first.
_GIVEN = re.compile(r"%([\w$.-]+) = %([\w$.-]+)")
_BODY = re.compile(r"\w+ *\{$")
_CALLS = ("func.call", "stablehlo.composite")
# Owners of which the reader knows how values come into their bodies.
_KNOWN_BODIES = ("while", "if", "case", "manual_computation", "reduce")
_RETURNS = re.compile(r"(?:\w+\.)*(?:return|yield)\Z")


class LinesError(ValueError):
    """A text whose bodies do not end: where, and what was expected."""


@dataclass(eq=False)
class Value:
    type: str
    location: Any = None


@dataclass(frozen=True)
class Symbol:
    value: str

    def __str__(self) -> str:
        return self.value


@dataclass(eq=False)
class Block:
    arguments: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


@dataclass(eq=False)
class Region:
    blocks: list[Block] = field(default_factory=lambda: [Block()])


@dataclass(eq=False)
class Operation:
    name: str
    operands: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    attributes: dict[str, Symbol] = field(default_factory=dict)
    location: Any = None

    @property
    def operation(self) -> Operation:
        return self


@dataclass(eq=False)
class Module:
    body: Block
    operation: Operation


def read_lines(text: str) -> Module:
    """The module of a text; `LinesError` where its bodies do not end.

    >>> module = read_lines("func.func @f(%x: f32) {\\n  %y = other.thing %x : f32\\n  return %y : f32\\n}")
    >>> [operation.name for operation in module.body.operations[0].regions[0].blocks[0].operations]
    ['other.thing', 'func.return']
    """
    return _Reader(text).module


@dataclass
class _Open:
    """A body that is being read; `owner` is None for one that is only looked through.

    `made` are the owner's results by their names, which nothing inside of it can read, `given` the names and types of
    what the body is given. `head` is the text of the last operation in it.
    """

    owner: Operation | None
    block: Block
    names: dict[str, list[Value]]
    made: dict[str, list[Value]] = field(default_factory=dict)
    given: list[tuple[str, str]] = field(default_factory=list)
    head: str = ""


class _Reader:
    def __init__(self, text: str) -> None:
        body = Block()
        self.module = Module(body, Operation("builtin.module", regions=[Region([body])]))
        self._open = [_Open(None, body, {})]
        self._operations: list[Operation] = []
        self._locations = Locations(text)
        # Those of the line that is read, each with its place in it; the last may be that of the whole line.
        self._inside: list[tuple[int, str]] = []
        self._whole: Any = None
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            # Before each but the first of many modules there are as many as keep its lines where they are.
            if not line:
                continue
            line, self._inside = apart(line.strip())
            is_whole = bool(self._inside) and self._inside[-1][0] >= len(line)
            self._whole = self._locations.read(self._inside[-1][1]) if is_whole else None
            self._read(_COMMENT.sub("", _TEXT.sub(_without_braces, line)).strip(), number)
        if len(self._open) > 1:
            raise LinesError(f"line {len(lines)}:1: expected }}, as often as there is {{")
        _forget_what_does_not_fit(self._operations)

    def _read(self, line: str, number: int) -> None:
        depth = len(self._open) + line.count("{") - line.count("}")
        self._read_known(line, number)
        # Attributes of several lines may begin and end anywhere in a line.
        while len(self._open) < depth:
            self._open.append(_Open(None, self._open[-1].block, self._open[-1].names))
        while len(self._open) > max(depth, 0):
            self._close("}", number)

    def _read_known(self, line: str, number: int) -> None:
        if not line:
            return
        if line[0] in "#!":
            return
        if line[0] == "}":
            self._close(line, number)
        elif line[0] == "^":
            self._add_arguments(line)
        elif line.startswith(("module", "builtin.module")):
            if name := _MODULE.match(line):
                self.module.operation.attributes["sym_name"] = Symbol(name[1])
        elif found := _FUNCTION.match(line):
            self._open_function(found[1], found[2], line, is_private=_PRIVATE.match(line) is not None)
        elif found := _GENERIC.match(line):
            if found[1]:
                self.module.operation.attributes["sym_name"] = Symbol(found[2])
            else:
                self._open_function(found[2], "", line, is_private=_GENERIC_PRIVATE in line)
        else:
            self._add(line)

    def _close(self, line: str, number: int) -> None:
        if len(self._open) == 1:
            raise LinesError(f"line {number}:1: expected {{ before this }}")
        closed = self._open.pop()
        if closed.owner is None:
            return
        if line.endswith("{"):
            # Where only the first body of a loop says what both are given.
            self._open_body(closed.owner, self._names_inside(line) or closed.given, closed.made)
            return
        self._open[-1].names.update(closed.made)
        closed.owner.location = self._whole
        if "->" in line:
            types = _result_types(line)
            for number, value in enumerate(closed.owner.results):
                value.type = _type_of(types, number)

    def _open_function(self, name: str, rest: str, line: str, *, is_private: bool) -> None:
        function = Operation("func.func", attributes={"sym_name": Symbol(name)})
        if is_private:
            function.attributes["sym_visibility"] = Symbol("private")
        self._append(function)
        function.regions.append(Region([]))
        if line.endswith("{"):
            block = Block()
            function.regions[0].blocks.append(block)
            self._open.append(_Open(function, block, {}))
            self._declare(block, _ARGUMENT.findall(rest))
            self._locate(line)

    def _open_body(self, owner: Operation, arguments: list[tuple[str, str]], made: dict[str, list[Value]]) -> None:
        block = Block()
        owner.regions.append(Region([block]))
        names = self._open[-1].names
        # What the owner makes is known by now where its body begins in a line of its own; that cannot read it.
        own = {id(value) for value in owner.results}
        inside = {name: values for name, values in names.items() if not values or id(values[0]) not in own}
        self._open.append(_Open(owner, block, inside, made, arguments))
        self._declare(block, arguments)

    def _declare(self, block: Block, arguments: list[tuple[str, str]]) -> None:
        for name, type_ in arguments:
            value = Value(type_.strip())
            block.arguments.append(value)
            self._open[-1].names[name] = [value]

    def _add_arguments(self, line: str) -> None:
        """The head of a block: what it is given."""
        current = self._open[-1]
        for name, type_ in _ARGUMENT.findall(line):
            # Later blocks are read as if they went straight on; what they are given is not known.
            current.names[name] = []
            if not current.block.operations:
                current.names[name] = [Value(type_.strip())]
                current.block.arguments += current.names[name]
        self._locate(line)

    def _add(self, line: str) -> None:
        made = _RESULTS.match(line)
        rest = line[made.end() :] if made else line
        found = _NAME.match(rest)
        if found is None or found[1].rpartition(".")[2] == "func":
            # An attribute or a type that goes on from the line before, or the head of a function without a name.
            self._continue(line)
            return
        name = found[1] if "." in found[1] else f"func.{found[1]}"
        if _RETURNS.match(name) and name != "func.return":
            name = "stablehlo.return"
        said = rest[found.end() :]
        operation = Operation(name, self._operands(said), attributes=_said(said), location=self._whole)
        if callee := _CALLEE.search(rest):
            operation.attributes["callee"] = Symbol(callee[1])
        if mesh := _MESH.match(rest):
            operation.attributes |= {"sym_name": Symbol(mesh[1]), "mesh": Symbol(mesh[2])}
        elif name == "sdy.mesh":
            # Of one that is not written as Shardy does, nothing is known.
            operation.name = "sdy mesh"
        made_here: dict[str, list[Value]] = {}
        inside = self._names_inside(rest) if rest.endswith("{") else []
        types = _result_types(rest)
        for number, (result, count) in enumerate(_RESULT.findall(made[1]) if made else ()):
            values = [Value(_type_of(types, number + each)) for each in range(int(count or 1))]
            operation.results += values
            made_here[result] = values
        self._append(operation)
        self._open[-1].head = rest
        if rest.endswith("{"):
            self._open_body(operation, inside, made_here)
            self._locate(line)
        else:
            self._open[-1].names.update(made_here)

    def _continue(self, line: str) -> None:
        """A line that is no operation: it may open a body of the operation before it, as `cond {` of a loop does."""
        current = self._open[-1]
        if _BODY.match(line) and current.block.operations:
            self._open_body(current.block.operations[-1], self._names_inside(current.head), {})

    def _append(self, operation: Operation) -> None:
        self._open[-1].block.operations.append(operation)
        self._operations.append(operation)

    def _operands(self, text: str) -> list[Value]:
        names = self._open[-1].names
        found = []
        for name, element in _USED.findall(text):
            values = names.get(name, [])
            number = int(element or 0)
            if number < len(values):
                found.append(values[number])
        return found

    def _locate(self, line: str) -> None:
        """Gives the arguments that a line declares the locations that stand behind them in it."""
        declared = [(found.start(), found[1]) for found in _ARGUMENT.finditer(line)]
        for place, text in self._inside:
            name = next((name for start, name in reversed(declared) if start < place < len(line)), "")
            for value in self._open[-1].names.get(name, ()):
                value.location = self._locations.read(text)

    def _names_inside(self, text: str) -> list[tuple[str, str]]:
        """What a line names that nothing made: the arguments of the body that it opens."""
        names = self._open[-1].names
        first = {name: type_.strip() for name, type_ in _ARGUMENT.findall(text)}
        first |= {name: names[other][0].type for name, other in _GIVEN.findall(text) if names.get(other)}
        used = dict.fromkeys(name for name, _ in _USED.findall(text))
        return [(name, first.get(name, "")) for name in used if name not in names]


def _forget_what_does_not_fit(operations: list[Operation]) -> None:
    """Nothing has checked these lines: calls stay calls where they fit their function, loops are like other owners."""
    functions: dict[str, Block] = {}
    for operation in operations:
        if operation.name == "func.func" and operation.regions[0].blocks:
            functions.setdefault(operation.attributes["sym_name"].value, operation.regions[0].blocks[0])
    for operation in operations:
        dialect, _, kind = operation.name.rpartition(".")
        if operation.name in _CALLS:
            function = functions.get(operation.attributes["callee"].value) if "callee" in operation.attributes else None
            inside = function.operations if function is not None else []
            made = next((len(each.operands) for each in inside if _RETURNS.match(each.name)), 0)
            sizes = len(operation.operands), len(operation.results)
            if function is None or sizes != (len(function.arguments), made):
                operation.name = f"{dialect} {kind}"
        elif operation.regions and kind in _KNOWN_BODIES:
            operation.name = f"{dialect} {kind}"


def _said(text: str) -> dict[str, Symbol]:
    """What a line says of an operation beside its operands and types, as it is written."""
    text = text.strip().removesuffix("({")
    if text.startswith("dense<"):
        return {"value": Symbol(text)}
    rest, _, types = text.rpartition(" : ")
    # A colon inside of braces is of an attribute.
    rest = text if not rest or types.count("}") > types.count("{") else rest
    rest = _OPERANDS.sub("", rest).strip(" ,")
    return {"text": Symbol(rest)} if rest and "->" not in rest else {}


def _without_braces(found: re.Match[str]) -> str:
    """A text in quotes says nothing of bodies and values."""
    return re.sub(r"[{}%/]", " ", found[0])


def _result_types(text: str) -> list[str]:
    """The types after the last arrow, or after the last colon."""
    rest = text.rstrip("{ ")
    arrow, colon = rest.rfind("->"), rest.rfind(" : ")
    if arrow < 0 and colon < 0:
        return []
    listed = rest[arrow + 2 :].strip() if arrow >= 0 else rest[colon + 3 :].strip()
    if listed.startswith("(") and listed.endswith(")"):
        listed = listed[1:-1]
    types, depth, start = [], 0, 0
    for place, letter in enumerate(listed):
        depth += (letter in "<([") - (letter in ">)]" and listed[place - 1] != "-")
        if depth < 0:
            listed = listed[:place]
            break
        if letter == "," and depth == 0:
            types.append(listed[start:place].strip())
            start = place + 1
    return [*types, listed[start:].strip()]


def _type_of(types: list[str], number: int) -> str:
    if not types:
        return "?"
    return types[number] if number < len(types) else types[-1]
