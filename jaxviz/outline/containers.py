"""Modules of a library that only run others: a list of layers is the person's, whoever goes through it.

`nn.Sequential([nn.Dense(32), nn.relu, nn.Dense(10)])` is one expression of the person, and what is in it is what he
wrote; an attention of a library is one expression too, but how it is made is the library's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.chains import Label
from jaxviz.outline.elements import CALL, FUNCTION, MODULE, is_kind
from jaxviz.outline.rows import Rows
from jaxviz.tables import Tables

# So much of what a container holds is in modules of its own, at least so many.
_SHARE = 2 / 3
_LEAST = 2


def containers(
    rows: Rows, labels: Sequence[Label], label: Column, tokens: Column, drawn: NDArray[np.bool_], tables: Tables
) -> NDArray[np.bool_]:
    """Whether each row is a module or a call that does little but run other modules, one after the other.

    Rows of one token are alike: a way back is a container where its forward part is one.
    """
    is_module = np.array([_is_module(one, tables) for one in labels], bool)[label]
    before = np.concatenate([[0], np.cumsum(drawn)])
    boxes = before[rows.end] - before[rows.first]
    inside = is_module[1:] & (boxes[1:] > 0)
    around = rows.parent[1:][inside]
    count = np.bincount(around, minlength=len(rows))
    held = np.bincount(around, weights=boxes[1:][inside], minlength=len(rows))
    kinds = np.array([one.kind for one in labels], np.int32)[label]
    found = is_kind(kinds, (CALL, MODULE)) & (count >= _LEAST) & (held >= _SHARE * boxes)
    return np.isin(tokens[label], tokens[label[found]])


def _is_module(label: Label, tables: Tables) -> bool:
    """Whether a row is a module, or a call of an object that is known by its class."""
    return label.kind == MODULE or any(
        # The call of a library's function is told by its caller and the function.
        token[0] == FUNCTION and tables.strings[token[2]].endswith(".__call__")
        for token in label.token
        if isinstance(token, tuple) and len(token) == 3
    )
