"""PNG, made from the SVG without a browser."""

from __future__ import annotations

import importlib
import math
import re
from functools import cache
from typing import Any
from xml.etree import ElementTree

# A picture of more pixels takes minutes and gigabytes.
_MOST_PIXELS = 250_000_000
# What stands for a generic family: resvg knows no font of the machine by `sans-serif` or `monospace`, and leaves words
# out whose family it does not know. The first that is there counts; boxes have room for the widest, DejaVu Sans.
_FAMILIES = {
    "sans-serif": "DejaVu Sans,Segoe UI,Helvetica Neue,Helvetica,Noto Sans,Liberation Sans,Roboto,Ubuntu,Cantarell,"
    "Open Sans,Adwaita Sans,Nimbus Sans,FreeSans,Arial",
    "monospace": "DejaVu Sans Mono,Menlo,Consolas,Noto Sans Mono,Liberation Mono,Roboto Mono,Ubuntu Mono,Adwaita Mono,"
    "Nimbus Mono PS,FreeMono,Courier New",
}
_GENERIC = re.compile(rf'(?<=[",])({"|".join(_FAMILIES)})(?=")')


class PngError(RuntimeError):
    """A PNG cannot be made here."""


def svg_to_png(svg: str, scale: float = 2.0) -> bytes:
    """Draws an SVG with `scale` pixels for each px, in the fonts of this machine."""
    try:
        resvg = importlib.import_module("resvg_py")
    except ImportError:
        raise PngError("PNG needs resvg-py, which is not installed: pip install resvg-py") from None
    _check_scale(svg, scale)
    if not _has_fonts(resvg):
        raise PngError(
            "none of the fonts that PNG is drawn in is on this machine: install one, such as DejaVu (Debian: "
            "apt install fonts-dejavu-core), or take an SVG"
        )
    return bytes(resvg.svg_to_bytes(svg_string=_with_families(svg), zoom=scale))


def _with_families(svg: str) -> str:
    return _GENERIC.sub(lambda generic: f"{_FAMILIES[generic[0]]},{generic[0]}", svg)


@cache
def _has_fonts(resvg: Any) -> bool:
    """Whether a word in each family leaves something on the picture."""
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="30"'
    empty = resvg.svg_to_bytes(svg_string=f"{head}/>")
    words = (f'{head}><text y="20" font-family="{family}">M</text></svg>' for family in _FAMILIES)
    return all(resvg.svg_to_bytes(svg_string=_with_families(one)) != empty for one in words)


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
