"""Runs in a sequence: where a pattern stands again and again, right after itself.

>>> find_runs(np.array([7, 1, 2, 1, 2, 1, 2, 9]))
[Run(start=1, period=2, copies=3, tail=0, head=0, inner=[], head_inner=[])]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.outline.repeats.hashes import mixed

Sequence = NDArray[np.int64]

# Distances between equal items that are tried as periods, the most frequent first; and those between equal stretches
# of so many items, which tell the turns of a long pattern whose items stand in it again and again.
_PERIODS = 32
_STRETCH, _LONG_PERIODS = 8, 8
# A pattern of so many equations alone is no chance though it stands there only twice.
_NO_CHANCE = 24
# Up to so many items, Python is done before numpy has begun; most sequences are that short.
_SHORT = 100


@dataclass
class Run:
    """`copies` copies of the pattern that `period` items from `start` on make; `inner` are runs in the first copy.

    `tail` items after them are one copy more, which lacks something: the last one backward often lacks a gradient. So
    do `head` items before them, as a first layer that has no state yet; `head_inner` are the runs in these.
    """

    start: int
    period: int
    copies: int
    tail: int = 0
    head: int = 0
    inner: list[Run] = field(default_factory=list)
    head_inner: list[Run] = field(default_factory=list)

    @property
    def first(self) -> int:
        return self.start - self.head

    @property
    def end(self) -> int:
        return self.start + self.period * self.copies + self.tail

    @property
    def count(self) -> int:
        """How many copies there are, with those that lack something."""
        return (self.head > 0) + self.copies + (self.tail > 0)


def find_runs(
    items: Sequence,
    bare: NDArray[np.bool_] | None = None,
    places: Sequence | None = None,
    sizes: Sequence | None = None,
    order: Sequence | None = None,
    begins: Sequence | None = None,
) -> list[Run]:
    """Runs that do not overlap, those that save most first; given in order.

    Items marked `bare`, equations that have nothing but their operation, must be four or more in three copies.
    `places` are equal where items came from one place, though one of them may lack what the other has; `sizes` say how
    much there is in each; `order` rises within a turn where it is known, which is where it is not 0; `begins` are equal
    where one may be what is left of the other, though that has its own place.
    """
    places = items if places is None else places
    begins = places if begins is None else begins
    sizes = np.ones_like(items) if sizes is None else sizes
    count = len(items)
    found: list[Run] = []
    for run in sorted(_candidates(items), key=lambda run: (-run.period * (run.copies - 1), run.period, run.start)):
        start, end = run.start, run.end
        # What an earlier run took from either end is left to it.
        for other in found:
            if other.start <= start < other.end:
                start = other.end
            if other.start < end <= other.end:
                end = other.start
        copies = (end - start) // run.period
        if copies < 2 or any(start < other.start < end for other in found):
            continue
        if bare is not None and bare[start : start + run.period].all() and not _worth_folding(run.period, copies):
            continue
        found.append(Run(start, run.period, copies))
    if not found and order is not None:
        found = _two_turns(places, sizes, order, bare)
    found.sort(key=lambda run: run.start)
    for place, run in enumerate(found):
        begin = found[place - 1].end if place else 0
        limit = found[place + 1].start if place + 1 < len(found) else count
        run.start += _turned(items, places, run, limit)
        # On the way back each thing in the last turn may lack something.
        is_whole = order is not None and _tail(begins, sizes, run, limit, bare) == run.period
        run.tail = run.period if is_whole else _tail(places, sizes, run, limit, bare)
        if order is not None:
            cut = _in_order(items, places, order, run, begin, limit)
            if cut is not None:
                cut.tail = _tail(places, sizes, cut, limit, bare)
                run = found[place] = cut if cut.count > 1 else run
        run.head = run.head or _head(places, sizes, run, begin, bare)
        for low, length, runs in ((run.start, run.period, run.inner), (run.first, run.head, run.head_inner)):
            if 2 < length < count:
                inside = slice(low, low + length)
                own = bare[inside] if bare is not None else None
                known = order[inside] if order is not None else None
                runs += find_runs(items[inside], own, places[inside], sizes[inside], known, begins[inside])
    return found


def _turned(items: Sequence, places: Sequence, run: Run, limit: int) -> int:
    """By how many items a run begins too early: where a turn that is no copy stands before it, it ends one of that.

    >>> find_runs(np.array([8, 2, 3, 1, 2, 3, 1, 2, 3]), places=np.array([1, 2, 3, 1, 2, 3, 1, 2, 3]))
    [Run(start=3, period=3, copies=2, tail=0, head=0, inner=[], head_inner=[])]
    """
    pattern = places[run.start : run.start + run.period].tolist()
    first = run.start
    while first > max(run.start - run.period, 0) and places[first - 1] in pattern:
        first -= 1
    if first == run.start:
        return 0
    shift = pattern.index(places[first])
    end = run.end + shift
    same = end <= limit and (items[run.end : end] == items[run.end - run.period : end - run.period]).all()
    return shift if same else 0


def _in_order(items: Sequence, places: Sequence, order: Sequence, run: Run, begin: int, limit: int) -> Run | None:
    """The run with its turns cut where their order is, None where it is so; what is left before them is a turn, too.

    >>> items, order = np.array([2, 3, 1, 2, 3, 1, 2, 3, 1, 2]), np.array([5, 7, 3, 5, 7, 3, 5, 7, 3, 5])
    >>> _in_order(items, items, order, Run(0, 3, 3), 0, 10)
    Run(start=2, period=3, copies=2, tail=0, head=2, inner=[], head_inner=[])
    """
    keys = order[run.start : run.start + run.period].tolist()
    falls = [at + 1 for at, (one, other) in enumerate(zip(keys, keys[1:] + keys[:1], strict=True)) if one >= other]
    if len(falls) != 1 or 0 in keys or falls == [run.period]:
        return None
    first = start = run.start + falls[0]
    pattern = items[start : start + run.period]
    copies = 1
    while (end := start + (copies + 1) * run.period) <= limit and (items[end - run.period : end] == pattern).all():
        copies += 1
    own = set(places[start : start + run.period].tolist())
    while first > begin and int(places[first - 1]) in own and (first == start or order[first - 1] < order[first]):
        first -= 1
    return Run(start, run.period, copies, head=start - first)


def _two_turns(places: Sequence, sizes: Sequence, order: Sequence, bare: NDArray[np.bool_] | None) -> list[Run]:
    """The first of two turns, where the order of all items says that they are two and the second lacks something.

    >>> places, order = np.array([1, 2, 3, 1, 2]), np.array([-9, -5, -1, -9, -5])
    >>> _two_turns(places, np.ones(5), order, None)
    [Run(start=0, period=3, copies=1, tail=0, head=0, inner=[], head_inner=[])]
    """
    falls = np.flatnonzero(order[1:] <= order[:-1]) + 1
    if len(falls) != 1 or not order.all():
        return []
    run = Run(0, int(falls[0]), 1)
    return [run] if _tail(places, sizes, run, len(places), bare) == len(places) - run.end else []


def _tail(places: Sequence, sizes: Sequence, run: Run, limit: int, bare: NDArray[np.bool_] | None) -> int:
    """How many items after a run are the pattern once more with something left out."""
    if run.period < 2:
        # What lacks something of one before it counts as the same.
        return 0
    pattern = np.arange(run.start, run.start + run.period)
    return _lacking(places, sizes, pattern, np.arange(run.end, min(limit, run.end + run.period)), bare)


def _head(places: Sequence, sizes: Sequence, run: Run, begin: int, bare: NDArray[np.bool_] | None) -> int:
    """How many items before a run are the pattern with something left out.

    >>> _head(np.array([9, 1, 3, 1, 2, 3, 1, 2, 3]), np.ones(9), Run(3, 3, 2), 0, None)
    2
    """
    pattern = np.arange(run.start, run.start + run.period)
    before = np.arange(max(begin, run.start - run.period), run.start)
    return _lacking(places, sizes, pattern[::-1], before[::-1], bare)


def _lacking(
    places: Sequence,
    sizes: Sequence,
    pattern: NDArray[np.intp],
    rest: NDArray[np.intp],
    bare: NDArray[np.bool_] | None,
) -> int:
    """How many of the items `rest`, from the first on, are those of a pattern with something left out, at least half of
    it: of the items or of what is in them."""
    size = sizes[pattern]
    found = common_start(places[rest].tolist(), places[pattern].tolist())
    # Equations alone, which have nothing but their operation, may be there by chance.
    is_chance = bare is not None and bare[rest[: len(found)]].all()
    is_most = 2 * len(found) >= len(pattern) or 2 * size[found].sum() >= size.sum()
    return len(found) if is_most and not is_chance else 0


def common_start(part: list[int], whole: list[int]) -> list[int]:
    """Where in `whole` the items of `part`, from its first on, stand in the same order."""
    found: list[int] = []
    for place, item in enumerate(whole):
        if len(found) < len(part) and part[len(found)] == item:
            found.append(place)
    return found


def _worth_folding(period: int, copies: int) -> bool:
    # Two copies of a few equations alone are mostly chance, such as the two gradients of a product.
    return period * copies >= 4 and (copies >= 3 or period >= _NO_CHANCE)


def _candidates(items: Sequence) -> list[Run]:
    """For each period, every longest stretch in which items are equal to those one period on."""
    found = []
    for period in _periods(items):
        equal = np.concatenate([[False], items[:-period] == items[period:], [False]])
        borders = np.flatnonzero(equal[1:] != equal[:-1])
        for start, end in zip(borders[::2].tolist(), borders[1::2].tolist(), strict=True):
            copies = (end - start) // period + 1
            if copies >= 2:
                found.append(Run(start, period, copies))
    return found


def _periods(items: Sequence) -> list[int]:
    """The distances from items to the next ones that are equal, the most frequent first; none over half of all."""
    half = len(items) // 2
    times: dict[int, int] = {}
    if len(items) <= _SHORT:
        latest: dict[int, int] = {}
        for place, item in enumerate(items.tolist()):
            distance = place - latest.get(item, -len(items))
            latest[item] = place
            if distance <= half:
                times[distance] = times.get(distance, 0) + 1
        return _most_frequent(times)[:_PERIODS]
    periods = _most_frequent(_distances(items, half))[:_PERIODS]
    if len(items) < _STRETCH:
        return periods
    # A stretch counts in its order.
    hashes = items.astype(np.uint64)
    stretches = hashes[: len(items) - _STRETCH + 1].copy()
    for place in range(1, _STRETCH):
        stretches = mixed(stretches) + hashes[place : len(items) - _STRETCH + 1 + place]
    longer = _most_frequent(_distances(stretches, half))[:_LONG_PERIODS]
    return list(dict.fromkeys(periods + longer))


def _distances(items: NDArray[Any], most: int) -> dict[int, int]:
    """How often each distance from an item to the next one that is equal comes; none over `most`."""
    order = np.argsort(items, kind="stable")
    distances = (order[1:] - order[:-1])[items[order[1:]] == items[order[:-1]]]
    counts = np.bincount(distances[distances <= most])
    return {distance: int(counts[distance]) for distance in np.flatnonzero(counts).tolist()}


def _most_frequent(times: dict[int, int]) -> list[int]:
    return sorted(times, key=lambda distance: (-times[distance], distance))
