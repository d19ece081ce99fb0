"""`jv.explore` and what it gives, as a person uses it from Python."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.notebook.display import MIME_TYPE


def affine(w, b, x):
    return jnp.tanh(w @ x + b)


ARGUMENTS = (jnp.ones((4, 8)), jnp.ones(4), jnp.ones(8))


@pytest.mark.smoke
def test_the_jaxpr_is_a_graph_of_named_operations():
    graph = jv.explore(affine, *ARGUMENTS).jaxpr
    assert [(node.op, node.types[0]) for node in graph if node.kind == "operation"] == [
        ("dot_general", "f32[4]"),
        ("add", "f32[4]"),
        ("tanh", "f32[4]"),
    ]
    assert [node.name for node in graph if node.kind == "argument"] == ["w", "b", "x"]


def test_nothing_is_traced_before_it_is_asked_for_and_nothing_twice():
    traces = []

    def counted(x):
        traces.append(1)
        return x + 1

    exploration = jv.explore(counted, jnp.ones(3))
    assert traces == []
    exploration.document()
    exploration.to_svg()
    assert exploration.jaxpr is exploration.jaxpr
    assert traces == [1]


def test_shapes_are_enough():
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in ARGUMENTS]
    assert repr(jv.explore(affine, *shapes)) == "<jaxviz affine(f32[4,8], f32[4], f32[8]): 3 equations>"


@pytest.mark.smoke
def test_the_picture_is_valid_xml_with_the_names_in_it():
    svg = jv.explore(affine, *ARGUMENTS).to_svg()
    words = {text for node in ElementTree.fromstring(svg).iter() for text in [node.text] if text}
    assert {"matmul", "add", "tanh"} <= words


def test_the_picture_is_the_same_every_time():
    assert jv.explore(affine, *ARGUMENTS).to_svg() == jv.explore(affine, *ARGUMENTS).to_svg()


def test_the_first_view_opens_a_loop_that_fits():
    def loop(x):
        return jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) * 1.01 + i, x)

    seen = jv.explore(loop, jnp.ones(4)).view()
    [frame] = [box for box in seen.boxes if box.open]
    assert frame.equations >= 4
    assert seen.zoom == 1.0


def test_the_first_view_keeps_what_does_not_fit_closed():
    def body(carry, _):
        for _ in range(60):
            carry = jnp.sin(carry)
        return carry, None

    def loop(x):
        return jnp.cos(jax.lax.scan(body, x, None, length=5)[0])

    seen = jv.explore(loop, jnp.ones(4)).view(width=200, height=120)
    assert len(seen.boxes) < 10
    assert not any(box.open for box in seen.boxes)


def test_the_first_view_folds_a_loop_that_python_unrolled():
    def loop(x):
        for _ in range(60):
            x = jnp.sin(x) + 1.0
        return x

    seen = jv.explore(loop, jnp.ones(4)).view()
    assert [box.name for box in seen.boxes if box.equations == 120], seen
    assert len(seen.boxes) < 8


@pytest.mark.smoke
def test_a_saved_document_is_the_same_when_loaded(tmp_path):
    document = jv.explore(affine, *ARGUMENTS).document()
    document.save(tmp_path / "affine.jaxviz")
    assert jv.load(tmp_path / "affine.jaxviz").to_json() == document.to_json()


def test_a_notebook_without_the_bundle_still_gets_the_document(monkeypatch):
    from jaxviz.export import engine

    def missing(*_):
        raise engine.DrawingError("missing")

    monkeypatch.setattr(engine, "call", missing)
    data, _ = jv.explore(affine, *ARGUMENTS)._repr_mimebundle_()
    assert MIME_TYPE in data
    assert "image/svg+xml" not in data


def test_a_picture_of_many_copies_is_one_stack():
    def long(x):
        for _ in range(1500):
            x = x * 1.01
        return x

    data, _ = jv.explore(long, jnp.ones(2))._repr_mimebundle_()
    assert "x1500" in data["image/svg+xml"]
    assert len(data["image/svg+xml"]) < 4000
    assert "1500 equations" in data["text/plain"]


def test_a_picture_that_would_take_too_long_is_left_out(monkeypatch):
    from jaxviz.notebook import display

    monkeypatch.setattr(display, "_MOST_NODES", 3)
    data, _ = jv.explore(affine, *ARGUMENTS)._repr_mimebundle_()
    assert "image/svg+xml" not in data
    assert MIME_TYPE in data


def test_an_error_of_the_function_comes_through():
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jv.explore(lambda x: 1 if x > 0 else 2, jnp.float32(1)).jaxpr  # noqa: B018
