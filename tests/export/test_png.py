"""PNG from the picture of a program."""

from __future__ import annotations

import struct
import sys
import zlib
from xml.etree import ElementTree

import jax.numpy as jnp
import pytest

import jaxviz as jv


@pytest.fixture
def affine():
    return jv.explore(lambda w, x: jnp.tanh(w @ x), jnp.ones((4, 8)), jnp.ones(8))


def pixels_of(png: bytes) -> tuple[int, int, bytes]:
    """Width, height and the unpacked rows of a PNG."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    data, at = b"", 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += 12 + length
    return width, height, zlib.decompress(data)


def test_a_png_is_the_svg_in_pixels(affine, tmp_path):
    png = affine.to_png(tmp_path / "f.png", scale=2)
    assert (tmp_path / "f.png").read_bytes() == png
    svg = ElementTree.fromstring(affine.to_svg())
    width, height, rows = pixels_of(png)
    assert (width, height) == (2 * float(svg.attrib["width"]), 2 * float(svg.attrib["height"]))
    # Words and boxes: a picture of one colour would have a few kinds of bytes.
    assert len(set(rows)) > 50


def test_without_resvg_the_error_names_the_command(affine, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(RuntimeError, match="pip install resvg-py") as error:
        affine.to_png()
    assert "\n" not in str(error.value)
