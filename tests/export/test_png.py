"""PNG from the picture of a program."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.export.png import svg_to_png


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


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"theme": "blue"}, "theme 'blue' is not one of: light, dark, auto"),
        ({"open": "some"}, "open 'some' is not one of: first, all, none"),
        ({"width": 0}, "width 0 is not a size"),
        ({"height": float("nan")}, "height nan is not a size"),
        ({"scale": -1}, "scale -1 is not a number of pixels"),
        ({"scale": 1000}, "take scale="),
    ],
)
def test_what_cannot_be_drawn_is_told_in_the_words_of_the_call(affine, options, told):
    with pytest.raises(ValueError, match=told):
        affine.to_png(**options)


def test_a_picture_shows_every_region_or_none_where_that_is_asked_for():
    looped = jv.explore(lambda x: jax.lax.scan(lambda total, row: (total + jnp.sin(row), total), 0.0, x), jnp.ones(3))
    texts = {open: "".join(ElementTree.fromstring(looped.to_svg(open=open)).itertext()) for open in ("all", "none")}
    assert "sin" in texts["all"]
    assert "sin" not in texts["none"]


def test_every_word_of_a_picture_is_in_the_png(affine):
    svg = affine.to_svg()
    words = re.findall(r"<text[^>]*>[^<]+</text>", svg)
    assert len(words) > 2
    png = svg_to_png(svg)
    # Whichever word is taken out, the picture is another one.
    assert all(svg_to_png(svg.replace(word, "", 1)) != png for word in words)


def test_a_machine_without_fonts_is_told_how_to_get_some(affine, monkeypatch):
    resvg = pytest.importorskip("resvg_py")

    class WithoutFonts:
        def svg_to_bytes(self, **options: object) -> bytes:
            return resvg.svg_to_bytes(**options, skip_system_fonts=True)

    monkeypatch.setitem(sys.modules, "resvg_py", WithoutFonts())
    with pytest.raises(RuntimeError, match="apt install fonts-dejavu-core") as error:
        affine.to_png()
    assert "\n" not in str(error.value)
