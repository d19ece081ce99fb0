"""A page holds all that it needs, and nothing in a document gets out of its place."""

from __future__ import annotations

import json
import re

import jax
import jax.numpy as jnp
import pytest
from IPython.lib.pretty import pretty

import jaxviz as jv
from jaxviz.document import Document
from jaxviz.export.bundles import bundle


def wave(x):
    return jnp.sin(x) * 2


def data_of(page, name):
    return re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def test_a_page_is_small_and_holds_the_document():
    exploration = jv.explore(wave, jnp.ones(3))
    page = exploration.to_html()
    document = data_of(page, "jv-document")
    assert len(page.encode()) - len(document) < 400_000
    again = Document.from_json(json.loads(document))
    assert again.to_json() == exploration.document().to_json()


def test_a_page_names_no_other_address():
    page = jv.explore(wave, jnp.ones(3)).to_html()
    assert not re.search(r'(?:src|href)\s*=\s*["\']?\w', page.split("<script")[0])
    assert "default-src" in page
    # The place of the sources on the machine that built it is nobody's business.
    assert all("labextension/src" not in bundle(name) for name in ("page.js", "widget.js", "worker.js", "headless.js"))


def test_names_in_a_document_cannot_leave_it():
    def evil(x):
        with jax.named_scope("</script><script>alert(1)</script><!--"):
            return jnp.sin(x)

    exploration = jv.explore(evil, jnp.ones(3))
    exploration.call = "evil('</title><script>alert(2)</script>')"
    page = exploration.to_html()
    assert "alert(1)</script>" not in page
    assert "<script>alert(2)" not in page
    assert page.count("<script") == page.count("</script>")


def test_a_page_is_written_where_it_is_asked_for(tmp_path):
    exploration = jv.explore(wave, jnp.ones(3))
    page = exploration.to_html(tmp_path / "wave.html", stage="hlo")
    assert (tmp_path / "wave.html").read_text("utf-8") == page
    assert json.loads(data_of(page, "jv-options")) == {"stage": "hlo"}
    with pytest.raises(ValueError, match="is not one of"):
        exploration.to_html(stage="nonsense")


def test_what_was_written_into_a_file_is_not_told_again_by_the_cell(tmp_path):
    exploration = jv.explore(wave, jnp.ones(3))
    for name in ("html", "svg", "png", "dot", "json"):
        path = tmp_path / f"wave.{name}"
        given = getattr(exploration, f"to_{name}")(path)
        # What a notebook or a terminal shows of the value of a last line.
        shown = pretty(given)
        assert shown.startswith(f"{path}: ")
        assert len(shown) < len(str(path)) + 20
        plain = getattr(exploration, f"to_{name}")()
        assert isinstance(given, type(plain))
        assert given == plain or name == "json"
    assert pretty(exploration.to_dot()).startswith("'digraph")


def test_json_is_the_document_not_packed(tmp_path):
    exploration = jv.explore(wave, jnp.ones(3))
    value = exploration.to_json(tmp_path / "wave.json")
    assert json.loads((tmp_path / "wave.json").read_text()) == value
    assert [node.op for node in Document.from_json(value).graphs[0] if node.kind == "operation"] == ["sin", "mul"]


def test_a_comparison_is_a_page_too(tmp_path):
    compared = jv.compare(jv.explore(wave, jnp.ones(3)), jv.explore(lambda x: jnp.cos(x), jnp.ones(3)))
    page = compared.to_html(tmp_path / "both.html")
    assert "<title>wave(f32[3]) ↔ &lt;lambda&gt;(f32[3])</title>" in page
    assert len(Document.from_json(json.loads(data_of(page, "jv-document"))).programs) == 2
