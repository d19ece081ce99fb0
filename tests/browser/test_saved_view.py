"""A view is saved with the notebook, copied as a link, pasted back; the cell has the height that it was given."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from jaxviz.notebook.display import MIME_TYPE
from tests.browser.cells import LOOP


def view_of(saved):
    """The view that a notebook holds for the last output of its first cell."""
    return saved["cells"][0]["outputs"][-1]["metadata"].get(MIME_TYPE, {}).get("view", {})


def test_the_view_is_saved_with_the_notebook_and_seen_again(notebook, lab, open_page):
    opened = notebook(LOOP)
    graph = opened.explore(0)
    # Nothing to keep before the person does anything.
    opened.page.wait_for_timeout(700)
    assert not view_of(opened.save())
    graph.double_click("scan(cell)")
    graph.wait_without_box("sin")
    # What is double clicked is selected too, and kept a moment later.
    before = view_of(opened.save(lambda notebook: "selected" in view_of(notebook)))["selected"]
    graph.root.get_by_role("combobox", name="Colour by").select_option("size")
    graph.root.get_by_role("separator", name="height of the picture").focus()
    for _ in range(5):
        graph.page.keyboard.press("ArrowDown")
    graph.settle()
    height = graph.stage.bounding_box()["height"]
    graph.stage.focus()
    graph.click("cos")
    # The explorer is the same one: saving does not draw it anew.
    graph.root.evaluate("root => { root.dataset.same = 'yes' }")
    saved = opened.save(lambda notebook: view_of(notebook).get("selected") not in (None, before))
    expect(graph.root).to_have_attribute("data-same", "yes")
    expect(graph.pane.locator("h4")).to_have_text("cos")
    opened.page.close()
    assert view_of(saved)["colour"] == "size"
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/{opened.name}?reset")
    again = type(opened).graph_of(page.locator(".jv-root"))
    assert "sin" not in again.labels
    expect(again.pane.locator("h4")).to_have_text("cos")
    expect(again.root.locator(".jv-legend")).to_contain_text("largest value")
    assert abs(again.stage.bounding_box()["height"] - height) < 2


def test_a_legend_of_more_lines_takes_nothing_from_the_picture(notebook):
    opened = notebook(LOOP)
    graph = opened.explore(0)
    legend = graph.root.locator(".jv-legend")

    def heights():
        graph.settle()
        return [one.evaluate("one => one.offsetHeight") for one in (graph.stage, legend)]

    high, low = heights()
    # As where it is on the page only after the picture was placed, or gets narrower.
    legend.evaluate("legend => { legend.style.width = '120px' }")
    graph.page.set_viewport_size({"width": 1270, "height": 800})
    graph.page.wait_for_function(
        "([stage, high]) => stage.offsetHeight > high", arg=[graph.stage.element_handle(), high]
    )
    grown, wrapped = heights()
    assert grown - high == wrapped - low > 0


def test_a_view_is_copied_as_a_link_and_pasted_back(notebook):
    opened = notebook(LOOP)
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    graph = opened.explore(0)
    graph.click("cos")
    graph.page.keyboard.press("c")
    graph.page.keyboard.press("l")
    note, trail = graph.root.locator(".jv-note"), graph.root.locator(".jv-trail")
    expect(note).to_contain_text("copied")
    # It can be read whole while the line of the selection is above it.
    line = trail.bounding_box()
    assert line["y"] + line["height"] <= note.bounding_box()["y"]
    link = graph.page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith("jaxviz://loop/jaxpr?")
    graph.page.keyboard.press("Escape")
    graph.page.keyboard.press("5")
    expect(graph.root.locator(".jv-stage.jv-on")).to_contain_text("kernel")
    graph.page.keyboard.press("/")
    graph.root.get_by_role("searchbox").fill(link)
    expect(graph.root.get_by_role("searchbox")).to_be_hidden()
    expect(graph.root.locator(".jv-stage.jv-on")).to_contain_text("jaxpr")
    expect(graph.pane.locator("h4")).to_have_text("cos")
    graph.page.keyboard.press("/")
    graph.root.get_by_role("searchbox").fill(link.replace("of=", "of=1"))
    expect(graph.root.locator(".jv-search-count")).to_have_text("this view was copied from another program: loop")


def test_a_picture_whose_cell_is_moved_goes_on_as_it_was(notebook):
    opened = notebook(LOOP, "1")
    graph = opened.explore(0)
    graph.double_click("scan(cell)")
    graph.wait_without_box("sin")
    graph.click("cos")
    graph.settle()
    graph.root.evaluate("root => { root.dataset.same = 'yes' }")
    graph.page.locator(".jp-InputArea-prompt").first.click()
    graph.page.evaluate("""() => {
      const look = () => { globalThis.opened ||= document.querySelector('.jv-opening') !== null; };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    }""")
    graph.page.keyboard.press("Control+Shift+ArrowDown")
    moved = opened.graph_of(graph.page.locator(".jp-CodeCell").nth(1).locator(".jv-root"))
    expect(moved.root).to_have_attribute("data-same", "yes")
    assert not graph.page.evaluate("() => globalThis.opened"), "it said that it opens"
    assert "sin" not in moved.labels
    expect(moved.pane.locator("h4")).to_have_text("cos")
    # It tells the notebook of what is seen, and where its cell is now.
    moved.click("x")
    view = moved.root.evaluate("root => root.explorer.view")
    opened.save(
        lambda notebook: (
            notebook["cells"][1]["outputs"][0]["metadata"].get(MIME_TYPE, {}).get("view", {}).get("selected")
            == view["selected"]
        )
    )


STACKED = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def block(w, x):
    hidden = jnp.tanh(x @ w)
    return x + hidden @ w.T
def head(x):
    return jax.nn.softmax(x).mean()
def model(ws, x):
    for w in ws:
        x = block(w, x)
    return head(x)
%jaxviz model([jnp.ones((8, 16))] * 3, jnp.ones((4, 8)))"""


@pytest.mark.parametrize("pause", [0, 2], ids=["at once", "later"])
def test_a_cell_that_is_changed_and_run_again_is_seen_as_before(notebook, pause):
    opened = notebook(STACKED)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("x")
    graph.wait_without_box("matmul")
    graph.double_click("block")
    graph.wait_for_box("tanh")
    graph.click("tanh")
    graph.settle()
    graph.page.keyboard.press("5")
    expect(graph.root.locator(".jv-stage.jv-on")).to_contain_text("kernel")
    graph.page.keyboard.press("2")
    expect(graph.pane.locator("h4")).to_have_text("tanh")
    graph.root.evaluate("root => root.explorer.picture.zoomBy(1.3)")
    before, seen = graph.place("tanh"), graph.labels
    changed = STACKED.replace("    hidden =", "    x = x - x.mean()\n    hidden =").replace(
        "%load_ext jaxviz", f"%load_ext jaxviz\nimport time; time.sleep({pause})"
    )
    opened.write(0, changed)
    again = opened.explore(0)
    expect(again.pane.locator("h4")).to_have_text("tanh")
    assert {"tanh", "head"} < set(again.labels)
    assert ("softmax" in seen) == ("softmax" in again.labels)
    after = again.place("tanh")
    assert abs(before["x"] - after["x"]) < 60
    assert abs(before["y"] - after["y"]) < 60
    # And the notebook keeps it.
    opened.save(lambda notebook: view_of(notebook).get("selected") is not None)
