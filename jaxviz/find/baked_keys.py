"""Random numbers that are the same in each call, because their key is a part of the program.

A function that begins with `key = jax.random.key(0)`, or takes a key from around it, draws the same in each call. That
is what one wants of first weights and of fixed features, and not of noise and masks: it is told where what is drawn
meets, entry by entry, what each call brings, and not what such weights have gone into.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import reduce
from math import prod
from operator import or_

import numpy as np

from jaxviz.find.finding import NOTE, Finding, Subject
from jaxviz.find.meetings import DRAWING, ENTRYWISE, meetings
from jaxviz.find.spread import Spread
from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, RESULT

# What values are made of, as bits: of an argument of the program; of one, and only entry by entry; of numbers that were
# drawn with a key of the program itself; and, from the fourth bit on, of each such key.
_BROUGHT, _ENTRIES, _DRAWN = 1, 2, 4
_KEYS = 3


def baked_keys(subject: Subject, known: Set[int]) -> Iterator[Finding]:
    """What draws the same in each call, but for the nodes of which more is `known`."""
    kept = _kept(subject)
    draws = [node for node in subject.flow.nodes(*DRAWING) if node not in known and not subject.is_backward(node)]
    if not kept or not draws:
        return
    walk = Spread(subject.graph)
    made_of = _made_of(walk, kept)
    key_of = {node: made_of[walk.operands(node)[0]] for node in draws}
    told = [node for node, key in key_of.items() if _is_baked(key) and _meets(walk, made_of, node)]
    if told:
        keys = reduce(or_, map(key_of.__getitem__, told)) >> _KEYS
        yield _finding(subject, told, [node for number, node in enumerate(kept) if keys >> number & 1])


def _kept(subject: Subject) -> list[int]:
    """The seeds and keys in the program that are the person's own; a library that has its own seed means it."""
    graph, flow = subject.graph, subject.flow
    constants = np.flatnonzero(graph.nodes.kind == CONSTANT).tolist()
    keys = [node for node in constants if flow.dtype(int(graph.first_value[node])).startswith(("key<", "uint32"))]
    return keys + [node for node in flow.nodes("random_seed") if subject.is_own(node)]


def _made_of(walk: Spread, kept: list[int]) -> list[int]:
    """What each value is made of."""
    graph, first = walk.graph, walk.graph.first_value.tolist()
    kinds, regions, owners = graph.nodes.kind.tolist(), graph.nodes.region.tolist(), graph.owned_regions
    own = {node: 1 << _KEYS + number for number, node in enumerate(kept)}
    found = [0] * first[-1]
    # Twice round, so that it is known what a loop carries.
    for _ in range(2 if walk.carried else 1):
        for node in range(len(graph)):
            operands = [found[source] if source >= 0 else 0 for source in walk.operands(node)]
            made = own.get(node, 0)
            if kinds[node] == ARGUMENT:
                made |= _entering(walk, found, node) if regions[node] else _BROUGHT | _ENTRIES
            elif kinds[node] == RESULT and node in walk.leaving:
                found[walk.leaving[node]] |= operands[0]
            elif kinds[node] == OPERATION and node not in owners:
                made |= _operation(walk.op(node), operands)
            for value in range(first[node], first[node + 1]):
                found[value] |= made
    return found


def _entering(walk: Spread, found: list[int], node: int) -> int:
    """What the argument of a body is made of."""
    sources = [walk.entering[node][1]] if node in walk.entering else []
    sources += walk.operands(walk.carried[node]) if node in walk.carried else []
    return reduce(or_, (found[source] for source in sources if source >= 0), 0)


def _operation(op: str, operands: list[int]) -> int:
    if op in DRAWING:
        return _DRAWN if operands and _is_baked(operands[0]) else 0
    made = reduce(or_, operands, 0)
    return made if op in ENTRYWISE else made & ~_ENTRIES


def _is_baked(key: int) -> bool:
    """Whether a key, of what it is made, is the same in each call."""
    return key >> _KEYS > 0 and not key & _BROUGHT


def _meets(walk: Spread, made_of: list[int], draw: int) -> bool:
    first = int(walk.graph.first_value[draw])
    size = prod(walk.dims(first))
    return any(
        # What is spread over more than was drawn is a weight or a feature; one number is spread over everything.
        (prod(walk.dims(other)) <= size or size == 1) and _is_another(made_of[other])
        for other in meetings(walk, first)
    )


def _is_another(made: int) -> bool:
    """Whether a value is another in each call, and not because of weights that are drawn here."""
    return bool(made & _ENTRIES or (made & _BROUGHT and not made & _DRAWN))


def _finding(subject: Subject, draws: list[int], seeds: list[int]) -> Finding:
    captured = [node for node in seeds if subject.graph.nodes.kind[node] == CONSTANT]
    name = subject.graph.tables.strings[subject.graph.nodes.name[captured[0]]] if captured else ""
    what = f"`{name}`" if name else "The key"
    why = "comes from around the function and is baked in" if captured else "is made inside of the function"
    return subject.told(
        kind="key",
        severity=NOTE,
        title="each call draws the same random numbers",
        text=f"{what} {why}, so it is the same in each call: so is what is drawn, whatever it is applied to.",
        remedy="Make the key an argument, and give each call a new one: key, sub = jax.random.split(key), then sub. "
        "Leave it where each call should draw the same.",
        nodes=[*seeds, *draws],
        figures={"uses": len(draws)},
    )
