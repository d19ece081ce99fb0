"""A region with a single region inside it is one region, with the better of the two names.

A module's name wins, then that of the person's inner function; never a library's or one that says nothing. A
statement with one thing in it vanishes, and so do regions in which nothing is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.called_back import nearly_all_around
from jaxviz.outline.elements import (
    BODY,
    CALL,
    COND,
    FUNCTION,
    ITSELF,
    LOOP,
    MODULE,
    PHASE,
    PROGRAM,
    RECOMPUTED,
    STATEMENT,
    Element,
    Paths,
    is_kind,
)
from jaxviz.outline.paths import NodePaths, combinations_of
from jaxviz.outline.phases.alike import keep_calls_alike
from jaxviz.outline.phases.phases import AFTER, BEFORE, PHASE_NAMES, UPDATE
from jaxviz.outline.rows import Rows, before_each
from jaxviz.outline.written.expressions import (
    GENERIC,
    POOR,
    WRAPPER,
    Expressions,
    is_control,
    is_loop,
)
from jaxviz.outline.written.transformations import takes_gradient, takes_tangents
from jaxviz.read.spoken import passes_on, said

_REGIONS = frozenset({LOOP, COND, BODY})

# Phases that say nothing without what is in them.
_TOLD = frozenset(PHASE_NAMES[phase] for phase in (BEFORE, UPDATE, AFTER))


class Label(NamedTuple):
    """What a row of the outline says. `frames` are the places in the source that it stands for, outermost first."""

    kind: int
    name: str
    detail: str
    variable: str
    frames: tuple[int, ...]
    token: tuple[object, ...]


class Chains:
    """Makes the rows of a graph's paths fewer, and gives each its label."""

    def __init__(self, graph: Graph, found: NodePaths, expressions: Expressions) -> None:
        self._graph = graph
        self._found = found
        self._expressions = expressions
        self.labels: list[Label] = []
        # Of each path four times its last element, one more where it holds anything that the person wrote, and two
        # more where other things are drawn beside it in what it is in.
        holds = _holding_paths(found.paths)
        self._steps = [4 * step + held for step, held in zip(found.paths.step, holds, strict=True)]
        self._merged: dict[tuple[int, ...], tuple[int, ...]] = {}

    def shorten(self, rows: Rows, drawn: NDArray[np.bool_]) -> tuple[Rows, Column]:
        """The rows that stay, and the number of each one's label. `drawn` marks nodes that are boxes."""
        kinds = self._found.paths.kinds()
        before = np.concatenate([[0], np.cumsum(drawn)])
        always = is_kind(kinds, _REGIONS)
        kept = always[rows.path] | (before[rows.end] > before[rows.first])
        kept[0] = True
        rows = rows.keep(kept)
        rows = rows.keep(~(self._pieces_around_modules(rows, kinds) | self._pieces_of_turns(rows, kinds)))
        rows = rows.keep(~nearly_all_around(rows, kinds, self._found.paths, before))
        rows = rows.keep(~self._single_operations(rows, kinds, before))
        rows = rows.keep(~self._named_as_their_whole(rows, kinds))
        rows = rows.keep(~self._nameless_turns(rows, kinds, before))
        self._tell_beside(rows)

        count = len(rows)
        total = before[rows.end] - before[rows.first]
        inside = np.bincount(rows.parent[1:], weights=total[1:], minlength=count).astype(np.int64)
        children = np.bincount(rows.parent[1:], minlength=count)
        # A chain is a row, the only child in it that has none but this child, and so on.
        single = (children == 1) & (inside == total)
        link = np.zeros(count, bool)
        link[1:] = single[rows.parent[1:]]
        self._keep_phases_alike(rows, kinds[rows.path], link)
        keep_calls_alike(rows, kinds[rows.path], self._found.paths, link)
        # In preorder an only child stands right after its parent.
        top = np.maximum.accumulate(np.where(link, 0, np.arange(count))).astype(np.int32)
        last = np.flatnonzero(np.append(~link[1:], True))
        bottom = last[before_each(last, count)[top]]
        combinations, which = combinations_of([rows.path[top], rows.path[bottom]])

        label = np.full(count, -1, np.int32)
        place = np.arange(count) - top
        merged = [self._merge(*row) for row in combinations]
        length = max(map(len, merged))
        table = np.full((len(merged), length), -1, np.int32)
        for row, numbers in enumerate(merged):
            table[row, : len(numbers)] = numbers
        label = table[which, place]
        kept = label >= 0
        return rows.keep(kept), label[kept]

    def _pieces_around_modules(self, rows: Rows, kinds: Column) -> NDArray[np.bool_]:
        """Calls of the person that modules cut into several pieces, with the statements that they stand in: no piece is
        the call, so what it holds stands beside the modules; on the way back too, where one piece may be left."""
        paths, around = self._found.paths, self._found.around_modules
        kind, parent = kinds[rows.path], rows.parent
        pieces = np.zeros(len(rows), np.bool_)
        beside_modules = np.bincount(parent[kind == MODULE], minlength=len(rows)) > 0
        seen: dict[tuple[int, int], int] = {}
        alone: list[tuple[int, int]] = []
        cut: set[int] = set()
        holds_own = np.bincount(parent[is_kind(kind, (STATEMENT, CALL))], minlength=len(rows)) > 0
        modules, after = np.concatenate([[0], np.cumsum(kind == MODULE)]), rows.after()
        for row in np.flatnonzero((kind == CALL) & holds_own).tolist():
            frame = paths.element(int(rows.path[row])).frame
            if frame < 0:
                # What a library calls has no place in the source; modules that are called in it do not stand in it, nor
                # in what the library calls it in.
                piece = [row]
                while kind[parent[piece[-1]]] == FUNCTION:
                    piece.append(int(parent[piece[-1]]))
                pieces[piece] |= beside_modules[parent[piece[-1]]]
            if frame not in around or modules[after[row]] > modules[row + 1]:
                # What holds the modules that it calls is all of the call, in each turn of a loop.
                continue
            outer = int(parent[row])
            outer = int(parent[outer]) if kind[outer] == STATEMENT else outer
            before = seen.setdefault((outer, int(rows.path[row])), row)
            step = int(paths.step[rows.path[row]])
            if beside_modules[outer] and before == row:
                alone.append((row, step))
            elif beside_modules[outer]:
                pieces[[before, row]] = True
                cut.add(step)
        pieces[[row for row, step in alone if step in cut]] = True
        holds_pieces = np.bincount(parent[pieces], minlength=len(rows)) > 0
        return pieces | ((kind == STATEMENT) & holds_pieces)

    def _pieces_of_turns(self, rows: Rows, kinds: Column) -> NDArray[np.bool_]:
        """Statements that modules cut into several pieces which differ: what stands before a module and what stands
        behind it in the turn before are no piece of one turn, so they stand beside the modules."""
        kind, parent = kinds[rows.path], rows.parent
        beside_modules = np.bincount(parent[kind == MODULE], minlength=len(rows)) > 0
        pieces = np.flatnonzero((kind == STATEMENT) & beside_modules[parent])
        found = np.zeros(len(rows), np.bool_)
        if not len(pieces):
            return found
        inside: dict[int, list[int]] = {row: [] for row in pieces.tolist()}
        for row in np.flatnonzero(np.isin(parent, pieces)).tolist():
            inside[int(parent[row])].append(int(rows.path[row]))
        by_place: dict[tuple[int, int], list[int]] = {}
        for row in pieces.tolist():
            by_place.setdefault((int(parent[row]), int(rows.path[row])), []).append(row)
        for same in by_place.values():
            # Two pieces are one turn, before the module and behind it.
            if len(same) > 2 and len({tuple(inside[row]) for row in same}) > 1:
                found[same] = True
        return found

    def _single_operations(self, rows: Rows, kinds: Column, before: Column) -> NDArray[np.bool_]:
        """Calls of modules of a library that are one operation here, between others: told as the module otherwise."""
        kind, parent = kinds[rows.path], rows.parent
        single = (kind == FUNCTION) & (kind[parent] == MODULE) & (before[rows.end] - before[rows.first] == 1)
        paths, holds_rows = self._found.paths, np.bincount(parent[1:], minlength=len(rows)) > 0
        for row in np.flatnonzero(single).tolist():
            path = int(rows.path[row])
            own, module = paths.element(path).name, paths.element(int(paths.parent[path])).name
            # A place in the library has no name of its own: it says what one operation is for that nothing else does.
            single[row] = says_again(own, module) if own else holds_rows[row]
        return single

    def _named_as_their_whole(self, rows: Rows, kinds: Column) -> NDArray[np.bool_]:
        """Functions of a library with the name of the call that they stand in once, and say again: it holds what they
        do. Those that it calls several times are told by their number."""
        kind, parent = kinds[rows.path], rows.parent
        found = (kind == FUNCTION) & is_kind(kind[parent], (CALL, FUNCTION))
        same = parent.astype(np.int64) << 32 | rows.path
        _, which, count = np.unique(same, return_inverse=True, return_counts=True)
        found &= (count[which.reshape(-1)] == 1) & (np.bincount(parent[1:], minlength=len(rows)) > 0)
        known = dict[tuple[int, int], bool]()
        for row in np.flatnonzero(found).tolist():
            outer = int(parent[row])
            while kind[outer] == FUNCTION and self._function_name(int(rows.path[outer])) in GENERIC:
                outer = int(parent[outer])
            pair = int(rows.path[row]), int(rows.path[outer])
            if pair not in known:
                name = self._function_name(pair[0])
                known[pair] = bool(name) and name == self._function_name(pair[1])
            found[row] = known[pair]
        return found

    def _nameless_turns(self, rows: Rows, kinds: Column, before: Column) -> NDArray[np.bool_]:
        """Functions of a library that are all of what a loop does, and whose names say no more of it than what is
        around the loop does: `wrapper`."""
        kind, parent = kinds[rows.path], rows.parent
        total = before[rows.end] - before[rows.first]
        # The loop itself stands before what is in it.
        is_all = (total[parent] == total + (kind[parent] == LOOP)) & (total > 1)
        found = (kind == FUNCTION) & is_kind(kind[parent], (LOOP, BODY)) & is_all
        for row in np.flatnonzero(found).tolist():
            name, outer = self._label(self._found.paths.element(int(rows.path[row]))).name, int(parent[row])
            # The function that is around the loop stands around JAX's own, that of the loop.
            while kind[outer] in (*_REGIONS, FUNCTION) and self._function_name(int(rows.path[outer])) != name:
                outer = int(parent[outer])
            found[row] = name in GENERIC or name == self._function_name(int(rows.path[outer]))
        return found

    def _function_name(self, path: int) -> str:
        """The name of the function that a path ends with, or of the call of one, without what it was taken from."""
        element = self._found.paths.element(path)
        name = element.name or (self._place_name(element.frame) if element.frame >= 0 else "")
        return name.rpartition(".")[2]

    def _tell_beside(self, rows: Rows) -> None:
        """Notes in the steps of paths which of them stand beside others, be it in another piece of the same thing."""
        paths = np.unique(rows.path)
        parent = np.asarray(self._found.paths.parent)[paths]
        together = np.bincount(parent[parent >= 0], minlength=len(self._steps))
        beside_modules = self._found.around_modules
        for path, around in zip(paths.tolist(), parent.tolist(), strict=True):
            if around >= 0 and (together[around] > 1 or self._found.paths.element(around).frame in beside_modules):
                self._steps[path] |= 2

    def _keep_phases_alike(self, rows: Rows, kind: Column, link: NDArray[np.bool_]) -> None:
        """Cut the chain of a forward or backward phase where it goes on otherwise than that of the other one."""
        beside: dict[int, list[int]] = {}
        for row in np.flatnonzero(kind == PHASE).tolist():
            if self._found.paths.element(int(rows.path[row])).name in ("forward", "backward"):
                beside.setdefault(int(rows.parent[row]), []).append(row)
        for phases in beside.values():
            chains = []
            for row in phases:
                chain, inner = [], row + 1
                while inner < len(rows) and link[inner]:
                    if kind[inner] != STATEMENT:
                        chain.append((inner, self._found.paths.step[rows.path[inner]]))
                    inner += 1
                chains.append(chain)
            same = 0
            while len({chain[same][1] if same < len(chain) else -1 for chain in chains}) == 1 and same < len(chains[0]):
                same += 1
            for chain in chains:
                if same < len(chain):
                    link[chain[same][0]] = False

    def _merge(self, top: int, bottom: int) -> tuple[int, ...]:
        """For each path from `top` down to `bottom`, the label of its row, or -1 where it is part of the one above."""
        parent, steps, path = self._found.paths.parent, self._steps, bottom
        chain = [steps[path]]
        while path != top:
            path = parent[path]
            chain.append(steps[path])
        key = tuple(reversed(chain))
        known = self._merged.get(key)
        if known is None:
            known = self._merged[key] = self._numbers(key)
        return known

    def _numbers(self, chain: tuple[int, ...]) -> tuple[int, ...]:
        """The same for a chain as `_steps` has it."""
        numbers: list[int] = []
        current: Label | None = None
        is_whole = True
        elements = [self._found.paths.elements[step >> 2] for step in chain]
        following = [*(element.kind for element in elements[1:]), -1]
        for step, element, inside in zip(chain, elements, following, strict=True):
            label = self._label(element)
            is_box = label.kind == CALL and not step & 1
            is_region = label.kind == CALL and (inside in _REGIONS or is_control(label.name))
            is_whole = is_whole and not step & 2
            merged = None
            if current is not None:
                is_named = label.kind == CALL and not self._is_nameless(current)
                says_less = is_named and (self._is_nameless(label) or _only_hands_on(current.name, label.name))
                merged = _merged(current, label, is_box, is_region, is_whole, says_less)
            is_whole = is_whole or label.kind == CALL
            if merged is None:
                numbers.append(len(self.labels))
                self.labels.append(label)
                current = label
            else:
                numbers.append(-1)
                self.labels[-1] = current = merged
        return tuple(numbers)

    def _is_nameless(self, label: Label) -> bool:
        """Whether what is called is a lambda."""
        return bool(label.frames) and self._expressions.at(label.frames[0]).nameless

    def _label(self, element: Element) -> Label:
        name, detail, variable = element.name, element.detail, ""
        if element.kind == PROGRAM:
            name = self._graph.tables.strings[self._graph.regions.name[0]] or "program"
        if element.kind == CALL and element.frame >= 0:
            variable = self._expressions.at(element.frame).variable
        if element.kind == FUNCTION and not name:
            name = self._place_name(element.frame)
        elif element.kind == FUNCTION and name in GENERIC and isinstance(element.key[0], int) and element.key[0] >= 0:
            # What a library does with a function without a name is told by where it calls it.
            name = self._place_name(element.key[0])
        frames = (element.frame,) if element.frame >= 0 else ()
        return Label(element.kind, name, detail, variable, frames, (element.token,))

    def _place_name(self, frame: int) -> str:
        name = self._expressions.at(frame).name
        if name and name not in GENERIC and not name.startswith("_") and not passes_on(name):
            return name
        function = said(self._graph.tables.strings[self._graph.tables.frames.function[frame]]).rpartition(".")[2]
        return WRAPPER if passes_on(function) else function.strip("_")


def says_again(function: str, module: str) -> bool:
    """Whether a function is the call of the module that it stands in: `LSTMCell` of `LSTMCell_0`, `LSTM` of `lstm`."""
    return module.replace("_", "").lower().startswith(function.lower())


def is_itself(label: Label) -> bool:
    """Whether a row is what a call does itself beside what it is given to do: what is in it says less than that."""
    last = label.token[-1] if label.token else ()
    return label.kind == FUNCTION and isinstance(last, tuple) and last[1:2] == (ITSELF,)


def _holding_paths(paths: Paths) -> list[bool]:
    """Of each path, whether anything that the person wrote lies below it."""
    holds = [False] * len(paths.parent)
    for path in range(len(holds) - 1, 0, -1):
        if holds[path] or paths.element(path).kind != FUNCTION:
            holds[paths.parent[path]] = True
    return holds


def _only_hands_on(outer: str, inner: str) -> bool:
    """Whether a function that only calls another one is what the person calls that here: `critic`, not `mlp`.

    How something is chosen or differentiated says more than who asks for it, and some names say nothing.
    """
    return outer not in POOR and not is_control(inner) and not takes_gradient(inner) and not takes_tangents(inner)


def _merged(outer: Label, inner: Label, is_box: bool, is_region: bool, is_whole: bool, says_less: bool) -> Label | None:
    """One label for a region and the only region inside it; None where both stay.

    `is_box` says that the inner one is one expression, so a box, and `is_region`, that it is the call of a loop or a
    condition, which is named by it; the program and its phases swallow neither. `is_whole` says that the outer one
    has nothing else in it anywhere, and `says_less`, that the outer one is what the person calls all of it.
    """
    token = outer.token + inner.token
    frames = outer.frames + tuple(frame for frame in inner.frames if frame not in outer.frames)
    if inner.kind == BODY and (outer.kind == CALL or (outer.kind == FUNCTION and outer.name == inner.name)):
        # The call of a function that JAX makes one region of: `shard_map`, say.
        name = outer.name if inner.name in GENERIC else inner.name
        return Label(BODY, name, outer.detail, outer.variable, frames, token)
    if inner.kind in (BODY, PHASE):
        return None
    if RECOMPUTED in (outer.kind, inner.kind) and not {outer.kind, inner.kind} & {STATEMENT, FUNCTION}:
        # What is made again is told as that, though all of it is one module.
        return None
    if outer.kind == PHASE and outer.name in _TOLD:
        # An update of one thing is that thing.
        if inner.kind == STATEMENT:
            return outer._replace(token=token)
        return inner._replace(token=token) if inner.kind == CALL or is_itself(inner) else None
    if outer.kind in (PROGRAM, PHASE):
        if inner.kind in _REGIONS or is_box or is_region:
            return None
        detail = outer.detail or (inner.name if inner.kind != STATEMENT else "")
        return outer._replace(detail=detail, frames=frames, token=token)
    if outer.kind in _REGIONS:
        return outer._replace(token=token) if inner.kind == STATEMENT else None
    if inner.kind == STATEMENT:
        return outer._replace(token=token)
    if outer.kind == STATEMENT:
        return inner._replace(detail=outer.detail, token=token)
    if inner.kind in _REGIONS:
        name = outer.name if outer.name and outer.name not in GENERIC else inner.name
        return Label(inner.kind, name, outer.detail, outer.variable, frames, token)
    if inner.kind == FUNCTION and inner.detail:
        # Indexing whose operation comes later.
        return inner._replace(kind=CALL, variable="", frames=inner.frames, token=token)
    if outer.kind == FUNCTION and inner.kind == CALL and not inner.frames:
        # What a library does only to call a function of the person's is that function.
        return inner._replace(frames=frames, token=token)
    if outer.kind == MODULE or inner.kind == FUNCTION:
        says_nothing = outer.name in (POOR if outer.kind == FUNCTION else GENERIC)
        better = inner.name and outer.kind != MODULE and says_nothing and inner.name not in GENERIC
        return outer._replace(name=inner.name if better else outer.name, frames=frames, token=token)
    # A loop that is all of a function of the person is what that does; how it is written says less.
    says_all = inner.name in GENERIC or (is_whole and (is_box or is_loop(inner.name) or says_less))
    if inner.kind == CALL and says_all and outer.name not in GENERIC and " " not in outer.name:
        # A function of one expression is known by its own name, unless it has none but its text. One expression that
        # stands apart from the others of its function is not all of the function.
        return outer._replace(frames=frames, token=token)
    return inner._replace(frames=frames, token=token)
