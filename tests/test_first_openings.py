"""What most of a program is in is open at first, where there is any way to make room for it."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp

import jaxviz as jv

SQUARE = jnp.ones((8, 8))
LAYER = dict.fromkeys(("query", "key", "value", "up", "down"), SQUARE)


def block(layer, x):
    x = x + jax.nn.softmax(x @ layer["query"] @ layer["key"].T @ x.T) @ x @ layer["value"]
    return x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]


def tower(layers, x):
    for layer in layers:
        x = x + jax.nn.softmax(x @ layer["query"] @ layer["key"].T @ x.T) @ x @ layer["value"]
        x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    return x


def alike(params, images, texts):
    seen = tower(params["images"], images)
    read = tower(params["texts"], texts)
    seen = seen / jnp.linalg.norm(seen, axis=-1, keepdims=True)
    read = read / jnp.linalg.norm(read, axis=-1, keepdims=True)
    return jnp.exp(params["sharpness"]) * seen @ read.T


def cross_entropy_with_labels(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)[:, 0]


def contrast(params, images, texts):
    logits = alike(params, images, texts)
    labels = jnp.arange(len(images))
    of_images = cross_entropy_with_labels(logits, labels)
    of_texts = cross_entropy_with_labels(logits.T, labels)
    return (of_images.mean() + of_texts.mean()) / 2


def model(params, x):
    x = jnp.tanh(x @ params["first"])
    for layer in params["layers"]:
        x = block(layer, x)
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True) @ params["last"]


def unlikely(params, x, labels):
    logits = model(params, x)
    likelihood = cross_entropy_with_labels(logits, labels).mean()
    even = (logits.mean(-1) ** 2).sum()
    return likelihood + 0.01 * even


def step_of(loss):
    def step(params, *data):
        loss_now, slopes = jax.value_and_grad(loss)(params, *data)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), loss_now

    return step


def opened(explored, width, height):
    view = explored.view(stage="jaxpr", width=width, height=height)
    assert len(view.closed) <= 25
    assert view.zoom >= 0.75
    return [box.name for box in view.boxes if box.open]


def test_what_hides_nearly_all_opens_in_the_shortest_words_or_else_forward_alone():
    params = {"images": [LAYER] * 3, "texts": [LAYER] * 3, "sharpness": 1.0}
    explored = jv.explore(step_of(contrast), params, SQUARE, SQUARE)
    both = opened(explored, 760, 560)
    assert [both.count(name) for name in ("forward", "alike", "backward")] == [1, 2, 1]
    # There is no room for both sides: rather than in an open frame backward, where `alike` is closed, that is closed.
    alone = opened(explored, 700, 560)
    assert [alone.count(name) for name in ("forward", "alike", "backward")] == [1, 1, 0]


def test_a_model_opens_where_its_layers_are_nearly_all_of_it():
    params = {"first": SQUARE, "layers": [LAYER] * 2, "last": SQUARE}
    explored = jv.explore(step_of(unlikely), params, SQUARE, jnp.zeros(8, int))
    assert opened(explored, 800, 315) == ["forward", "model", "backward", "model"]
    # A stack says how much it is: words are not cut for one beside much else.
    assert opened(explored, 760, 560) == ["forward", "model", "backward", "model"]
    words = [box.name for box in explored.view(stage="jaxpr", width=760, height=560).boxes]
    assert words.count("block") == 2
    assert "cross_entropy_with_labels" in words


def test_a_kernel_of_one_operation_has_nothing_to_open():
    explored = jv.explore(lambda x, y: jnp.sort(jnp.add(x, y)), jnp.ones(8), jnp.ones(8))
    texts = [re.findall(r">(\w*add\w*)<", explored.to_svg(stage="hlo", open=opened)) for opened in ("first", "all")]
    assert texts == [["add"], ["add"]]
