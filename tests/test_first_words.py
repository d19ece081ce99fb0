"""What boxes of first views say where there is room for it, and how short it is where there is little."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
from programs import flax_block
from styles import STYLES

import jaxviz as jv


def hidden(x, w):
    return jnp.tanh(jnp.sin(x @ w) * 2.0)


def score(x, w):
    return jnp.sum(jnp.exp(hidden(x, w)) ** 2, axis=1)


def test_closed_rows_say_the_type_of_what_they_give_where_that_is_new_and_has_room():
    x, w = jnp.ones((8, 4)), jnp.ones((4, 16))
    roomy = jv.explore(lambda x: score(jax.nn.gelu(x), w) + jax.nn.logsumexp(x, axis=1), x)
    texts = re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)">([^<]*)<', roomy.to_svg(width=760, height=560))

    def after(name):
        ((left, row),) = [(float(x), y) for x, y, text in texts if text == name]
        behind = sorted((float(x), text) for x, y, text in texts if y == row and float(x) > left)
        return behind[0][1] if behind else ""

    assert after("logsumexp") == "f32[8]"
    # It gives what it is given.
    assert after("gelu") == "logsumexp"


def test_types_of_closed_rows_keep_no_box_out_of_the_first_view():
    fn, arguments = flax_block(layers=2)
    view = jv.explore(fn, *arguments).view(width=760, height=560)
    assert len(view.closed) > 10
    assert view.zoom >= 0.95


def test_statements_are_said_whole_where_that_makes_the_picture_hardly_smaller():
    def normalized(x, scale):
        return (x - x.mean()) / jnp.sqrt(x.var() + 1e-6) * scale

    def gated(x, y, scale):
        first = jnp.tanh(normalized(x, scale) + normalized(y, scale))
        second = jnp.exp(normalized(x, scale) * normalized(y, scale))
        third = jnp.sin(normalized(x, scale) - normalized(y, scale))
        return first, second, third

    explored = jv.explore(gated, *[jnp.ones((4, 8))] * 3)

    def statements(width):
        return re.findall(r"</title>((?:first|second|third) = [^<]*)<", explored.to_svg(width=width, height=180))

    assert statements(1600) == [
        "first = tanh(normalized(x, scale) + normali…",
        "second = exp(normalized(x, scale) * normali…",
        "third = sin(normalized(x, scale) - normaliz…",
    ]
    assert statements(900) == ["first = tanh(normaliz…", "second = exp(normaliz…", "third = sin(normalize…"]
    assert explored.view(width=1600, height=180).zoom == explored.view(width=900, height=180).zoom == 1


def test_calls_of_one_function_are_told_apart_by_what_they_are_assigned_to():
    def score(w, x):
        y = jnp.tanh(x @ w) * jnp.cos(x) + jnp.exp(-x * x)
        return jnp.sum(jnp.sqrt(y * y + 1.0) / (1.0 + jnp.abs(y)))

    def margin(policy, reference, better, worse):
        policy_better = score(policy, better)
        policy_worse = score(policy, worse)
        # What only hands a value on says nothing of what it is.
        reference_better = jax.lax.stop_gradient(score(reference, better))
        reference_worse = jax.lax.stop_gradient(score(reference, worse))
        return jax.nn.sigmoid(policy_better - policy_worse) - (reference_better - reference_worse)

    w, x = jnp.eye(4), jnp.ones((3, 4))
    names = {"policy_better", "policy_worse", "reference_better", "reference_worse"}
    for size in ({"width": 900, "height": 400}, {"width": 640, "height": 300}):
        svg = jv.explore(margin, w, w, x, x).to_svg(**size)
        assert names <= set(re.findall(r">([a-z_]+)<", svg))


def test_what_calls_are_assigned_to_stands_for_their_names_where_there_is_no_room_for_both():
    def likelihood_of_sequence(w, x):
        y = jnp.tanh(x @ w) * jnp.cos(x) + jnp.exp(-x * x)
        return jnp.sum(jnp.sqrt(y * y + 1.0) / (1.0 + jnp.abs(y)))

    def margin(reference, better, worse):
        chosen = likelihood_of_sequence(reference, better)
        rejected = likelihood_of_sequence(reference, worse)
        return chosen - rejected

    w, x = jnp.eye(4), jnp.ones((3, 4))
    narrow = jv.explore(margin, w, x, x).view(width=300, height=200)
    assert [box.name for box in narrow.closed][:2] == ["chosen", "rejected"]
    wide = jv.explore(margin, w, x, x).view(width=560, height=200)
    assert [box.name for box in wide.closed][:2] == ["likelihood_of_sequence"] * 2


def test_several_variables_are_called_by_what_is_in_each_and_do_not_stand_for_the_name_of_what_made_them():
    def quantized_by_rows(x):
        scale = jnp.max(jnp.abs(x), axis=-1, keepdims=True) / 127.0
        return jnp.clip(jnp.round(x / scale), -127, 127) * jnp.cos(scale), scale

    def product(x, w):
        left, left_scale = quantized_by_rows(x)
        right, right_scale = quantized_by_rows(w)
        return jnp.tanh(left @ right.T) * jnp.tanh(left_scale @ right_scale.T)

    x = jnp.ones((3, 4))
    svg = jv.explore(product, x, x).to_svg(width=250, height=330)
    assert len(re.findall(">quantized_b…</text>", svg)) == 2


def test_words_are_shortest_where_only_so_that_has_room_which_most_is_in():
    fn, arguments = STYLES["nested_scans"]()
    view = jv.explore(fn, *arguments).view(width=900, height=400)
    assert [box.name for box in view.boxes if box.open].count("scan(cell)") == 2
    assert max(len(box.name) for box in view.closed if box.kind == "statement") == 12
    assert view.zoom >= 0.75
