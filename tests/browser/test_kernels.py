"""What runs as one kernel: areas behind boxes in the jaxpr, and the optimized program by its kernels."""

from __future__ import annotations

from playwright.sync_api import expect

AFFINE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def affine(w, b, x):
    h = jnp.tanh(w @ x + b)
    return (h * 2.0 + 1.0).sum()
%jaxviz affine(jnp.ones((64, 64)), jnp.ones(64), jnp.ones(64))"""


def test_kernels_are_areas_in_the_jaxpr_and_boxes_in_hlo(notebook):
    opened = notebook(AFFINE)
    graph = opened.explore(0)
    graph.wait_for_paint("hull0", there=False)
    # In a cell it waits in the second line of the bar.
    button = graph.root.get_by_title("What runs as one kernel (k)")
    expect(button).to_have_attribute("aria-pressed", "false")
    graph.stage.focus()
    graph.page.keyboard.press("k")
    expect(button).to_have_attribute("aria-pressed", "true")
    graph.wait_for_paint("hull0")
    opened.shot("kernels-jaxpr", graph.root)
    graph.page.keyboard.press("5")
    graph.page.wait_for_function(
        "root => root.explorer.labels.some(label => label.includes('fusion'))", arg=graph.root.element_handle()
    )
    opened.shot("kernels-hlo", graph.root)
    graph.page.keyboard.press("k")
    expect(button).to_have_attribute("aria-pressed", "false")
    graph.page.keyboard.press("2")
    graph.wait_for_box("tanh")
    graph.wait_for_paint("hull0", there=False)
