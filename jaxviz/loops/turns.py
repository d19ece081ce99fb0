"""What the copies of an unrolled loop read and make, as the turns of one loop: the carry is found from the dataflow.

Each operand of a turn is one of: made in the same turn, the same for all turns, handed on by an earlier turn, or given
to each turn from outside. A loop whose turns read anything else cannot be written as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from jaxviz import compat
from jaxviz.loops.steps import Copies, Handed, Key, Number, Step, alike, is_moving, starts_of

#: Turns that a loop must have to be worth it, and how far back a turn may read.
FEWEST_TURNS = 3
_LAGS = 4


class CannotRebuild(Exception):
    """The loop cannot be written as a loop of JAX; the message says why."""


@dataclass(frozen=True)
class Carried:
    """A value that a turn reads from an earlier one: `lag` turns before, place `made` of what that made.

    `starts` are what the first turns read in its stead. The loop hands on the last `lag` of them.
    """

    made: int
    lag: int
    starts: tuple[Key, ...]


@dataclass(frozen=True, eq=False)
class Turns:
    """A loop: the steps of one turn, in which `Handed` keys stand for what is handed to it, carried before given."""

    steps: list[Step]
    inner: tuple[Copies, ...]
    count: int
    carried: tuple[Carried, ...]
    #: What each turn is given, one key for each turn; or where a slice or pad begins, as tuples of whole numbers.
    given: tuple[tuple[Any, ...], ...]
    number: int
    #: The variables that each turn makes, by place.
    made: list[list[Any]]
    #: Places of what is read after the loop: of many turns, or of the last alone.
    every: tuple[int, ...]
    last: tuple[int, ...]
    #: Where it lies among the steps around it.
    first: int
    end: int
    #: What the person calls the values that a turn makes, by place.
    names: tuple[str, ...] = ()


def read_turns(steps: Sequence[Step], copies: Copies, wanted: Set[Any], number: int) -> Turns:
    """The longest run of copies that is a loop; `CannotRebuild` where there is none."""
    spans = list(zip(copies.first, copies.end, strict=True))
    reason: CannotRebuild | None = None
    for low, high in _runs(steps, spans):
        try:
            return _Reader(steps, spans[low:high], copies, wanted, number).turns()
        except CannotRebuild as error:
            reason = reason or error
    raise reason or CannotRebuild(_difference(steps, spans))


def _difference(steps: Sequence[Step], spans: Sequence[tuple[int, int]]) -> str:
    """Why too few turns are alike, by the first two that differ."""
    texts = lru_cache(None)(_Text)
    for turn, (one, other) in enumerate(pairwise(spans), 1):
        which = f"turn {turn} and turn {turn + 1}"
        if one[1] != other[0]:
            return f"something else is computed between {which}"
        for a, b in zip(range(*one), range(*other), strict=False):
            if not alike(steps[a], steps[b], texts):
                return f"{which} differ: {_how(steps[a], steps[b])}"
        if one[1] - one[0] != other[1] - other[0]:
            return f"{which} differ: one has {one[1] - one[0]} equations, the other {other[1] - other[0]}"
    return f"there are only {len(spans)} turns"


def _how(one: Step, other: Step) -> str:
    """How two steps at the same place differ."""
    first, second = one.equation, other.equation
    names = first.primitive.name, second.primitive.name
    if names[0] != names[1]:
        return f"one computes `{names[0]}` where the other computes `{names[1]}`"
    for before, after in zip((*first.invars, *first.outvars), (*second.invars, *second.outvars), strict=False):
        types = before.aval.str_short(True), after.aval.str_short(True)
        if types[0].lstrip("~") != types[1].lstrip("~"):
            return f"`{names[0]}` is of {types[0]} in one and of {types[1]} in the other"
    changed = [name for name, value in first.params.items() if str(value) != str(second.params.get(name))]
    return f"`{names[0]}` has another {' and '.join(changed[:2]) or 'body'} in each"


def _runs(steps: Sequence[Step], spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Runs of turns that are alike, the longest first; then without their first or last turns, which may differ."""
    texts = lru_cache(None)(_Text)
    runs, low = [], 0
    for place in range(1, len(spans) + 1):
        ends = place == len(spans)
        if ends or spans[place - 1][1] != spans[place][0] or not _alike(steps, spans[place - 1], spans[place], texts):
            runs.append((low, place))
            low = place
    for low, high in sorted(runs, key=lambda run: run[0] - run[1]):
        for cut in ((0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)):
            if high - low - sum(cut) >= FEWEST_TURNS:
                yield low + cut[0], high - cut[1]


class _Text(str):
    """A body as text, by which bodies that are other objects are compared."""

    def __new__(cls, body: Any) -> _Text:
        return super().__new__(cls, str(body))


def _alike(steps: Sequence[Step], one: tuple[int, int], other: tuple[int, int], texts: Any) -> bool:
    if one[1] - one[0] != other[1] - other[0]:
        return False
    return all(alike(steps[a], steps[b], texts) for a, b in zip(range(*one), range(*other), strict=True))


class _Reader:
    def __init__(
        self,
        steps: Sequence[Step],
        spans: Sequence[tuple[int, int]],
        copies: Copies,
        wanted: Set[Any],
        number: int,
    ) -> None:
        self.spans, self.inner, self.number = spans, copies.inner, number
        self.names = tuple(name for names in copies.names for name in names)
        self.rows = [steps[first:end] for first, end in spans]
        self.made = [[variable for step in row for variable in step.makes] for row in self.rows]
        self.place_of = {
            variable: (turn, place) for turn, made in enumerate(self.made) for place, variable in enumerate(made)
        }
        read = {key for step in (*steps[: spans[0][0]], *steps[spans[-1][1] :]) for key in _keys(step)} | wanted
        self.outside = {self.place_of[key] for key in read if key in self.place_of}
        self.carried: dict[Carried, Handed] = {}
        self.given: dict[tuple[Any, ...], int] = {}

    def turns(self) -> Turns:
        rows = [[step.operands for step in row] for row in self.rows]
        steps = []
        for place, step in enumerate(self.rows[0]):
            operands = tuple(
                self._operand([row[place][operand] for row in rows]) for operand in range(len(step.operands))
            )
            equation = self._undropped(step.equation, place)
            steps.append(replace(step, equation=equation, operands=operands, starts=self._starts(place)))
        # A later turn may need what the first one drops.
        self.made[0] = [variable for step in steps for variable in step.makes]
        # What is given is numbered after what is carried, which is known only now.
        shift = len(self.carried)
        steps = [
            replace(
                step,
                operands=tuple(self._moved(key, shift) for key in step.operands),
                starts=self._moved(step.starts, shift),
            )
            for step in steps
        ]
        turns = len(self.rows)
        places = {place for _, place in self.outside}
        last = {place for place in places if all((turn, place) not in self.outside for turn in range(turns - 1))}
        return Turns(
            steps=steps,
            inner=self.inner,
            count=turns,
            carried=tuple(self.carried),
            given=tuple(self.given),
            number=self.number,
            made=self.made,
            every=tuple(sorted(places - last)),
            last=tuple(sorted(last)),
            first=self.spans[0][0],
            end=self.spans[-1][1],
            names=self.names if len(self.names) == len(self.made[0]) else ("",) * len(self.made[0]),
        )

    def _undropped(self, equation: Any, place: int) -> Any:
        """An equation of the first turn with a variable for each value that any of the turns reads."""
        if not any(map(compat.is_dropped, equation.outvars)):
            return equation
        others = zip(*(row[place].equation.outvars for row in self.rows), strict=True)
        kept = [next((one for one in same if not compat.is_dropped(one)), same[0]) for same in others]
        return equation.replace(outvars=kept)

    def _operand(self, keys: Sequence[Key]) -> Key:
        """What stands for an operand that is `keys[turn]` in each turn."""
        made = [self._made_by(key) for key in keys]
        if all(maker is None for maker in made):
            return keys[0] if all(key == keys[0] for key in keys) else self._give(tuple(keys))
        first = made[0]
        if first is not None and all(maker == (turn, first[1]) for turn, maker in enumerate(made)):
            return keys[0]
        for lag in range(1, min(_LAGS, len(keys) - 1) + 1):
            makers = [maker for maker in made[lag:] if maker is not None]
            handed_on = len(makers) == len(made) - lag and all(
                maker == (turn, makers[0][1]) for turn, maker in enumerate(makers)
            )
            if handed_on and all(maker is None for maker in made[:lag]):
                carried = Carried(makers[0][1], lag, tuple(keys[:lag]))
                return self.carried.setdefault(carried, Handed(self.number, len(self.carried)))
        raise CannotRebuild("a turn reads what turns far before it made, each from another one")

    def _made_by(self, key: Key) -> tuple[int, int] | None:
        return None if isinstance(key, (Number, Handed)) else self.place_of.get(key)

    def _starts(self, place: int) -> Key | None:
        equations = [row[place].equation for row in self.rows]
        starts = [row[place].starts for row in self.rows]
        if any(start is not None for start in starts):
            if any(start is None for start in starts):
                raise CannotRebuild("the turns read pieces of an array in ways that differ")
            return self._operand(starts)
        if not any(is_moving(equations[0], equation) for equation in equations[1:]):
            return None
        return self._give(tuple(map(starts_of, equations)))

    def _give(self, keys: tuple[Any, ...]) -> _Given:
        return _Given(self.given.setdefault(keys, len(self.given)))

    def _moved(self, key: Key, shift: int) -> Key:
        return Handed(self.number, shift + key.place) if isinstance(key, _Given) else key


@dataclass(frozen=True)
class _Given:
    place: int


def _keys(step: Step) -> tuple[Key, ...]:
    return step.operands if step.starts is None else (*step.operands, step.starts)
