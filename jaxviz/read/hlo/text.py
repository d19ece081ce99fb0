"""From the text of an HLO module to its columns: one regular expression a line.

Reads what XLA prints with any of its options, and what JAX from 0.4 on dumps: with or without `%`, types of operands,
layouts and long constants, and with source lines either in each instruction or in tables at the top.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxviz.read.garbage import without_collections
from jaxviz.read.hlo.aliases import aliases_in_text
from jaxviz.read.hlo.inferred import fill_in_shapes
from jaxviz.read.hlo.inline import inline_bodies
from jaxviz.read.hlo.module import HloComputation, HloError, HloModule, Location, Pairs
from jaxviz.read.hlo.nested import operand_names, with_operands_apart
from jaxviz.read.hlo.pairs import METADATA, HloTextError, first_column, split_pairs, unquoted
from jaxviz.read.hlo.relined import relined
from jaxviz.read.hlo.said import with_types_said
from jaxviz.read.hlo.text_elements import add_element
from jaxviz.read.hlo.text_tables import read_tables

_NAME = r"[^\s=,(){}%\"]+"
# In balanced parentheses, and possessive throughout: whatever the text, no character is tried twice.
_INSIDE = r"[^()]*+"
for _ in range(8):
    _INSIDE = rf"(?:[^()]++|\({_INSIDE}\))*+"
_SHAPE = rf"[^\s(]\S*+|\((?! ){_INSIDE}\)"
_INSTRUCTION = re.compile(rf"\s*(ROOT )?%?({_NAME}) = ({_SHAPE}) ([a-z][\w-]*)\(({_INSIDE})\)(?:, ([a-zA-Z_].*))?\s*$")
# The head of a computation that was printed without its name.
_UNNAMED = re.compile(r"\s*%?\(.*\{\s*$")
_COMPUTATION = re.compile(rf"\s*(ENTRY )?(?:%?({_NAME}) ?)?(?:\(.* )?\{{\s*$")
# Space and comments before the head, as people put licences there.
_LEADING = re.compile(r"\A(?:\s++|//[^\n]*+|/\*(?s:.*?)\*/)++")
_HEADER = re.compile(r"\s*HloModule (?:([^\s,]+)|(?=,))(?:, (.*))?$")
_CLOSING = re.compile(r"\s*\}(?:, [\w-]+=.*|\s*//.*)?\s*$")
# Few texts have a line that begins with one of these, and to look for those is a tenth of the work.
_OPENING_LINE = re.compile(r"\n[^\S\n]*+[{(]")
_INLINE = re.compile(r"[a-z]=\{?\s*\n\s*[{(]")
_COMMENT = re.compile(r"/\*.*?\*/")
# Where in a constant of many dimensions a row begins.
_INDEX = re.compile(r"/\*i\d+=\d+\*/ ?")
_WITH_PERCENT = re.compile(r"%([^\s,()%]+)")
_ALL_MARKED = re.compile(rf"(?:(?:/\*[^*]*\*/)?+(?:(?:[a-z]\w*\[\S*+|\({_INSIDE}\)) )?+%[^\s,()%]++(?:, |,(?=%)|$))*+")
_WITHOUT_PERCENT = re.compile(r"([^\s,(){}\[\]*/]+)(?=, |$)")
# An operand that is an instruction itself; letters before a parenthesis in a layout are capitals.
_NESTED = re.compile(r"[a-z]{2}\(")
# A comma between operands that no space follows; those in types stand between numbers.
_CLOSE_COMMA = re.compile(r",(?=[A-Za-z_])")
# Metadata as it mostly is, and any field of other metadata.
_ORIGIN = re.compile(
    r'metadata=\{(?:op_name="([^"\\]*+)" ?)?(?:deduplicated_name="[^"\\]*+" ?)?(?:scheduling_name="[^"\\]*+" ?)?'
    r"(?:stack_frame_id=(\d{1,9}))?\}"
)
_FIELD = re.compile(r'(\w+)=(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|(\S+))')

#: Attributes that name computations.
CALLING = {
    "calls",
    "to_apply",
    "body",
    "condition",
    "select",
    "scatter",
    "true_computation",
    "false_computation",
    "branch_computations",
    "called_computations",
}

_Calls = tuple[tuple[str, str], ...]


class _Attributes(NamedTuple):
    """What is said of an instruction apart from its metadata."""

    calls: _Calls
    pairs: Pairs
    number: int


@without_collections
def parse_hlo_text(text: str) -> HloModule:
    """The module that a text holds; `HloError` with line and column for one that it cannot read.

    >>> module = parse_hlo_text("HloModule m\\nENTRY e {\\n  ROOT p = f32[2] parameter(0)\\n}")
    >>> module.computations[module.entry].names
    ['p']
    """
    try:
        return _Parser(text).module
    except HloTextError as error:
        return _written_by_hand(text, error)


def _written_by_hand(text: str, error: HloTextError) -> HloModule:
    """The module of a text whose lines are not those that XLA prints, for which reading them gave an error."""
    lines, numbers = relined(text)
    if not lines:
        raise error
    lines, numbers = with_operands_apart(with_types_said(lines), numbers)
    try:
        module = _Parser("\n".join(lines)).module
        fill_in_shapes(module)
    except HloTextError as other:
        # The one that got further knows better what the text means to be.
        line = numbers[min(other.line, len(numbers)) - 1]
        raise (error if line <= error.line else HloTextError(line, 1, other.expected)) from None
    for computation in module.computations:
        computation.places = [numbers[place - 1] for place in computation.places]
    module.name = module.name or module.computations[module.entry].name
    return module


class _Parser:
    def __init__(self, text: str) -> None:
        self.module = HloModule()
        # Computations that are called may stand anywhere: their names are looked up at the end.
        self._calls: list[tuple[HloComputation, int, _Calls]] = []
        self._attributes: dict[str, _Attributes] = {"": _Attributes((), (), -1)}
        self._origins: dict[str, tuple[str, int]] = {}
        self._source_frames: dict[tuple[str, int], int] = {}
        lines = _LEADING.sub(_empty_lines, text.replace("\r\n", "\n"), count=1).split("\n")
        at = self._read_header(lines)
        at = read_tables(lines, at, self.module)
        self._frame_count = len(self.module.frames)
        bodies = inline_bodies(lines) if _OPENING_LINE.search(text) and _INLINE.search(text) else []
        self._read_computations(lines, at)
        for body in bodies:
            computation = HloComputation(body.name)
            self.module.computations.append(computation)
            self._read_instructions(computation, body.lines(), body.start)
        self._resolve()

    def _read_header(self, lines: list[str]) -> int:
        for number, line in enumerate(lines):
            if not line or line.isspace():
                continue
            found = _HEADER.match(line)
            if found is None:
                raise HloTextError(number + 1, first_column(line), "HloModule and the name of the module")
            # Texts that are to be compared have no names.
            self.module.name = (found[1] or "").lstrip("%")
            self.module.attributes = split_pairs(found[2] or "", number + 1, found.start(2) + 1)
            self.module.aliases += aliases_in_text(dict(self.module.attributes).get("input_output_alias", ""))
            return number + 1
        raise HloError("line 1:1: expected HloModule and the name of the module, but the text is empty")

    # Computations.

    def _read_computations(self, lines: list[str], at: int) -> None:
        computations = self.module.computations
        count = len(lines)
        while at < count:
            line = lines[at]
            at += 1
            if not line or line.isspace():
                continue
            found = _COMPUTATION.match(line)
            if found is None:
                if line.lstrip().startswith("//"):
                    continue
                unnamed = _UNNAMED.match(line) is not None
                missing = ", but names are left out (print_ids = False), so that nothing says what is called"
                raise HloTextError(at, first_column(line), f"the name of a computation and {{{missing * unnamed}")
            if found[1]:
                if self.module.entry >= 0:
                    raise HloTextError(at, first_column(line), "one ENTRY computation only")
                self.module.entry = len(computations)
            computation = HloComputation(found[2] or f"computation_at_line_{at}")
            computations.append(computation)
            at = self._read_instructions(computation, lines, at)
        if not computations:
            raise HloTextError(count, 1, "an ENTRY computation")
        if self.module.entry < 0:
            self.module.entry, self.module.is_entry_said = len(computations) - 1, False

    def _read_instructions(self, computation: HloComputation, lines: list[str], start_at: int) -> int:
        """Read the lines from `start_at` to the closing brace; give the line after it."""
        match = _INSTRUCTION.match
        add_name, add_opcode = computation.names.append, computation.opcodes.append
        add_shape, add_operands = computation.shapes.append, computation.operands.append
        add_call, add_attributes = computation.calls.append, computation.attributes.append
        add_op_name, add_frame = computation.op_names.append, computation.frames.append
        add_number, add_place = computation.numbers.append, computation.places.append
        known_attributes, known_origins = self._attributes, self._origins
        read_origin, frame_count = _ORIGIN.match, self._frame_count
        index_of: dict[str, int] = {}
        later: list[tuple[int, list[str]]] = []
        index = 0
        for at in range(start_at, len(lines)):
            line = lines[at]
            found = match(line)
            if found is None:
                if not line or line.isspace() or line.lstrip().startswith("//"):
                    continue
                if _CLOSING.match(line):
                    break
                raise _explain(line, at + 1)
            root, name, shape, opcode, inside, rest = found.groups()
            if root:
                if computation.root >= 0:
                    raise HloTextError(at + 1, first_column(line), "one ROOT instruction only")
                computation.root = index
            if name in index_of:
                raise HloTextError(at + 1, found.start(2) + 1, f"a name that was not given before, not {name}")
            index_of[name] = index
            add_name(name)
            add_opcode(opcode)
            add_shape(shape if "/*" not in shape else _COMMENT.sub("", shape))
            add_place(at + 1)

            # Attributes, with the metadata cut out of them.
            op_name, frame = "", -1
            if rest is None:
                attributes = known_attributes[""]
            else:
                start = rest.find("metadata={")
                if start >= 0 and (start == 0 or rest[start - 2] == ","):
                    end = read_origin(rest, start)
                    if end is not None:
                        op_name, row = end[1] or "", int(end[2] or 0)
                        # The tables may have been left out, or belong to another module.
                        frame = row - 1 if row <= frame_count else -1
                    else:
                        end = METADATA.match(rest, start)
                        if end is None:
                            raise HloTextError(at + 1, found.start(6) + start + 1, "metadata that ends with }")
                        origin = end[1]
                        known = known_origins.get(origin)
                        if known is None:
                            known = known_origins[origin] = self._read_origin(origin, at + 1)
                        op_name, frame = known
                    rest = rest[: max(start - 2, 0)] + rest[end.end() + (2 if start == 0 else 0) :]
                known_attribute = known_attributes.get(rest)
                if known_attribute is None:
                    known_attribute = self._read_attributes(rest, at + 1, found.start(6) + 1)
                    known_attributes[rest] = known_attribute
                attributes = known_attribute
            add_op_name(op_name)
            add_frame(frame)
            calls, pairs, number = attributes
            add_call(())
            if calls:
                self._calls.append((computation, index, calls))

            # What stands in parentheses.
            operands: tuple[int, ...] = ()
            if opcode == "constant":
                pairs = (("value", inside if "/*" not in inside else _INDEX.sub("", inside)), *pairs)
            elif opcode == "parameter":
                if not inside.isdecimal() or len(inside) > 9:
                    raise HloTextError(at + 1, found.start(5) + 1, "the number of a parameter")
                number = int(inside)
            elif inside:
                if "%" in inside:
                    names = _WITH_PERCENT.findall(inside)
                    # Types have commas too; but some names may stand without their mark.
                    if inside.count(",") >= len(names) and not _ALL_MARKED.fullmatch(inside):
                        names = operand_names(inside)
                else:
                    names = _WITHOUT_PERCENT.findall(_CLOSE_COMMA.sub(", ", inside))
                    # Some may have a space behind them.
                    if 0 < len(names) <= inside.count(","):
                        names = operand_names(inside)
                try:
                    operands = tuple([index_of[operand] for operand in names])
                except KeyError:
                    later.append((index, names))
                if not names or "..." in inside or ("(" in inside and _NESTED.search(inside)):
                    raise HloTextError(at + 1, found.start(5) + 1, "the names of all operands")
            add_operands(operands)
            add_attributes(pairs)
            add_number(number)
            index += 1
        else:
            raise HloTextError(len(lines), 1, f"}} at the end of computation {computation.name}")
        if index == 0:
            raise HloTextError(at + 1, 1, f"an instruction in computation {computation.name}")
        if computation.root < 0:
            # So XLA reads what was written without one.
            computation.root = index - 1

        for place, names in later:
            for operand in names:
                if operand not in index_of and not add_element(
                    computation, index_of, operand, computation.places[place]
                ):
                    number = computation.places[place]
                    column = max(lines[number - 1].find(operand), 0) + 1
                    raise HloTextError(number, column, f"an instruction of this computation, not {operand}")
            computation.operands[place] = tuple([index_of[operand] for operand in names])
        return at + 1

    # The parts of a line.

    def _read_attributes(self, text: str, line: int, column: int) -> _Attributes:
        calls: list[tuple[str, str]] = []
        pairs: list[tuple[str, str]] = []
        index = -1
        for key, value in split_pairs(text, line, column):
            if key in CALLING:
                names = value.strip("{} ").replace("%", "").split(", ")
                if value.startswith("{"):
                    role = "branch" if key == "branch_computations" else "calls"
                    calls += [(f"{role} {number}", name) for number, name in enumerate(names) if name]
                else:
                    role = {"true_computation": "branch 0", "false_computation": "branch 1"}.get(key, key)
                    calls.append((role, names[0]))
            elif key == "index":
                index = int(value) if value.isdecimal() and len(value) < 10 else -1
            else:
                pairs.append((key, value))
        return _Attributes(tuple(calls), tuple(pairs), index)

    def _read_origin(self, text: str, line: int) -> tuple[str, int]:
        """The name stack and the frame in the metadata of an instruction."""
        found = {key: quoted or plain for key, quoted, plain in _FIELD.findall(text)}
        op_name = unquoted(found.get("op_name", ""))
        frame = found.get("stack_frame_id", "")
        if frame.isdecimal() and frame != "0":
            return op_name, int(frame) - 1 if len(frame) < 10 and int(frame) <= self._frame_count else -1
        file = unquoted(found.get("source_file", ""))
        if not file:
            return op_name, -1
        source_line = found.get("source_line", "0")
        place = file, int(source_line) if source_line.isdecimal() and len(source_line) < 10 else 0
        known = self._source_frames.get(place)
        if known is None:
            module = self.module
            known = self._source_frames[place] = len(module.frames)
            if file not in module.files:
                module.files.append(file)
            module.frames.append((len(module.locations), -1))
            module.locations.append(Location(module.files.index(file), -1, place[1], 0, 0, 0))
        return op_name, known

    def _resolve(self) -> None:
        number_of: dict[str, int] = {}
        for number, computation in enumerate(self.module.computations):
            if number_of.setdefault(computation.name, number) != number:
                line = computation.places[0] - 1
                raise HloTextError(line, 1, f"a name that was not given before, not {computation.name}")
        for computation, index, calls in self._calls:
            for _, name in calls:
                if name not in number_of:
                    raise HloTextError(computation.places[index], 1, f"a computation of this module, not {name}")
            computation.calls[index] = tuple([(role, number_of[name]) for role, name in calls])


def _empty_lines(found: re.Match[str]) -> str:
    """As many ends of lines, so that what follows stays in its line."""
    return "\n" * found[0].count("\n")


# Errors.


_PARTS = (
    (r"\s*(?:ROOT )?%?", "the name of an instruction"),
    (_NAME, "="),
    (r" = ", "a shape"),
    (rf"(?:{_SHAPE}) (?=[a-z])", "an operation"),
    (r"[a-z][\w-]*", "("),
    (r"\(", "operands and )"),
)


def _explain(line: str, number: int) -> HloTextError:
    """What the first part of an instruction that is not there should have been."""
    at = 0
    expected = "an instruction or }"
    for pattern, following in _PARTS:
        found = re.compile(pattern).match(line, at)
        if found is None:
            break
        at, expected = found.end(), following
    return HloTextError(number, at + 1, expected)
