"""Names for stacks that have none of their own: the head of the loop that repeats them, or the function repeated."""

from __future__ import annotations

from collections.abc import Sequence

from jaxviz.graph import Graph
from jaxviz.outline.chains import Label
from jaxviz.outline.expressions import Expressions
from jaxviz.outline.modules import unnumbered
from jaxviz.outline.paths import MODULE


class StackNames:
    """Names the stacks of one outline by the label of the first row in them."""

    def __init__(self, graph: Graph, expressions: Expressions, labels: Sequence[Label]) -> None:
        self._graph = graph
        self._expressions = expressions
        self._labels = labels

    def name(self, label: int, single: bool) -> str:
        """The name of a stack; `single` where each copy is one row, whose name then does."""
        if label < 0:
            return ""
        found = self._labels[label]
        if single:
            return unnumbered(found.name) if found.kind == MODULE else found.name
        tables = self._graph.tables
        for frame in found.frames:
            if not tables.files.library[tables.frames.file[frame]]:
                head = self._expressions.at(frame).loop
                return head or tables.strings[tables.frames.function[frame]]
        return found.name
