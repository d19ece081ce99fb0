"""The cell output: the document for the explorer, a picture for everything else, a line of text for terminals.

The document alone survives reopening without a kernel. The picture is for nbconvert, GitHub and front ends that lack
the extension; it is left out where it would be larger than a picture of a notebook should be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxviz.document import Document

MIME_TYPE = "application/vnd.jaxviz.v1+json"

# Characters. Larger pictures make notebooks slow to open and nobody reads them.
_MAX_PICTURE = 150_000


def mime_bundle(document: Document, text: str, *, height: int | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Data and metadata of a cell output; `height` in px fixes that of the explorer."""
    from jaxviz.export.engine import DrawingError
    from jaxviz.export.svg import to_svg

    data: dict[str, Any] = {MIME_TYPE: document.to_json(), "text/plain": text}
    try:
        picture = to_svg(document, width=900, height=400 if height is None else height)
    except DrawingError:
        # The explorer draws by itself; without its picture the output is still whole where the extension is.
        picture = ""
    if picture and len(picture) <= _MAX_PICTURE:
        data["image/svg+xml"] = picture
    metadata: dict[str, Any] = {} if height is None else {MIME_TYPE: {"height": height}}
    return data, metadata
