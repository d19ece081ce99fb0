"""Repeats: what stands again and again, right after itself, becomes a stack of copies.

Two rows are copies of each other if they came from the same place of the source, or are modules of one name, and hold
the same; a row that is one box counts by its place alone. Rows whose content is the same are looked at once, so ten
thousand equal loop bodies cost as much as one.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.repeats.contents import Contents
from jaxviz.outline.repeats.hashes import Hashes, mixed, powers
from jaxviz.outline.repeats.runs import Run, find_runs
from jaxviz.outline.rows import Rows


@dataclass(frozen=True, eq=False)
class _New:
    """Rows to put in: stacks and copies. `around` is an old row, or -2 - i for new row i.

    `pattern` is the first old row of what is repeated, -1 where that is a bare equation.
    """

    around: Column
    first: Column
    end: Column
    count: Column
    copy: Column
    pattern: Column


@dataclass(frozen=True, eq=False)
class Stacked:
    """Rows with their stacks and copies, in preorder.

    `old` is the number that a row had before, -1 for a new one; `count` and `copy` are those of the outline. Of a new
    row `pattern` is the old number of the first row in it; `single` marks new stacks whose copies are old rows.
    """

    rows: Rows
    old: Column
    count: Column
    copy: Column
    pattern: Column
    single: NDArray[np.bool_]


class Repeats:
    """Finds the repeats among the rows of an outline, from the innermost out."""

    def __init__(
        self,
        rows: Rows,
        token: Column,
        place: Column,
        begin: Column,
        closed: NDArray[np.bool_],
        takes_count: NDArray[np.bool_],
        bare: Column,
        op: Column,
        turn: Column,
    ) -> None:
        """`place` tells where rows came from, whatever is in them, and `begin` the same of those that are one box.
        `bare` are the nodes that are boxes of their own, `op` their operations; `takes_count` says of rows whether they
        may be the stack of all that is in them; `turn` rises among the rows of one turn, where it is not 0."""
        self._rows = rows
        self._takes_count = takes_count
        self._closed = closed
        count = len(rows)
        # Items are the rows but for row 0, then the bare nodes; in the order of their parents, then of the program.
        leaf = rows.innermost(bare)
        parent = np.concatenate([rows.parent[1:], leaf])
        first = np.concatenate([rows.first[1:], bare])
        order = np.lexsort((first, parent))
        self._item_row = np.concatenate([np.arange(1, count), np.full(len(bare), -1)]).astype(np.int32)[order]
        self._item_first = first[order].astype(np.int32)
        self._item_end = np.concatenate([rows.end[1:], bare + 1])[order].astype(np.int32)
        self._item_hash = mixed(np.concatenate([np.zeros(count - 1), op[bare] + 1])[order].astype(np.uint64))
        places, begins = (
            np.concatenate([mixed(one[1:].astype(np.uint64) + np.uint64(1 << 33)), np.zeros(len(bare), np.uint64)])
            for one in (place, begin)
        )
        self._item_place = np.where(self._item_row >= 0, places[order], self._item_hash)
        self._item_begin = np.where(self._item_row >= 0, begins[order], self._item_hash)
        self._start = np.searchsorted(parent[order], np.arange(count + 1)).astype(np.int32)
        self._place_of_row = np.zeros(count, np.int32)
        has_row = self._item_row >= 0
        self._place_of_row[self._item_row[has_row]] = np.flatnonzero(has_row)
        self._item_turn = np.where(self._item_row >= 0, turn[self._item_row], 0)
        self._row_hash = mixed(token.astype(np.uint64) + np.uint64(1 << 32))
        # What comes out: new rows, and of old rows what is around them, how many copies they are and which.
        self._new: list[_New] = []
        self._new_count = 0
        self._around = rows.parent.copy()
        self._count = np.ones(count, np.int32)
        items = self._item_hash, self._item_place, self._item_row
        self._contents = Contents(self._start, *items, self._row_hash, begin, np.zeros(count, bool), closed)
        self._copy = np.full(count, -1, np.int32)

    def find(self) -> Stacked:
        """Rows with stacks where there are repeats."""
        depth = self._rows.depths()
        order = np.argsort(depth, kind="stable")
        borders = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
        for level in range(len(borders) - 2, -1, -1):
            self._fold(order[borders[level] : borders[level + 1]].astype(np.int32))
        return self._stacked()

    def _fold(self, parents: Column) -> None:
        """Find the repeats in rows of one depth, of which all inside has been looked at."""
        sizes = self._start[parents + 1] - self._start[parents]
        content = np.zeros(len(parents), np.uint64)
        is_filled = sizes > 0
        filled, counts = parents[is_filled], sizes[is_filled]
        # Of the rows that are filled: where the items of each begin.
        begin = np.cumsum(counts) - counts
        at = np.zeros(0, np.int64)
        if len(filled):
            place = _counting(counts)
            at = np.repeat(self._start[filled], counts) + place
            content[is_filled] = np.add.reduceat(self._item_hash[at] * powers(int(counts.max()))[place], begin)
        content = mixed(content + sizes.astype(np.uint64))
        own = self._row_hash[parents]
        full = np.where(self._closed[parents], own, mixed(own * np.uint64(3) + content))
        place = self._place_of_row[parents]
        inside = parents > 0
        self._item_hash[place[inside]] = full[inside]

        if len(filled):
            self._stack(filled, content[is_filled] + self._takes_count[filled], at, begin, counts)

    def _stack(self, parents: Column, key: Hashes, at: NDArray[Any], begin: NDArray[Any], counts: Column) -> None:
        """Put in what repeats in these rows: those with equal keys hold the same, each `counts` of the items `at`."""
        _, example, which = np.unique(key, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        places = self._places(at).tolist()
        for number, (index, first, count) in enumerate(
            zip(example.tolist(), begin[example].tolist(), counts[example].tolist(), strict=True)
        ):
            # Mostly no two items came from one place, and nothing else can repeat.
            if count < 2 or len(set(places[first : first + count])) == count:
                continue
            items = slice(self._start[parents[index]], self._start[parents[index] + 1])
            hashes = self._alike(items).view(np.int64)
            sizes = (self._item_end[items] - self._item_first[items]).astype(np.int64)
            places_inside, turns = self._item_place[items].view(np.int64), self._item_turn[items]
            order, begins = turns if turns.any() else None, self._item_begin[items].view(np.int64)
            found = find_runs(hashes, self._item_row[items] < 0, places_inside, sizes, order, begins)
            runs = [run for run in (self._from_fullest(run, int(items.start)) for run in found) if run is not None]
            if runs:
                self._apply(parents[which == number], runs, len(hashes))

    def _places(self, items: Any) -> NDArray[np.uint64]:
        """Where items came from: equal numbers for the same place of the source, whatever is in them."""
        rows = self._item_row[items]
        places: NDArray[np.uint64] = np.where(rows >= 0, self._row_hash[rows], self._item_hash[items])
        return places

    def _alike(self, items: slice) -> Hashes:
        """The hashes of items, those of rows that only lack something of one before them being the same as its.

        Such rows came from the same place, and all that is in them stands in the other in the same order. What has
        more than those before it is shown by none of them, so it is no copy of theirs.
        """
        hashes, rows = self._item_hash[items], self._item_row[items]
        own = self._places(items)
        # Mostly what came from one place is the same.
        if len(np.unique(mixed(own) + hashes)) == len(np.unique(own)):
            return hashes
        hashes = hashes.copy()
        _, group = np.unique(own, return_inverse=True)
        order = np.argsort(group.reshape(-1), kind="stable")
        borders = np.flatnonzero(np.diff(group.reshape(-1)[order], prepend=-1, append=-1))
        for low, high in itertools.pairwise(borders.tolist()):
            members = order[low:high]
            if (hashes[members] != hashes[members[0]]).any():
                self._make_alike(members, hashes, rows)
        return hashes

    def _make_alike(self, members: NDArray[np.intp], hashes: Hashes, rows: Column) -> None:
        """Give those of one place the hash of the one before them that they only lack something of."""
        full = members[0]
        own = hashes[members].tolist()
        known: dict[tuple[int, int], bool] = {}
        whole = own[0]
        for member, hashed in zip(members.tolist(), own, strict=True):
            lacks = hashed == whole or known.get((hashed, whole))
            if lacks is None:
                lacks = known[hashed, whole] = self._contents.lacks(int(rows[member]), int(rows[full]))
            if not lacks:
                full, whole = member, hashed
            hashes[member] = whole

    def _from_fullest(self, run: Run, start: int) -> Run | None:
        """A run among the items from `start` on, if one copy holds all of the others.

        Each thing in it may be a copy of the one at its place, and yet the first of one turn and a later one of another
        hold most. Then what stands before such a copy is left out. None where no two copies are left.
        """
        own = self._item_hash[start + run.start : start + run.end]
        full = own[: run.copies * run.period].reshape(run.copies, run.period)
        if not run.tail and not run.head and (full == full[0]).all():
            return run
        _, example, which = np.unique(full, axis=0, return_index=True, return_inverse=True)
        first = start + run.start
        patterns = [slice(begin, begin + run.period) for begin in (first + example * run.period).tolist()]
        kinds = which.reshape(-1).tolist()
        last = {kind: place for place, kind in enumerate(kinds)}
        holds = functools.cache(lambda one, other: self._contents.stands_in(patterns[other], patterns[one]))
        for skipped, kind in enumerate(kinds[:-1] or kinds):
            if all(holds(kind, other) for other, place in last.items() if place > skipped):
                tail, head = slice(start + run.end - run.tail, start + run.end), slice(start + run.first, first)
                shown = run.tail > 0 and self._contents.stands_in(tail, patterns[kind], is_rest=True)
                is_first = skipped == 0 and run.head > 0 and self._contents.stands_in(head, patterns[kind])
                found = Run(
                    run.start + skipped * run.period,
                    run.period,
                    run.copies - skipped,
                    run.tail if shown else 0,
                    run.head if is_first else 0,
                    run.inner,
                    run.head_inner,
                )
                return found if found.count > 1 else None
        return None

    def _apply(self, parents: Column, runs: list[Run], length: int) -> None:
        """Insert the runs found in one row into all rows of the same content."""
        base = self._start[parents]
        self._contents.folded[parents] = True
        whole = len(runs) == 1 and runs[0].end - runs[0].first == length and bool(self._takes_count[parents[0]])
        for run in runs:
            self._insert(parents, base + run.first, run, whole)

    def _insert(self, parents: Column, base: Column, run: Run, whole: bool) -> None:
        """One run, beginning at the items `base`, one for each parent; parents below -1 are new rows."""
        turns = run.head + np.arange(run.copies + (run.tail > 0), dtype=np.int32) * run.period
        starts = base[:, None] + (np.append(np.int32(0), turns) if run.head else turns)
        last = base + (run.end - run.first) - 1
        if whole:
            self._count[parents] = run.count
            around = parents
        else:
            pattern = self._item_row[base]
            numbers = self._add(parents, self._item_first[base], self._item_end[last], run.count, -1, pattern)
            around = -2 - numbers
        if run.period == 1 and bool(self._item_row[base[0]] >= 0):
            rows = self._item_row[starts]
            self._around[rows] = around[:, None]
            self._copy[rows] = np.arange(run.count, dtype=np.int32)
            return
        end = np.empty(starts.shape, np.int32)
        end[:, :-1] = self._item_first[starts[:, 1:]]
        end[:, -1] = self._item_end[last]
        copies = np.broadcast_to(np.arange(run.count, dtype=np.int32), starts.shape)
        around = np.broadcast_to(around[:, None], starts.shape)
        first, past = int(run.head > 0), int(run.head > 0) + run.copies
        for low, high, length, inner in (
            (0, first, run.head, run.head_inner),
            (first, past, run.period, run.inner),
            (past, run.count, run.tail, []),
        ):
            if low < high:
                own = slice(low, high)
                self._insert_copies(around[:, own], starts[:, own], end[:, own], copies[:, own], length, inner)

    def _put_in(self, numbers: Column, base: Column, length: int) -> None:
        """So many items from each of `base` on go into the new row of that number."""
        rows = self._item_row[base[:, None] + np.arange(length, dtype=np.int32)]
        self._around[rows[rows >= 0]] = np.repeat(-2 - numbers, (rows >= 0).sum(axis=1))

    def _insert_copies(
        self, around: Column, starts: Column, end: Column, copy: Column, length: int, inner: list[Run]
    ) -> None:
        """Rows for copies of `length` items each, and the runs inside them."""
        flat = starts.reshape(-1)
        pattern = self._item_row[flat]
        numbers = self._add(around.reshape(-1), self._item_first[flat], end.reshape(-1), 1, copy.reshape(-1), pattern)
        self._put_in(numbers, flat, length)
        for run in inner:
            self._insert(-2 - numbers, flat + run.first, run, False)

    def _add(
        self, around: Column, first: Column, end: Column, count: int, copy: Column | int, pattern: Column
    ) -> Column:
        size = len(around)
        counts, copies = np.full(size, count, np.int32), np.broadcast_to(np.int32(copy), size)
        self._new.append(_New(around, first, end, counts, copies, pattern))
        self._new_count += size
        return np.arange(self._new_count - size, self._new_count, dtype=np.int32)

    def _stacked(self) -> Stacked:
        """Old and new rows in one preorder."""
        rows, count = self._rows, len(self._rows)
        old = np.arange(count, dtype=np.int32)
        none = np.full(count, -1, np.int32)
        if not self._new:
            kept = Rows(self._around, rows.path, rows.first, rows.end)
            return Stacked(kept, old, self._count, self._copy, none, np.zeros(count, bool))
        new = _New(*(np.concatenate(column) for column in zip(*(vars(one).values() for one in self._new), strict=True)))
        absent = np.full(self._new_count, -1, np.int32)
        around = np.concatenate([self._around, new.around])
        around = np.where(around < -1, count - 2 - around, around)
        first, end = np.concatenate([rows.first, new.first]), np.concatenate([rows.end, new.end])
        # Of two that hold the same nodes, a new row is around the first old one in it, and inside any before that.
        inner = np.where(new.pattern >= 0, 2 * new.pattern - 1, 2 * count)
        rank = np.concatenate([2 * old, inner])
        order = np.lexsort((rank, -end, first))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        parent = around[order]
        parent[1:] = place[parent[1:]]
        new_rows = np.flatnonzero((new.copy < 0) & (new.count > 1))
        single = np.zeros(len(order), bool)
        single[count + new_rows] = ~np.isin(new_rows, -2 - new.around[new.copy >= 0])
        return Stacked(
            Rows(parent, np.concatenate([rows.path, absent])[order], first[order], end[order]),
            np.concatenate([old, absent])[order],
            np.concatenate([self._count, new.count])[order],
            np.concatenate([self._copy, new.copy])[order],
            np.concatenate([none, new.pattern])[order],
            single[order],
        )


def _counting(sizes: Column) -> Column:
    """0, 1, 2, ... for each of the sizes, one after the other."""
    total = int(sizes.sum())
    return (np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)).astype(np.int32)
