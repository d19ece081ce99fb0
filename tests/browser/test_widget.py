"""`ex.widget()` in a real notebook: drawn, and linked both ways with Python."""

from __future__ import annotations

SETUP = """import jax.numpy as jnp, jaxviz as jv
def forgetful(x):
    y = jnp.cos(x) + 3
    return jnp.sin(x) * 2
ex = jv.explore(forgetful, jnp.ones(3))
w = ex.widget()
w"""


def test_selection_goes_both_ways(notebook):
    book = notebook(
        SETUP,
        "print('selected', [list(ex.jaxpr)[n].op for n in w.selection])",
        "w.selection = [node.index for node in ex.jaxpr if node.op == 'mul']",
        "w.finding = 0",
        "w.stage = 'hlo'",
    )
    graph = book.explore(0)
    graph.click("sin")
    graph.pane.get_by_text("sin").first.wait_for()
    book.run(1).get_by_text("selected ['sin']").wait_for()

    book.run(2)
    graph.pane.get_by_text("multiply").first.wait_for()
    # The lines of what is lit are marked in the source.
    graph.stage.focus()
    book.page.keyboard.press("1")
    book.run(3)
    graph.root.locator(".jv-line.jv-marked").first.wait_for(state="attached")
    book.run(4)
    graph.root.locator(".jv-stage[aria-pressed='true']", has_text="HLO").wait_for()
    book.shot("widget")
