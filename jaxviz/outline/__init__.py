"""The outline of a stage: the tree by which it is folded for reading, made from the graph and the person's source.

    graph = jv.explore(step, params, x).jaxpr
    print(make_outline(graph))

`paths.py` finds for each equation what it is part of, `rows.py` makes intervals of that, `chains.py` and `repeats.py`
make them fewer, `tree.py` says what comes out.
"""

from __future__ import annotations

from jaxviz.outline.make import make_outline
from jaxviz.outline.tree import Outline, Row

__all__ = ["Outline", "Row", "make_outline"]
