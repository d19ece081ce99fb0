"""Text of a program that says nothing of where its operations came from: how it is written shows what it does."""

from __future__ import annotations

import random

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, shown

import jaxviz as jv

LAYERS = 4
SQUARE = jnp.ones((8, 8))
LAYER = {"q": SQUARE, "k": SQUARE, "v": SQUARE, "up": SQUARE, "b": jnp.ones(8), "down": SQUARE}


def layer(h, p):
    mean = h.mean(-1, keepdims=True)
    n = (h - mean) * jax.lax.rsqrt(((h - mean) ** 2).mean(-1, keepdims=True) + 1e-6)
    a = jnp.exp(n @ p["q"] @ (n @ p["k"]).T)
    h += a / a.sum(-1, keepdims=True) @ n @ p["v"]
    return h + jnp.tanh(h @ p["up"] + p["b"]) @ p["down"]


def loss(params, x, y):
    embed, *layers = params
    h = jnp.log(1 + x) @ embed
    for p in layers:
        h = layer(h, p)
    return (jnp.cosh(h) * y).sum()


def step(params, moments, x, y):
    gradients = jax.grad(loss)(params, x, y)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, gradients)
    return jax.tree.map(lambda p, m: p - 0.1 * m / jnp.sqrt(m * m + 1e-6), params, moments), moments


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A training step whose layers stand one after the other, as JAX prints it when asked for nothing more."""
    params = [SQUARE, *[LAYER] * LAYERS]
    text = jax.jit(step).lower(params, params, jnp.ones((4, 8)), jnp.ones((4, 8))).as_text()
    assert "loc(" not in text
    path = tmp_path_factory.mktemp("text") / "step.mlir"
    path.write_text(text)
    return jv.open(path)


def test_its_layers_are_one_stack_on_the_way_forward_and_one_backward(program):
    outline = program.document(passes=False).outlines[-1].outline
    check(outline)
    rows = shown(outline, 0)
    assert [row.count for row in rows if row.name.startswith("dot_general") and row.count > 1] == [LAYERS, LAYERS]
    assert len(rows) <= 10


def test_its_arguments_are_no_boxes_and_what_is_done_to_each_of_them_is_not_told_by_an_exception(program):
    view = program.view(width=760, height=560)
    names = [box.name for box in view.boxes]
    assert not [name for name in names if name.startswith("arg")]
    assert len(names) <= 20
    assert view.zoom >= 0.75


def test_few_arguments_of_a_text_are_boxes(tmp_path):
    path = tmp_path / "sum.mlir"
    path.write_text(jax.jit(lambda x, y: jnp.sin(x) * y).lower(jnp.ones(4), jnp.ones(4)).as_text())
    assert [box.name for box in jv.open(path).view().boxes][:2] == ["arg0", "arg1"]


@pytest.fixture
def outline_of_text(tmp_path):
    def outlined(function, *args):
        path = tmp_path / "text.mlir"
        path.write_text(jax.jit(function).lower(*args).as_text())
        return jv.open(path).document(passes=False).outlines[-1].outline

    return outlined


def wandering(x, steps):
    chosen = random.Random(0)
    for _ in range(steps):
        x = chosen.choice([jnp.sin, jnp.cos, jnp.negative, jnp.arctan])(x) * 2.0
    return x


def test_what_makes_most_of_a_text_by_repeating_is_no_part_of_anything_more(outline_of_text):
    def f(x, ps):
        h = wandering(x, 20)
        for p in ps:
            h = layer(h, p)
        return wandering(h, 20)

    rows = shown(outline_of_text(f, SQUARE, [LAYER] * LAYERS), 0)
    assert [(row.kind, row.count) for row in rows if row.kind in ("part", "stack")] == [
        ("part", 1),
        ("stack", LAYERS),
        ("part", 1),
    ]


def test_a_part_is_told_by_what_most_of_it_does_where_what_weighs_more_is_one_of_hundreds(outline_of_text):
    outline = outline_of_text(lambda x: wandering(wandering(x, 600) @ x, 600), jnp.ones(4))
    parts = [row for row in outline if row.kind == "part" and row.end - row.first > 200]
    assert parts
    assert not [part.name for part in parts if part.name.startswith("dot_general")]
