"""An HLO module as plain columns, the same whether it was read from text or from a protocol buffer.

Everything is named by number: operands by the place of their instruction in the computation, computations by their
place in the module. Texts are as HLO prints them, without `%`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from jaxviz.read.hlo.table import InstructionTable

Pairs = tuple[tuple[str, str], ...]
#: The computations that an instruction calls, each with its role.
Calls = tuple[tuple[str, int], ...]


# No machine has a number of devices with so many digits.
_DIGITS = 8
#: Frames of a call stack that are read, from the innermost on.
DEEPEST_STACK = 200


class HloError(ValueError):
    """A module that cannot be read: where, and what was expected."""


class Location(NamedTuple):
    """A place in a file: numbers of `files` and `functions` (-1 where not known), lines counted from 1,
    columns from 0; 0 where not known."""

    file: int
    function: int
    line: int
    end_line: int
    column: int
    end_column: int


@dataclass(slots=True, eq=False, repr=False)
class HloComputation:
    """A computation: one row of each column for each instruction, in the order in which they run."""

    name: str
    names: list[str] = field(default_factory=list)
    opcodes: list[str] = field(default_factory=list)
    #: With layouts where they are known: `f32[8,4]{1,0}` or `(f32[8]{0}, s32[])`.
    shapes: list[str] = field(default_factory=list)
    operands: list[tuple[int, ...]] = field(default_factory=list)
    #: The computations that it calls, each with its role: calls, to_apply, body, condition, branch 0, ...
    calls: list[Calls] = field(default_factory=list)
    attributes: list[Pairs] = field(default_factory=list)
    op_names: list[str] = field(default_factory=list)
    #: Rows of `HloModule.frames`, or -1.
    frames: list[int] = field(default_factory=list)
    #: The number of a parameter or of a tuple's element, -1 for other instructions.
    numbers: list[int] = field(default_factory=list)
    #: Where each instruction was read: a line of the text or a byte of the protocol buffer.
    places: list[int] = field(default_factory=list)
    root: int = -1

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<HloComputation {self.name}: {len(self)} instructions>"


@dataclass(slots=True, eq=False, repr=False)
class HloModule:
    """A module: its computations, and the tables that say where in the source instructions come from."""

    name: str = ""
    computations: list[HloComputation] = field(default_factory=list)
    entry: int = -1
    #: Whether the text marks the computation with which it begins; else that is the last one, as XLA takes it.
    is_entry_said: bool = True
    attributes: Pairs = ()
    files: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)
    #: The location of each frame and the frame that called it, or -1.
    frames: list[tuple[int, int]] = field(default_factory=list)
    #: Results that lie in the memory of arguments: the number of each, and that of the argument.
    aliases: list[tuple[int, int]] = field(default_factory=list)
    #: Instructions whose types the text leaves out, and does not say elsewhere, in words.
    untyped: list[str] = field(default_factory=list)
    #: What `HloComputation.places` count.
    unit: str = "line"
    #: The same columns as numbers, where the module was read into these.
    table: InstructionTable | None = None

    def __len__(self) -> int:
        """How many instructions there are."""
        return sum(map(len, self.computations))

    def __repr__(self) -> str:
        return f"<HloModule {self.name}: {len(self)} instructions in {len(self.computations)} computations>"

    @property
    def partitions(self) -> int:
        """For how many devices it was partitioned."""
        number = dict(self.attributes).get("num_partitions", "")
        return int(number) if number.isdecimal() and len(number) < _DIGITS else 1

    def error(self, computation: HloComputation, instruction: int, expected: str) -> HloError:
        """What is wrong with an instruction, to be raised."""
        place = computation.places[instruction] if instruction < len(computation.places) else 0
        name = computation.names[instruction] if instruction < len(computation.names) else computation.name
        return HloError(f"{self.unit} {place}{':1' if self.unit == 'line' else ''}: {expected}, in {name[:100]}")

    def locations_of(self, frame: int) -> Iterator[Location]:
        """The call stack of a frame, innermost first."""
        # A file that is wrong may go round in a circle.
        for _ in range(DEEPEST_STACK):
            if frame < 0:
                return
            location, frame = self.frames[frame]
            yield self.locations[location]
