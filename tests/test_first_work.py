"""What is open at first is what does most: a model and a loop, rather than what is done beside them."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from jax import lax
from programs import CORPUS

import jaxviz as jv


@pytest.mark.parametrize(
    ("name", "model", "width", "height"), [("xor_train", "net", 900, 400), ("mlp_grad", "_mlp", 760, 560)]
)
def test_where_not_all_has_room_a_model_is_open_and_the_arithmetic_of_its_loss_closed(name, model, width, height):
    fn, arguments = CORPUS[name]()
    view = jv.explore(fn, *arguments).view(width=width, height=height)
    assert [box.name for box in view.boxes if box.open].count(model) == 2
    assert sum(box.name.startswith("-mean(") for box in view.closed) == 2
    assert view.zoom >= 0.75


def test_what_a_loop_does_is_open_rather_than_what_is_done_once_beside_it():
    def prepared(x):
        scale = x[0] / x[1] + 1.0
        shift = jnp.sin(scale) * jnp.cos(scale) - scale
        most = jnp.maximum(scale * shift, scale - shift)
        least = jnp.minimum(scale / most, shift / most)
        return jnp.stack([scale * least, shift - least, most / scale, least + most])

    def turned(x, y):
        for w in (x, y, x + y, x * y):
            x = jnp.tanh(w * x) - jnp.exp(-y) / (1.0 + w**2)
            y = jnp.where(x > y, x @ w * y, y - jnp.sum(w) * x)
        return x, y

    def run(x):
        x = prepared(x)
        return lax.fori_loop(0, 9, lambda _, carried: turned(*carried), (x, x))

    view = jv.explore(run, jnp.ones(4)).view(width=760, height=560)
    assert {"prepared", "tanh", "where"} <= {box.name for box in view.closed}
    assert view.zoom >= 0.75
