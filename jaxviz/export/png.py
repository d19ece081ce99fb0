"""PNG, made from the SVG without a browser."""

from __future__ import annotations

import importlib
import math
from xml.etree import ElementTree

# A picture of more pixels takes minutes and gigabytes.
_MOST_PIXELS = 250_000_000


class PngError(RuntimeError):
    """A PNG cannot be made here."""


def svg_to_png(svg: str, scale: float = 2.0) -> bytes:
    """Draws an SVG with `scale` pixels for each px, in the fonts of this machine."""
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError:
        raise PngError("PNG needs resvg-py, which is not installed: pip install resvg-py") from None
    _check_scale(svg, scale)
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=scale))


def _check_scale(svg: str, scale: float) -> None:
    if not isinstance(scale, int | float) or not math.isfinite(scale) or scale <= 0:
        raise ValueError(f"scale {scale!r} is not a number of pixels for each px, such as 2")
    root = ElementTree.fromstring(svg)
    width, height = (float(root.attrib[side]) for side in ("width", "height"))
    if width * height * scale**2 > _MOST_PIXELS:
        most = math.floor(math.sqrt(_MOST_PIXELS / (width * height)) * 10) / 10
        raise ValueError(
            f"with scale={scale:g} this picture of {width:g} x {height:g} px has more than {_MOST_PIXELS:,} pixels: "
            f"take scale={most:g}, or an SVG, which is sharp at any size"
        )
