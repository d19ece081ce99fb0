"""The cell output: the document for the explorer, a picture for everything else, a line of text for terminals.

The document alone survives reopening without a kernel. The picture is for nbconvert, GitHub and front ends that lack
the extension; it is left out where it would be larger than a picture of a notebook should be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxviz.document import Document

MIME_TYPE = "application/vnd.jaxviz.v1+json"

# Larger pictures make notebooks slow to open, take long to draw, and nobody reads them.
_MOST_BOXES = 400
# To fold a larger graph without a browser takes longer than the compiler did.
_MOST_NODES = 5_000


def mime_bundle(
    document: Document,
    text: str,
    *,
    height: int | None = None,
    stage: str = "jaxpr",
    program: str = "",
    coming: Sequence[str] = (),
    picture: bool = True,
    note: str = "",
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Data and metadata of a cell output; `height` in px fixes that of the explorer, `stage` is shown first.

    `program` is its place on the list of the kernel, which can be asked for more of it. While stages are still
    `coming`, there is no picture: those who need one are shown the last. Without `picture` there is none at all.
    `note` is written below it.
    """
    from jaxviz.export.engine import DrawingError
    from jaxviz.export.svg import to_svg

    shown = _graph_of(document, stage)
    data: dict[str, Any] = {MIME_TYPE: document.to_json(), "text/plain": text}
    if picture and not coming and len(document.graphs[shown]) <= _MOST_NODES:
        # The explorer draws by itself: without a picture the output is still whole where the extension is.
        with suppress(DrawingError):
            space = 400 if height is None else height
            # A page would cut a wider one at its side.
            svg = to_svg(document.of_stage(shown), width=900, height=space, most_boxes=_MOST_BOXES, note=note, fit=True)
            if svg:
                data["image/svg+xml"] = f"{_as_comment(text)}\n{svg}"
    metadata: dict[str, Any] = {"stage": stage} if stage != "jaxpr" else {}
    if height is not None:
        metadata["height"] = height
    if program:
        metadata["program"] = program
    if coming:
        metadata["coming"] = list(coming)
    return data, {MIME_TYPE: metadata} if metadata else {}


def _as_comment(text: str) -> str:
    """The first line of a picture: of an output that is collapsed, notebooks show this alone."""
    line = "".join(filter(str.isprintable, text.partition("\n")[0])).strip("<>")
    # Two in a row would end the comment.
    return f"<!-- {re.sub('-(?=-)', '- ', line)} -->"


def _graph_of(document: Document, stage: str) -> int:
    return next((entry.graph for entry in document.programs[0].stages if entry.kind == stage), 0)
