"""PNG, made from the SVG without a browser."""

from __future__ import annotations

import importlib


class PngError(RuntimeError):
    """A PNG cannot be made here."""


def svg_to_png(svg: str, scale: float = 2.0) -> bytes:
    """Draws an SVG with `scale` pixels for each px, in the fonts of this machine."""
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError:
        raise PngError("PNG needs resvg-py, which is not installed: pip install resvg-py") from None
    return bytes(resvg.svg_to_bytes(svg_string=svg, zoom=scale))
