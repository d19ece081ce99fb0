"""Read the snapshots that the compiler left after its passes: those in which something is another than before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from jaxviz.read.communication import take_frames_of_elements
from jaxviz.read.hlo.graph import HloGraph, read_hlo
from jaxviz.read.hlo.source import HloSource, instruction_count, name_of, parse_hlo, rows_of
from jaxviz.tables import Tables

#: Up to so many instructions every pass that changed something is kept.
EVERY_PASS = 10_000
#: In larger programs, so many instructions are read in all, in the passes that changed most.
MOST_INSTRUCTIONS = 100_000
#: However large the program is: the first, the last, and what changed most between them.
LEAST_STATES = 4


@dataclass(frozen=True)
class PassState:
    """The module after a pass; `joined` counts the passes since the state before that changed something too."""

    name: str
    pipeline: str
    joined: int
    source: HloSource


def different_states(taken: Sequence[PassState]) -> list[PassState]:
    """The states of the program itself, each other than the one before; the first is what the compiler was given."""
    states: list[PassState] = []
    module = None
    for state in taken:
        name = name_of(state.source)
        # What the compiler compiles on the way, to try it out or to fold a constant, is another module.
        module = module or name
        if name == module and (not states or state.source != states[-1].source):
            states.append(state)
    return states


def fewer_states(states: Sequence[PassState], most: int) -> list[PassState]:
    """At most so many states: the first, the last, and those that changed most. The others are joined to them."""
    if len(states) <= most:
        return list(states)
    rows = [rows_of(state.source) for state in states]
    changed = [len(after - before) for before, after in pairwise(rows)]
    inner = sorted(range(1, len(states) - 1), key=lambda at: -changed[at - 1])[: most - 2]
    kept = [0, *sorted(inner), len(states) - 1]
    joined = [0, *(after - before - 1 for before, after in pairwise(kept))]
    return [replace(states[at], joined=count) for at, count in zip(kept, joined, strict=True)]


def chosen_states(taken: Sequence[PassState]) -> tuple[list[PassState], str]:
    """The states to be shown, and, where these are not all, what was left out, in words."""
    states = different_states(taken)
    largest = max((instruction_count(state.source) for state in states), default=0)
    if largest <= EVERY_PASS:
        return states, ""
    chosen = fewer_states(states, max(LEAST_STATES, MOST_INSTRUCTIONS // largest))
    if len(chosen) == len(states):
        return states, ""
    return chosen, (
        f"{largest:,} instructions: of the {len(states) - 1} passes that changed something, "
        f"the {len(chosen) - 1} that changed most"
    )


def read_states(
    states: Sequence[PassState], tables: Tables, *, frames: bool = False, scopes: Sequence[str] = ()
) -> Iterator[HloGraph]:
    """The graph of each state, one at a time; with `frames`, with the call stacks that it has of its own.

    `scopes` are what tags stand for.
    """
    for state in states:
        module = parse_hlo(state.source)
        if frames:
            take_frames_of_elements(module)
        yield read_hlo(module, tables, frames=frames, scopes=scopes)
