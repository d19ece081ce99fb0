"""Turns of a loop on the way back, which hold a call as those forward do.

A turn forward is a call and what is done with what it gives, `y, aux = layer(p, x)` and `total += aux`. Adding needs
nothing on the way back, so there one call follows right on the other and all of them are one row, whose repeats are
what is in the call. A person wrote a loop of calls, and opens the same things on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.chains import Label
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import CALL, MODULE, PHASE, STATEMENT, is_kind
from jaxviz.outline.phases.phases import BACKWARD_NAMES
from jaxviz.outline.rows import Rows

_Told = tuple[tuple[object, ...], int]


def calls_in_turns(draft: Draft, labels: Sequence[Label]) -> Draft:
    """The draft with the call of each turn on the way back in the turn, where that is so forward."""
    back = _is_back(draft, labels)
    count, added = draft.count, draft.added.astype(np.bool_)
    # Of a stack the first copy stands right behind it.
    stacks = np.flatnonzero(count[:-1] > 1)
    stacks = stacks[added[stacks + 1] & (draft.copy[stacks + 1] == 0)]
    whole = stacks[back[stacks] & ~added[stacks] & (draft.closed[stacks] == 0)]
    if not len(whole):
        return draft
    calls = _calls_of(draft, labels, stacks[~back[stacks]])
    pairs = ((row, calls.get((labels[draft.label[row]].token, int(count[row])))) for row in whole.tolist())
    found = {row: pair for row, pair in pairs if pair is not None}
    return _put_in(draft, found) if found else draft


def _is_back(draft: Draft, labels: Sequence[Label]) -> NDArray[np.bool_]:
    """Of each row, whether it is on the way back."""
    phases = np.flatnonzero(draft.kind == PHASE)
    back = np.zeros(len(draft), np.bool_)
    for row in phases.tolist():
        # In preorder what is in a row stands right behind it.
        if labels[draft.label[row]].name in BACKWARD_NAMES:
            back[row : int(np.searchsorted(draft.rows.first, draft.rows.end[row]))] = True
    return back


def _calls_of(draft: Draft, labels: Sequence[Label], stacks: NDArray[np.intp]) -> dict[_Told, tuple[int, int]]:
    """Stacks and the calls beside other things in their first copies, by what all turns would be told by if these
    calls were all of them, and by the number of turns."""
    parent = draft.rows.parent
    is_first = np.zeros(len(draft), np.bool_)
    is_first[stacks + 1] = True
    is_turn = is_first | (is_first[parent] & (draft.kind == STATEMENT))
    is_call = is_kind(draft.kind, (CALL, MODULE)) & (draft.closed == 0) & (draft.count == 1)
    found: dict[_Told, tuple[int, int]] = {}
    for row in np.flatnonzero(is_call & is_turn[parent]).tolist():
        token, turn = labels[draft.label[row]].token, int(parent[row])
        if not is_first[turn]:
            token, turn = labels[draft.label[turn]].token + token, int(parent[turn])
        stack = turn - 1
        if not draft.added[stack]:
            token = labels[draft.label[stack]].token + token
        found[token, int(draft.count[stack])] = stack, row
    return found


def _put_in(draft: Draft, found: dict[int, tuple[int, int]]) -> Draft:
    """The draft in which these stacks are as others are, with a call as another one around all in each copy."""
    kind, label, closed, added = (column.copy() for column in (draft.kind, draft.label, draft.closed, draft.added))
    call = np.full(len(draft), -1, np.int32)
    for row, (stack, one) in found.items():
        for told in (kind, label, closed, added):
            told[row] = told[stack]
        call[(draft.rows.parent == row) & (draft.copy >= 0)] = one
    copies = np.flatnonzero(call >= 0)
    # Each call comes right behind the copy that it is put in.
    new = copies + 1 + np.arange(len(copies))
    old = np.delete(np.arange(len(draft) + len(copies)), new)
    order = np.empty(len(draft) + len(copies), np.int32)
    order[old], order[new] = np.arange(len(draft)), copies
    parent = np.where(draft.rows.parent >= 0, old[draft.rows.parent], -1)[order]
    inside = np.isin(draft.rows.parent, copies)
    parent[old[inside]] += 1
    parent[new] = new - 1

    def column(values: Column, of_calls: Column | int) -> Column:
        taken: Column = values[order]
        taken[new] = of_calls
        return taken

    calls = call[copies]
    return replace(
        draft,
        rows=Rows(parent.astype(np.int32), column(draft.rows.path, -1), draft.rows.first[order], draft.rows.end[order]),
        kind=column(kind, draft.kind[calls]),
        label=column(label, draft.label[calls]),
        closed=column(closed, draft.closed[calls]),
        count=column(draft.count, 1),
        copy=column(draft.copy, -1),
        added=column(added, 0),
    )
