"""What is drawn in the browser: the same SVG as from Python, to the byte."""

from __future__ import annotations

import json
from importlib import resources

import pytest

import jaxviz as jv
from jaxviz.export.svg import to_svg
from tests.programs import CORPUS


@pytest.mark.parametrize("name", ["scan_rnn", "mlp_train", "cond", "random_numbers"])
def test_the_browser_and_python_write_the_same_svg(open_page, name):
    function, arguments = CORPUS[name]()
    document = jv.explore(function, *arguments).document()
    page = open_page()
    page.goto("about:blank")
    page.add_script_tag(content=resources.files("jaxviz").joinpath("static", "headless.js").read_text("utf-8"))
    for theme, opened in (("light", "first"), ("auto", "all")):
        options = {"width": 760, "height": 560, "theme": theme} | ({"open": "all"} if opened == "all" else {})
        texts = [json.dumps(document.to_json(packed=False)), json.dumps(options)]
        drawn = page.evaluate("([document, options]) => jaxviz.svg(document, options)", texts)
        assert drawn == to_svg(document, theme=theme, open=opened)
