"""The explorer as a person uses it: search, colours, paths, keys, and what is seen."""

from __future__ import annotations

from playwright.sync_api import expect

STEP = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def mlp(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x
def step(params, x):
    value, grads = jax.value_and_grad(lambda p: mlp(p, x).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value
sizes = [64, 128, 128, 10]
params = [(jnp.ones((m, n)), jnp.ones(n)) for m, n in zip(sizes, sizes[1:])]
%jaxviz step(params, jnp.ones((32, 64)))"""


def test_search_counts_dims_steps_and_opens(notebook):
    opened = notebook(STEP)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("/")
    field = graph.root.get_by_role("searchbox")
    expect(field).to_be_focused()
    count = graph.root.locator(".jv-search-count")
    expect(graph.root.locator(".jv-examples")).to_contain_text("op:dot_general")
    opened.shot("search-empty", graph.root)
    before = graph.colours()
    field.fill("op:dot_general")
    # Three forward, five backward; equal layers are one place.
    expect(count).to_have_text("8 matches in 4 places")
    expect(graph.root.locator(".jv-examples")).to_be_hidden()
    assert graph.colours() != before
    opened.shot("search-op", graph.root)
    graph.page.keyboard.press("Enter")
    expect(count).to_have_text("1 of 4")
    expect(graph.pane.locator("h4")).to_have_text("dot_general")
    graph.page.keyboard.press("Shift+Enter")
    expect(count).to_have_text("4 of 4")
    expect(field).to_be_focused()
    field.fill("bytes>a lot")
    expect(count).to_contain_text("bytes wants a size")
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("/^no such thing$/")
    expect(count).to_have_text("no match")
    graph.page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(graph.stage).to_be_focused()


def test_search_opens_what_hides_a_match(notebook):
    graph = notebook(STEP).explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("x")
    graph.wait_without_box("matmul")
    graph.page.keyboard.press("/")
    graph.root.get_by_role("searchbox").fill("matmul")
    graph.page.keyboard.press("Enter")
    graph.wait_for_box("matmul")
    expect(graph.pane.locator("h4")).to_have_text("matmul")
