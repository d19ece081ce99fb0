"""The programs of a folder as lines of text: how much each is, and where in the folder it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

_MOST_LINES = 12


class Listed(Protocol):
    """What is said of a program: several may be `called` alike; `where` is its file, or its module in a dump."""

    name: str
    called: str
    where: str

    @property
    def operations(self) -> int: ...

    @property
    def places(self) -> int: ...

    @property
    def ran(self) -> str: ...


def listing(programs: Sequence[Listed]) -> list[str]:
    """A line for each name, in order, and one for those that are too many."""
    named: dict[str, list[Listed]] = {}
    for program in programs:
        named.setdefault(program.called, []).append(program)
    rows = [_row(name, alike) for name, alike in list(named.items())[:_MOST_LINES]]
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for name, operations, *others in zip(*columns, strict=True):
        told = [f"{name:{widths[0]}}", f"{operations:>{widths[1]}}"]
        told += [f"{text:{width}}" for text, width in zip(others, widths[2:], strict=True)]
        lines.append(f"  {'  '.join(told).rstrip()}")
    rest = list(named.values())[_MOST_LINES:]
    return [*lines, f"  and {sum(map(len, rest))} more, all of them in .names"] if rest else lines


def _row(name: str, alike: Sequence[Listed]) -> tuple[str, ...]:
    # By this name it is opened.
    first = next((program for program in alike if program.name == name), alike[0])
    operations = f"{first.operations:,} operation{' ' if first.operations == 1 else 's'}"
    places = f"from {first.places:,} places in the source" if first.places else ""
    more = f"and {len(alike) - 1} more of this name" if len(alike) > 1 else ""
    return name, operations, first.ran, places, " ".join(filter(None, (first.where, more)))
