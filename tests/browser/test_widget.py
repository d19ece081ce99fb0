"""`ex.widget()` in a real notebook: drawn, and linked both ways with Python."""

from __future__ import annotations

from playwright.sync_api import expect

SETUP = """import jax.numpy as jnp, jaxviz as jv
def forgetful(x):
    y = jnp.cos(x) + 3
    return jnp.sin(x) * 2
ex = jv.explore(forgetful, jnp.ones(3))
w = ex.widget()
w"""
# What Python hears is on the page: the browser keeps a message back until the kernel has answered the one before.
HEARS = """import ipywidgets
said = ipywidgets.Label()
def hear(change):
    said.value = {words}
w.observe(hear, {trait!r})
said"""


def test_selection_goes_both_ways(notebook):
    book = notebook(
        SETUP,
        HEARS.format(trait="selection", words="f'selected {[list(ex.jaxpr)[n].op for n in change.new]}'"),
        "w.selection = [node.index for node in ex.jaxpr if node.op == 'mul']",
        "w.finding = 0",
        "w.finding = None",
        "w.stage = 'hlo'",
    )
    graph = book.explore(0)
    told = book.run(1).get_by_text("selected ['sin']")
    book.page.locator(".widget-label").wait_for(state="attached")
    graph.click("sin")
    graph.pane.get_by_text("sin").first.wait_for()
    told.wait_for()

    book.run(2)
    graph.pane.get_by_text("multiply").first.wait_for()
    # The lines of what is lit are marked in the source.
    graph.stage.focus()
    book.page.keyboard.press("1")
    book.run(3)
    marked = graph.root.locator(".jv-line.jv-marked")
    marked.first.wait_for(state="attached")
    book.run(4)
    expect(marked).to_have_count(0)
    book.run(5)
    graph.root.locator(".jv-stage[aria-pressed='true']", has_text="HLO").wait_for()
    book.shot("widget")


def test_what_python_sets_leaves_the_keys_where_they_are(notebook):
    book = notebook(
        SETUP,
        "w.stage = 'hlo'",
        "w.finding = 0",
        "w.view = {**w.view, 'stage': 'jaxpr', 'beside': {'stage': 'hlo', 'place': 0.5}}",
        "w.view = {key: value for key, value in w.view.items() if key != 'beside'}",
    )
    graph = book.explore(0)
    pressed = graph.root.locator(".jv-stage[aria-pressed='true']")
    panes = graph.root.locator(".jv-stage-area")
    for cell, (there, count) in enumerate(
        [
            (pressed.get_by_text("HLO"), 1),
            (pressed.get_by_text("jaxpr"), 1),
            (panes, 2),
            (panes, 1),
        ],
        1,
    ):
        book.run(cell)
        expect(there).to_have_count(count)
        graph.settle()
        inside = "root => root.contains(document.activeElement)"
        assert not graph.root.evaluate(inside), f"cell {cell} took the keys from the notebook"


def test_a_finding_that_a_person_asks_for_is_told_to_python(notebook):
    book = notebook(SETUP, HEARS.format(trait="finding", words="'lit ' + w.findings[change.new]['title']"))
    graph = book.explore(0)
    told = book.run(1)
    book.page.locator(".widget-label").wait_for(state="attached")
    title = graph.root.locator(".jv-finding .jv-finding-title").first.inner_text()
    graph.root.locator(".jv-finding").first.get_by_role("button", name="Show where").click()
    told.get_by_text(f"lit {title}").wait_for()
