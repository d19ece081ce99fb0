"""Frames of other programs, taken out of the call stacks of HLO.

JAX keeps what it made of a function for all that call it, in this program or in one before; what is in there says who
called it first. Where the compiler puts such a function into its caller, the stack of that first caller stands below
the true one, or, up to JAX 0.6, in place of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from jaxviz.read.distinct import distinct
from jaxviz.read.hlo.columns import Array
from jaxviz.read.hlo.module import DEEPEST_STACK, HloModule
from jaxviz.read.hlo.table import InstructionTable, Numbered
from jaxviz.read.tag_text import GENERATOR

_CALL = re.compile(r"(?<![^/(])p?jit\(([^()]*)\)")
_COMPILED = re.compile(r"\Ap?jit_")
_NO_WORD = re.compile(r"[^\w.-]")
# The program itself, as JAX 0.6 calls it in what it compiles.
_MAIN = "main"

#: The places of a call stack as rows of `HloModule.locations`, outermost first.
Chain = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Row:
    """A call stack, and the name stack of operations that have it, taken apart at the functions that it calls."""

    chain: Chain
    #: The scope that the operations stand in, and the one around the functions of JAX that make random numbers.
    scope: str
    around: str | None
    #: The functions that are called, outermost first, without the program itself.
    called: tuple[str, ...]


def own_frames(module: HloModule, table: InstructionTable, frames: Sequence[int], computations: Sequence[int]) -> Array:
    """The frames of the instructions in a table, without the callers of other programs.

    `computations` are those of the module that are in the table. Call stacks that are needed are added to the module.
    """
    names = table.op_names
    around = Numbered.of(_names_around(table, computations))
    context = np.repeat(around.number, np.diff(table.bounds)).tolist()
    place, first = distinct(zip(frames, names.number.tolist(), context, strict=True))
    op_names = [_whole(around.different[context[row]], names.different[names.number[row]]) for row in first]
    found = _Callers(module).frames([frames[row] for row in first], op_names)
    return np.array(found, np.int64)[place]


def _names_around(table: InstructionTable, computations: Sequence[int]) -> list[str]:
    """The name stack of a call of each computation; before optimization, those of what is called begin inside."""
    place_of = {number: place for place, number in enumerate(computations)}
    callers: dict[int, int] = {}
    for row, calls in table.calls.items():
        for _, number in calls:
            callers.setdefault(place_of[number], row)
    row_in = {row: bisect_right(table.bounds.tolist(), row) - 1 for row in callers.values()}

    @cache
    def around(place: int) -> str:
        row = callers.get(place)
        return "" if row is None else _whole(around(row_in[row]), table.op_names.part(slice(row, row + 1))[0])

    return [around(place) for place in range(len(computations))]


def _whole(around: str, name: str) -> str:
    return name if not around or name.startswith(around.partition("/")[0]) else f"{around}/{name}".rstrip("/")


class _Callers:
    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._chain = cache(self._read)
        self._added: dict[Chain, int] = {(): -1}
        self._names = [name.rpartition(".")[2] for name in module.functions]
        program = {module.name, _COMPILED.sub("", module.name)}
        self._program = {row for row, name in enumerate(self._names) if _NO_WORD.sub("_", name) in program}

    def frames(self, frames: Sequence[int], op_names: Sequence[str]) -> list[int]:
        rows = [self._row(self._chain(frame), name) for frame, name in zip(frames, op_names, strict=True)]
        beside = defaultdict[str, set[Chain]](set)
        for row in rows:
            if row.around is None:
                beside[row.scope].add(row.chain)
        known = {one for chains in beside.values() for chain in chains for one in self._functions(chain)}
        caller = self._around_program(rows)
        outside = set(self._functions(caller))
        found = []
        for frame, row in zip(frames, rows, strict=True):
            chain = row.chain
            if row.around is not None:
                chain = self._caller(chain, beside[row.around], known)
                if outside.issuperset(self._functions(chain)):
                    chain = ()
            if row.called and self._is_of_another(chain, outside):
                chain = self._inside(chain, row.called)
            entered = self._entered(chain)
            if caller and not outside.issuperset(self._functions(chain[:entered])):
                # What another program calls is this one, too.
                chain = caller + chain[entered:]
            found.append(frame if chain == row.chain else self._add(chain))
        return found

    def _read(self, frame: int) -> Chain:
        chain: list[int] = []
        while frame >= 0 and len(chain) < DEEPEST_STACK:
            location, frame = self._module.frames[frame]
            chain.append(location)
        return tuple(chain[::-1])

    def _add(self, chain: Chain) -> int:
        row = self._added.get(chain)
        if row is None:
            parent = self._add(chain[:-1])
            row = self._added[chain] = len(self._module.frames)
            self._module.frames.append((chain[-1], parent))
        return row

    def _row(self, chain: Chain, name: str) -> _Row:
        calls = list(_CALL.finditer(name))
        if calls and calls[0].start() == 0:
            calls = calls[2 if len(calls) > 1 and calls[1][1] == _MAIN else 1 :]
        around = None
        random = next((place for place, call in enumerate(calls) if GENERATOR.match(call[1])), -1)
        # What is named by the call alone stands beside it.
        if random >= 0 and calls[random].end() < len(name):
            # What JAX calls for itself on the way there is nobody's either.
            while random and calls[random - 1][1] not in self._names:
                random -= 1
            around = name[: max(name.rfind("/", 0, calls[random].start()), 0)]
        return _Row(chain, name.rpartition("/")[0], around, tuple(call[1] for call in calls))

    def _caller(self, chain: Chain, beside: Collection[Chain], known: Collection[int]) -> Chain:
        """The beginning of a call stack that other operations have too; else as far as it is in functions of these."""
        lengths = range(len(chain), 0, -1)
        length = next((length for length in lengths if chain[:length] in beside), 0)
        if not length:
            functions = self._functions(chain)
            length = next((place for place, one in enumerate(functions) if one not in known), len(chain))
        return chain[:length]

    # Call stacks that hold all callers, of which only some are of this program.

    def _functions(self, chain: Chain) -> Iterator[int]:
        return (self._module.locations[location].function for location in chain)

    def _entered(self, chain: Chain) -> int:
        """Where the program itself begins in a call stack; 0 also where it does not."""
        functions = self._functions(chain)
        return next((place for place, one in enumerate(functions) if one in self._program), 0)

    def _around_program(self, rows: Sequence[_Row]) -> Chain:
        """The call stack that calls the program, by what it calls nothing for; empty where that is not seen."""
        found = Counter(row.chain[: self._entered(row.chain)] for row in rows if not row.called)
        del found[()]
        return next((chain for chain, _ in found.most_common(1)), ())

    def _is_of_another(self, chain: Chain, outside: Collection[int]) -> bool:
        """Whether a call stack begins outside of the program and does not come into it."""
        functions = list(self._functions(chain))
        begins_outside = functions[:1] != [] and functions[0] in outside
        return begins_outside and not self._program.intersection(functions) and not set(functions) <= set(outside)

    def _inside(self, chain: Chain, called: Sequence[str]) -> Chain:
        """What of a call stack is in the innermost of the functions that are called that is there."""
        names = [self._names[function] if function >= 0 else "" for function in self._functions(chain)]
        for function in reversed(called):
            if function in names:
                return chain[names.index(function) :]
        return ()
