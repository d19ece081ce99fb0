"""What a program can be written as: pictures, a page, graphs for other tools, data, a widget."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxviz.document import STAGE_KINDS, Document
from jaxviz.export.svg import Opened, Theme, check_space, to_svg
from jaxviz.export.written import written_bytes, written_json, written_text
from jaxviz.first_view import Box, FirstView

if TYPE_CHECKING:
    from jaxviz.graph import Graph


class Exported(ABC):
    """Something with a document, in all the forms that others can take."""

    #: How the call reads.
    call: str
    #: The stage that is shown first.
    stage: str
    #: Height of the cell output in px; None lets the picture decide.
    height: int | None

    @abstractmethod
    def document(self, *, stages: Sequence[str] = STAGE_KINDS, passes: bool | None = None) -> Document:
        """All of it as data."""

    def with_others(self) -> Document:
        """The document with the programs that are beside it: those of the same folder."""
        return self.document()

    def view(self, stage: str | None = None, width: int = 760, height: int = 560) -> FirstView:
        """What would be seen at first of a stage in a space of `width` x `height` px."""
        from jaxviz.export import engine

        check_space(width, height)
        document = self._one_stage(stage)
        text = engine.call("view", document.to_json(packed=False), {"width": width, "height": height})
        seen = json.loads(text)
        boxes = tuple(Box(box["name"], box["kind"], box["equations"], box["open"]) for box in seen["boxes"])
        return FirstView(boxes, seen["zoom"])

    def to_svg(
        self,
        path: str | Path | None = None,
        *,
        stage: str | None = None,
        width: int = 760,
        height: int = 560,
        theme: Theme = "light",
        open: Opened = "first",
    ) -> str:
        """The first view of a stage as SVG, drawn for a space of `width` x `height` px; without one of the jaxpr, or of
        what there is in a file. Written to `path` where one is given. With `open="all"` every region is open, with
        `open="none"` none.

        What the compiler drops is marked in the jaxpr. One of more than 2,000 equations does not wait for the compiler:
        it is drawn as it was traced, which is written below it, unless `fates` was asked for before.
        """
        drawn, note = self._one_stage(stage), self._uncompiled if stage in (None, "jaxpr") else ""
        return written_text(path, to_svg(drawn, width=width, height=height, theme=theme, open=open, note=note))

    def to_png(
        self,
        path: str | Path | None = None,
        *,
        stage: str | None = None,
        width: int = 760,
        height: int = 560,
        theme: Theme = "light",
        open: Opened = "first",
        scale: float = 2.0,
    ) -> bytes:
        """The picture of `to_svg` as PNG, with `scale` pixels for each px; written to `path` where one is given."""
        from jaxviz.export.png import svg_to_png

        svg = self.to_svg(stage=stage, width=width, height=height, theme=theme, open=open)
        return written_bytes(path, svg_to_png(svg, scale))

    def to_html(self, path: str | Path | None = None, *, stage: str | None = None, view: Any = None) -> str:
        """The explorer as one page that opens from a disk, without a kernel or a network, with the other programs of a
        folder; written to `path` where one is given. `stage` is shown first, or what `view` says."""
        from jaxviz.export.html import to_html

        if stage is not None:
            self._one_stage(stage)
        return written_text(path, to_html(self.with_others(), title=self.call, stage=stage or self.stage, view=view))

    def to_dot(self, path: str | Path | None = None, *, stage: str | None = None) -> str:
        """A stage in the DOT language of Graphviz, regions as clusters; written to `path` where one is given."""
        from jaxviz.export.graphs import to_dot

        return written_text(path, to_dot(self._stage_graph(stage), self.call))

    def to_networkx(self, *, stage: str | None = None) -> Any:
        """A stage as a `networkx.MultiDiGraph`: a node for each node, an edge for each value that one reads."""
        from jaxviz.export.graphs import to_networkx

        return to_networkx(self._stage_graph(stage))

    def _stage_graph(self, stage: str | None) -> Graph:
        return self._one_stage(stage, marked=False).graphs[0]

    def to_json(self, path: str | Path | None = None) -> dict[str, Any]:
        """The document by its schema, not packed; written to `path` where one is given."""
        return written_json(path, self.document().to_json(packed=False))

    def widget(self, *, stage: str | None = None, height: int | None = None) -> Any:
        """The explorer as a widget, whose selection, findings and view can be observed and set."""
        from jaxviz.notebook.widget import make_widget

        return make_widget(self.document(), stage=stage or self.stage, height=height or self.height)

    @property
    def _uncompiled(self) -> str:
        """Where a picture of the jaxpr does not wait for the compiler, that in words."""
        return ""

    def _one_stage(self, stage: str | None, *, marked: bool = True) -> Document:
        """The document with one stage: the jaxpr, or what a file holds, where none is asked for. What became of its
        equations is there if they are to be `marked`."""
        if stage is not None and stage not in STAGE_KINDS:
            raise ValueError(f"stage {stage!r} is not one of: {', '.join(STAGE_KINDS)}")
        stages: Sequence[str] = (stage,) if stage is not None else ()
        if stage in (None, "jaxpr") and marked and not self._uncompiled:
            # The passes of the compiler tell it.
            stages = STAGE_KINDS
        document = self.document(stages=stages, passes=False)
        program = document.programs[0]
        if stage is not None and stage in program.missing:
            raise ValueError(f"there is no {stage} of {self.call} here: {program.missing[stage]}")
        graphs = {entry.kind: entry.graph for entry in program.stages}
        if stage is None:
            stage = "jaxpr" if "jaxpr" in graphs else next(iter(graphs), "jaxpr")
        if stage not in graphs:
            raise ValueError(f"there is no {stage} of {self.call} here, but {', '.join(graphs) or 'nothing'}")
        return document.of_stage(graphs[stage])
