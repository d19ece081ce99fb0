"""SVG, drawn by the code that draws in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from jaxviz.document import Document

Theme = Literal["light", "dark", "auto"]


def to_svg(
    document: Document,
    *,
    width: int = 760,
    height: int = 560,
    theme: Theme = "light",
    open: Literal["first", "all", "none"] = "first",
    most_boxes: int | None = None,
    note: str = "",
) -> str:
    """Draws the first stage of a document.

    `width` and `height` are the space that the first view is chosen for; the picture is as large as it needs to be.
    `open` says which regions are open: those of the first view, all, or none. With `most_boxes`, a picture of more
    boxes is not drawn, and the text is empty. `note` is written below.
    """
    from jaxviz.export import engine

    options: dict[str, Any] = {"width": width, "height": height, "theme": theme}
    if open != "first":
        options["open"] = "all" if open == "all" else []
    if note:
        options["note"] = note
    if most_boxes is not None:
        options["mostBoxes"] = most_boxes
    return engine.call("svg", document.to_json(packed=False), options)
