"""What a person would see at first of a stage, as `Exploration.view` tells it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """One box of a first view: an open region, a row of the outline, an operation, an argument or a result.

    `kind` says which, in the words of the outline and of graphs.
    """

    name: str
    kind: str
    equations: int
    open: bool


@dataclass(frozen=True)
class FirstView:
    """What would be seen at first in a given space. `closed` are the boxes that stand for equations."""

    boxes: tuple[Box, ...]
    zoom: float

    @property
    def closed(self) -> tuple[Box, ...]:
        return tuple(box for box in self.boxes if not box.open and box.equations)
