"""What the pointer tells on a box: the whole name, where the box has no room for it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

LONG = """\
import jax.numpy as jnp
%load_ext jaxviz
def a_function_whose_name_is_so_much_longer_than_its_box_that_it_is_cut(x):
    y = jnp.tanh(x) * 2
    for _ in range(20):
        y = jnp.sin(y) + x
    return y
def f(x, z):
    h = a_function_whose_name_is_so_much_longer_than_its_box_that_it_is_cut(x)
    for w in z:
        h = jnp.cos(h @ w) - jnp.exp(h) * jnp.max(h) + jnp.log(h)
        h = jnp.where(h > 0, h, h ** 2) / jnp.sum(h)
    return a_function_whose_name_is_so_much_longer_than_its_box_that_it_is_cut(h)
%jaxviz f(jnp.ones((4, 4)), jnp.ones((6, 4, 4)))"""


def test_a_name_that_is_cut_is_told_in_full_under_the_pointer(notebook):
    opened = notebook(LONG)
    graph = opened.explore(0)
    # What is closed has its name in a box.
    graph.stage.focus()
    opened.page.keyboard.press("x")
    opened.page.wait_for_function(
        "root => root.explorer.atRest && root.explorer.labels.some(label => /^a_f.*…/.test(label))",
        arg=graph.root.element_handle(),
    )
    cut = graph.root.evaluate("root => root.explorer.labels.find(label => /^a_f.*…/.test(label))")
    place, box = graph.place(cut), graph.stage.bounding_box()
    opened.page.mouse.move(box["x"] + place["x"], box["y"] + place["y"])
    expect(graph.root.locator(".jv-canvas")).to_have_attribute(
        "title", re.compile("a_function_whose_name_is_so_much_longer_than_its_box_that_it_is_cut")
    )
