"""What the text of a snapshot says of equations: which of them still compute something, and what took the place of one.

A value that is taken out of a tuple keeps the name of the loop that made it, a constant that of what was folded, and a
number that a product needs in its shape that of the product: that these are there does not mean that the equation is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from jaxviz.link.links import Found
from jaxviz.optimize import Snapshot
from jaxviz.read.tag_text import MARK

_TAGGED_NAME = re.compile(rf'op_name="([^"]*{MARK}[^"]*)"')
_IDLE = (" get-tuple-element(", " tuple(", " constant(")
# A number in the shape of what it meets, and the operation of JAX of which that is all.
_FILLED, _FILLS = " broadcast(", "broadcast_in_dim"
_LINE = re.compile(r"^\s*(?:ROOT )?%?([\w.\-]+) = (.*)$", re.MULTILINE)
_OPERAND = re.compile(r"(?<![={\w])%([\w.\-]+)")
_NAME = re.compile(r'op_name="([^"]*)"')


def working_names(text: str) -> set[str]:
    """The tagged names of the instructions that compute something."""
    names = set()
    for line in text.split("\n"):
        if MARK in line and not any(idle in line for idle in _IDLE):
            found = _TAGGED_NAME.search(line)
            if found is not None and (_FILLED not in line or found[1].endswith(_FILLS)):
                names.add(found[1])
    return names


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
    earlier: str, later: str, nodes: Iterable[int], named: Callable[[str], Found], *, merged: bool
) -> dict[int, int]:
    """For nodes that are gone in the later text, what their readers read there instead; `named` are those of a name.

    Where they were `merged`, readers may be gone too: those in whose place they went do the same.
    """
    before, after = _Lines(earlier), _Lines(later)
    wanted = set(nodes)
    found: dict[int, int] = {}
    instead: dict[str, str] = {}
    # Readers stand after what they read.
    for name, op_name in reversed(before.op_names.items()):
        gone = [node for node in named(op_name) if node in wanted]
        if not gone or name in after.operands:
            continue
        for reader, place in before.readers().get(name, ()):
            now = instead.get(reader, reader) if merged else reader
            operands = after.operands.get(now)
            if operands is None or len(operands) != len(before.operands[reader]):
                continue
            instead[name] = operands[place]
            others = named(after.op_names.get(operands[place], ""))
            found.update({node: others[0] for node in gone if others and others[0] != node})
            break
    return found


class _Lines:
    """A snapshot by the names of its instructions."""

    def __init__(self, text: str) -> None:
        self.operands: dict[str, list[str]] = {}
        self.op_names: dict[str, str] = {}
        self._readers: dict[str, list[tuple[str, int]]] | None = None
        for match in _LINE.finditer(text):
            name, rest = match.groups()
            self.operands[name] = _OPERAND.findall(rest.partition(" metadata=")[0])
            op_name = _NAME.search(rest)
            if op_name is not None:
                self.op_names[name] = op_name[1]

    def readers(self) -> dict[str, list[tuple[str, int]]]:
        if self._readers is None:
            self._readers = {}
            for name, operands in self.operands.items():
                for place, operand in enumerate(operands):
                    self._readers.setdefault(operand, []).append((name, place))
        return self._readers
