"""What the text of a snapshot says of equations: which of them still compute something, and what took the place of one.

A value that is taken out of a tuple keeps the name of the loop that made it, a constant that of what was folded, and a
number that a product needs in its shape that of the product: that these are there does not mean that the equation is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from jaxviz.link.links import Found
from jaxviz.program.optimize import Snapshot
from jaxviz.read.tag_text import MARK

#: What only moves values computes none of them.
ONLY_MOVE = frozenset(
    {"bitcast", "broadcast", "concatenate", "constant", "copy", "pad", "reshape", "slice", "transpose", "tuple"}
)
#: What gives values another shape or place only: of a sum over an axis of size 1, a reshape may be left.
SHAPES = frozenset({"bitcast", "broadcast", "copy", "reshape", "transpose"})
#: How the reader of what a computation gives is called.
GIVEN_BY = "given by"
_TAGGED_NAME = re.compile(rf'op_name="([^"]*{MARK}[^"]*)"')
# What a fusion does is told by what is in it.
_IDLE = (" get-tuple-element(", " tuple(", " constant(", " parameter(", " fusion(")
# A number in the shape of what it meets, and the operation of JAX of which that is all.
_FILLED, _FILLS = " broadcast(", "broadcast_in_dim"
_FILLED_BY_CONSTANT = re.compile(r" broadcast\((?:\S+ )?%?constant")
_SHAPING = re.compile(rf" (?:{'|'.join(sorted(SHAPES))})\(")
_SHAPED_CONSTANT = re.compile(rf" (?:{'|'.join(sorted(SHAPES))})\((?:\S+ )?%?constant")
_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (.*)$", re.MULTILINE)
_OPERAND = re.compile(r"(?<![={\w])%([\w.\-]+)")
_CALLED = re.compile(r"=%([\w.\-]+)")
_NAME = re.compile(r'op_name="([^"]*)"')
_OPCODE = re.compile(r" ([a-z][\w\-]*)\(")
#: How a computation begins: whether it is the program itself, and its name.
HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$", re.MULTILINE)


def working_names(text: str) -> set[str]:
    """The tagged names of the instructions that compute something."""
    return set().union(*ToldNames().of(text))


class ToldNames:
    """What the lines of snapshots tell of equations. Each is read once: most stand in one snapshot after the other."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, int] | None] = {}

    def of(self, text: str) -> tuple[set[str], set[str], set[str]]:
        """The tagged names of the instructions that compute something; apart, those of which only another shape of a
        value is left, and those of which only a constant is, in a shape."""
        found: tuple[set[str], set[str], set[str]] = set(), set(), set()
        for name, kind in set(self._lines(text)):
            found[kind].add(name)
        names, shaping, filled = found
        return names, shaping - names, filled - names - shaping

    def count(self, text: str) -> Counter[str]:
        """How many instructions that compute something have each tagged name."""
        return Counter(name for name, _ in self._lines(text))

    def _lines(self, text: str) -> Iterator[tuple[str, int]]:
        told, lines = self._told, set(text.split("\n"))
        told.update((line, _told_by(line)) for line in lines - told.keys())
        return filter(None, map(told.__getitem__, lines))


_WORKS, _SHAPES, _FILLS_IT = range(3)


def _told_by(line: str) -> tuple[str, int] | None:
    """The tagged name of an instruction, and what of it is left."""
    if MARK not in line or any(idle in line for idle in _IDLE):
        return None
    found = _TAGGED_NAME.search(line)
    if found is None:
        return None
    name = found[1]
    if _FILLED in line:
        if not name.endswith(_FILLS):
            return None
        return name, _FILLS_IT if _FILLED_BY_CONSTANT.search(line) else _SHAPES
    if _SHAPED_CONSTANT.search(line):
        # A number that was brought to where a value was given another shape has the name of that.
        return None
    return name, _SHAPES if _SHAPING.search(line) else _WORKS


def instruction_names(text: str) -> set[str]:
    """The names of all instructions."""
    return {match[1] for match in _LINE.finditer(text)}


def different(snapshots: Sequence[Snapshot]) -> list[Snapshot]:
    """Those that differ from the one before."""
    found: list[Snapshot] = []
    for snapshot in snapshots:
        if not found or snapshot.text != found[-1].text:
            found.append(snapshot)
    return found


def replacements(
    before: Lines, after: Lines, nodes: Iterable[int], named: Callable[[str], Found], *, merged: bool
) -> tuple[dict[int, int], dict[int, int]]:
    """For nodes that are gone in the later text, what their readers read there instead, and of what they read a part:
    the exponential of an error function is no value of that. `named` are those of a name.

    Where they were `merged`, readers may be gone too: those in whose place they went do the same. Else a reader may
    have taken over the operation itself, as the transpose of a product does that becomes a product.
    """
    wanted = set(nodes)
    found: dict[int, int] = {}
    parts: dict[int, int] = {}
    instead: dict[str, str] = {}

    def found_for(gone: Iterable[int], others: Found, found: dict[int, int] = found) -> None:
        # What an equation gives stands after its parts.
        for node in gone:
            if others and others[0] != node:
                found.setdefault(node, others[0])

    # Readers stand after what they read.
    for name in reversed(before.operands):
        gone = [node for node in named(before.op_names.get(name, "")) if node in wanted]
        if name in after.operands:
            # An instruction may go on under the name of another equation, as the second of two equal bounds does.
            others = named(after.op_names.get(name, "")) if gone else ()
            found_for([node for node in gone if node not in others], others)
            continue
        # Of what is merged, also the copies and shapes between two equations lead on to what is left.
        if not gone and not merged:
            continue
        for reader, place in before.readers.get(name, ()):
            now = instead.get(reader, reader) if merged else reader
            operands = after.operands.get(now)
            if not merged and operands is None and (taken := _taken_over(before, after, name, reader)):
                found_for(gone, named(taken)[:1])
                break
            if operands is None:
                continue
            if len(operands) == len(before.operands[reader]):
                put = operands[place] if merged else _in_its_place(before.operands[reader], operands, place)
            elif (twin := _twin(before, name, operands) if merged else None) is not None:
                put = twin
            else:
                continue
            instead[name] = put
            while (
                not merged
                and after.opcodes.get(put) in SHAPES
                and named(after.op_names[put]) in [(node,) for node in gone]
            ):
                # Another shape of what it read is all that is left of it.
                put = after.operands[put][0]
            is_whole = _is_whole(before, after, put, named, merged)
            found_for(gone, named(after.op_names.get(put, "")), found if is_whole else parts)
            break
    return found, parts


def _in_its_place(before: Sequence[str], after: Sequence[str], place: int) -> str:
    """What stands among operands in place of one that is gone, also where the two of an operation changed places."""
    found = after[place]
    other = 1 - place
    return after[other] if len(before) == 2 and found == before[other] != after[other] else found


def _twin(before: Lines, name: str, among: Iterable[str]) -> str | None:
    """Of some instructions, the one that does the same of the same: a kernel that reads two equal values reads one of
    them once these are merged, and has fewer operands."""
    return next((one for one in among if one != name and before.numbers.get(one) == before.numbers[name]), None)


def _is_whole(before: Lines, after: Lines, name: str, named: Callable[[str], Found], merged: bool) -> bool:
    """Whether an instruction gives what the equation of its name gives, and not a step on the way there, such as the
    square that a cube is made of."""
    equation = named(after.op_names.get(name, ""))
    steps = [
        named(before.op_names.get(reader, "")) == equation and before.opcodes.get(reader) not in ONLY_MOVE
        for reader, _ in before.readers.get(name, ())
    ]
    return not (steps and all(steps)) and (merged or not _is_new_work(before, after, name))


def _is_new_work(before: Lines, after: Lines, name: str) -> bool:
    """Whether an instruction does something that was not done under its tagged name before: that is not what the
    equation of that name gives."""
    work = after.op_names.get(name, ""), after.opcodes.get(name, "")
    return name not in before.operands and work[1] not in ONLY_MOVE and work not in before.works


def _taken_over(before: Lines, after: Lines, name: str, reader: str) -> str:
    """The tagged name of a reader that only moved values, where instructions of that name do now what this one did."""
    op_name, opcode = before.op_names.get(reader, ""), before.opcodes.get(name, "")
    moved = before.opcodes.get(reader) in ONLY_MOVE and opcode not in ONLY_MOVE
    work = (op_name, opcode)
    return op_name if moved and work in after.works and work not in before.works else ""


class Instruction(NamedTuple):
    """What the line of one says."""

    name: str
    operands: list[str]
    #: None where it has no name of an operation of JAX; what it does is not told then either.
    op_name: str | None = None
    opcode: str = ""
    #: Whether it is what its computation gives.
    is_root: bool = False


def _instruction(line: str) -> Instruction | None:
    match = _LINE.match(line)
    if match is None:
        return None
    name, rest = match.groups()
    operands = _OPERAND.findall(rest.partition(" metadata=")[0])
    op_name = _NAME.search(rest)
    is_root = "ROOT" in line[: match.start(1)]
    if op_name is None:
        return Instruction(name, operands, is_root=is_root)
    opcode = _OPCODE.search(rest)
    return Instruction(name, operands, op_name[1], opcode[1] if opcode else "", is_root)


class Lines:
    """A snapshot by the names of its instructions; what is `known` of lines is what other snapshots were read with."""

    def __init__(self, text: str, known: dict[str, Instruction | None] | None = None) -> None:
        self._text = text
        self.operands: dict[str, list[str]] = {}
        self.opcodes: dict[str, str] = {}
        self.op_names: dict[str, str] = {}
        known = {} if known is None else known
        given: dict[str, list[str]] = {}
        computation = ""
        for line in text.split("\n"):
            if line not in known:
                known[line] = _instruction(line)
            if (found := known[line]) is not None:
                name = found.name
                self.operands[name] = found.operands
                if found.op_name is not None:
                    self.op_names[name], self.opcodes[name] = found.op_name, found.opcode
                if found.is_root:
                    # What a computation gives is read by what no instruction is called like.
                    given[f"{GIVEN_BY} {computation}"] = [name]
            elif line.endswith("{") and (head := HEAD.match(line)) is not None:
                computation = head[2]
        self.operands.update(given)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """A number for each instruction: equal where two of one computation do the same of the same."""
        known: dict[tuple[str, tuple[int, ...]], int] = {}
        numbers: dict[str, int] = {}
        given: dict[str, int] = {}
        computation = ""
        # What is called, and what is read, stands before.
        for line in self._text.split("\n"):
            if (head := HEAD.match(line)) is not None:
                computation = head[2]
            elif (match := _LINE.match(line)) is not None:
                does = match[2].partition(", metadata=")[0]
                operands = tuple(numbers.get(one, -1) for one in _OPERAND.findall(does))
                does = _CALLED.sub(lambda called: f"={given.get(called[1], -1)}", _OPERAND.sub("", does))
                numbers[match[1]] = number = known.setdefault((does, operands), len(known))
                if "ROOT" in line[: match.start(1)]:
                    given[computation] = number
        return numbers

    @cached_property
    def works(self) -> set[tuple[str, str]]:
        """What is done under which tagged name."""
        return {(op_name, self.opcodes[name]) for name, op_name in self.op_names.items()}

    @cached_property
    def readers(self) -> dict[str, list[tuple[str, int]]]:
        """For each instruction those that read it, each with the place at which it does."""
        readers: dict[str, list[tuple[str, int]]] = {}
        for name, operands in self.operands.items():
            for place, operand in enumerate(operands):
                readers.setdefault(operand, []).append((name, place))
        return readers
