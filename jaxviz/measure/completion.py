"""When an operation is done that goes on in other threads after its event.

On a CPU the event of an operation spans what its own thread does: a convolution or a large kernel hands its work to a
pool of threads, and its event ends while these compute. An event named `end: ...` says later that it is done. That one
may be late: what waits for the operation is often begun on the spot, before the word is passed on. So an operation is
done by then, and before anything begins that reads its result.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.read.hlo.module import HloComputation, HloModule

#: The events that say that an operation is done begin with this.
END = "end: "

#: Instructions that name values and are not executed.
SILENT = frozenset(
    ["parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all", "partition-id", "replica-id"]
)
# Their time is that of what is inside of them, which has events of its own.
_HOLDING = frozenset(["while", "conditional", "call"])

#: Names of instructions, each with those that begin only after it is done.
Followers = Mapping[str, tuple[str, ...]]
#: For instructions by name, the times at which they were said to be done.
Ends = Mapping[str, Sequence[float]]


def followers_of(module: HloModule) -> Followers:
    """What reads the result of each instruction, also by another name, or in the next turn of a loop.

    Of instructions that hold others nothing is told: each of those has an event of its own.
    """
    return _Followers(module).all()


class _Followers:
    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._users: list[list[list[int]]] = []
        self._callers: dict[int, list[tuple[int, int, str]]] = {}
        for number, computation in enumerate(module.computations):
            users: list[list[int]] = [[] for _ in computation.names]
            for place, operands in enumerate(computation.operands):
                for operand in operands:
                    users[operand].append(place)
                for role, called in computation.calls[place]:
                    self._callers.setdefault(called, []).append((number, place, role))
            self._users.append(users)
        self._after: dict[int, frozenset[str]] = {}

    def all(self) -> Followers:
        found = {}
        for number in self._executed():
            computation = self._module.computations[number]
            for place, (name, op) in enumerate(zip(computation.names, computation.opcodes, strict=True)):
                if op not in SILENT and op not in _HOLDING:
                    found[name] = tuple(sorted(self._readers(number, [place])))
        return found

    def _executed(self) -> list[int]:
        """The computations whose instructions have events: the entry, and what loops, branches and calls hold."""
        order = [self._module.entry]
        for number in order:
            computation = self._module.computations[number]
            for op, calls in zip(computation.opcodes, computation.calls, strict=True):
                if op in _HOLDING:
                    order += [called for _, called in calls if called not in order]
        return order

    def _readers(self, number: int, places: Sequence[int]) -> frozenset[str]:
        """What is executed and reads what stands at some places of a computation."""
        computation = self._module.computations[number]
        found: set[str] = set()
        known, waiting = set(places), list(places)
        while waiting:
            place = waiting.pop()
            if place == _root(computation):
                found |= self._readers_after(number)
            for user in self._users[number][place]:
                if computation.opcodes[user] not in SILENT:
                    found.add(computation.names[user])
                elif user not in known:
                    known.add(user)
                    waiting.append(user)
        return frozenset(found)

    def _readers_after(self, number: int) -> frozenset[str]:
        """What reads the result of a computation where it is called; of the body of a loop also the next turn."""
        if number not in self._after:
            # A loop would lead back here.
            self._after[number] = frozenset()
            found: set[str] = set()
            for caller, place, role in self._callers.get(number, ()):
                found |= self._readers(caller, [place])
                if role in ("body", "condition"):
                    for _, other in self._module.computations[caller].calls[place]:
                        found |= self._readers(other, _parameters(self._module.computations[other]))
            self._after[number] = frozenset(found)
        return self._after[number]


def _root(computation: HloComputation) -> int:
    return computation.root if computation.root >= 0 else len(computation) - 1


def _parameters(computation: HloComputation) -> list[int]:
    return [place for place, op in enumerate(computation.opcodes) if op == "parameter"]


def tails(
    names: Sequence[str],
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    device: NDArray[np.int64],
    run: NDArray[np.int64],
    ends: Ends,
    followers: Followers,
) -> NDArray[np.float64]:
    """How long what each event began goes on after it, in other threads. All times are in one unit."""
    tail = np.zeros(len(names))
    rows: dict[str, list[int]] = {}
    begun: dict[tuple[str, int], list[float]] = {}
    # A run is over before the next one begins on its device.
    borders: dict[int, list[float]] = {}
    last: dict[int, int] = {}
    for row in np.argsort(start, kind="stable").tolist():
        own, time = int(device[row]), float(start[row])
        rows.setdefault(names[row], []).append(row)
        begun.setdefault((names[row], own), []).append(time)
        if last.get(own) != run[row]:
            last[own] = int(run[row])
            borders.setdefault(own, []).append(time)
    for name, told in ends.items():
        if name not in followers:
            continue
        for row, done in _matched(rows.get(name, ()), start, sorted(told)):
            own, time = int(device[row]), float(start[row])
            later = [begun.get((other, own), ()) for other in followers[name]]
            latest = min([done, _after(borders[own], time), *(_after(times, time) for times in later)])
            tail[row] = max(latest - float(end[row]), 0.0)
    return tail


def _matched(rows: Sequence[int], start: NDArray[np.float64], told: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Events of one operation, in order, each with the time at which it was said to be done. The word may come late,
    but each comes once; where some are missing, those that come before the next event are meant."""
    if len(rows) == len(told):
        yield from zip(rows, told, strict=True)
        return
    for place, row in enumerate(rows):
        following = float(start[rows[place + 1]]) if place + 1 < len(rows) else float("inf")
        first = bisect_left(told, float(start[row]))
        if first < len(told) and told[first] < following:
            yield row, told[first]


def _after(times: Sequence[float], time: float) -> float:
    """The first of some times that is after another."""
    place = bisect_right(times, time)
    return times[place] if place < len(times) else float("inf")
