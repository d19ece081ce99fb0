"""SVG, drawn by the code that draws in the browser."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from jaxviz.document import Document

Theme = Literal["light", "dark", "auto"]
#: Which regions are open: those of the first view, all, or none.
Opened = Literal["first", "all", "none"]


def to_svg(
    document: Document,
    *,
    width: int = 760,
    height: int = 560,
    theme: Theme = "light",
    open: Opened = "first",
    most_boxes: int | None = None,
    note: str = "",
    fit: bool = False,
) -> str:
    """Draws the first stage of a document.

    `width` and `height` are the space that the first view is chosen for; the picture is as large as it needs to be, or,
    with `fit`, no wider than that.
    `open` says which regions are open: those of the first view, all, or none. With `most_boxes`, a picture of more
    boxes is not drawn, and the text is empty. `note` is written below, line by line.
    """
    from jaxviz.export import engine

    check_space(width, height)
    for name, value, known in (("theme", theme, get_args(Theme)), ("open", open, get_args(Opened))):
        if value not in known:
            raise ValueError(f"{name} {value!r} is not one of: {', '.join(known)}")
    options: dict[str, Any] = {"width": width, "height": height, "theme": theme}
    if open != "first":
        options["open"] = "all" if open == "all" else []
    if note:
        options["note"] = note
    if fit:
        options["fit"] = True
    if most_boxes is not None:
        options["mostBoxes"] = most_boxes
    return engine.call("svg", document.to_json(packed=False), options)


def check_space(width: float, height: float) -> None:
    """Raises where a picture cannot be chosen for this space."""
    for name, size in (("width", width), ("height", height)):
        if not isinstance(size, int | float) or not math.isfinite(size) or size <= 0:
            raise ValueError(f"{name} {size!r} is not a size in px, such as 760")
