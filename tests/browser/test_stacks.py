"""Stacks of copies: shown folded, all of them on a key or a click on their number, and told in a table."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.cells import STEP
from tests.browser.conftest import Graph

NAME = "mlp: for w, b in params"
# As a box has it.
LOOP = "mlp: for w, b in para…"


def layers(graph: Graph) -> int:
    """Three layers are one stack in each direction; spread, each layer is a box in the stack's frame."""
    return sum(label == LOOP for label in graph.labels)


def wait_for_layers(graph: Graph, count: int) -> None:
    script = "([root, loop, count]) => root.explorer.labels.filter(label => label === loop).length === count"
    graph.page.wait_for_function(script, arg=[graph.root.element_handle(), LOOP, count])


def test_a_key_shows_all_copies_of_a_stack_and_one_again(notebook):
    opened = notebook(STEP)
    graph = opened.explore(0)
    assert layers(graph) == 2
    graph.click(LOOP)
    lines = graph.pane.locator(".jv-copies tr")
    expect(lines).to_have_count(4)
    expect(lines.nth(1)).to_contain_text("params[0][0], params[0][1]")
    expect(lines.nth(3)).to_contain_text("params[2][0], params[2][1]")
    opened.shot("stack-table", graph.root)
    graph.stage.focus()
    graph.page.keyboard.press("u")
    wait_for_layers(graph, 8)
    expect(graph.pane).to_contain_text("show one")
    opened.shot("stack-spread", graph.root)
    lines.nth(2).get_by_role("button").click()
    expect(graph.pane.locator("h4")).to_have_text(NAME)
    graph.stage.focus()
    graph.page.keyboard.press("u")
    wait_for_layers(graph, 2)


def test_a_click_on_the_number_shows_all_copies(notebook):
    graph = notebook(STEP).explore(0)
    place, area = graph.place(LOOP), graph.stage.bounding_box()
    assert area is not None
    # The number stands on the upper side of the frame, near its right corner.
    for step in range(0, 160, 8):
        graph.page.mouse.click(area["x"] + place["x"] + step, area["y"] + place["y"] - 12)
        graph.settle()
        if layers(graph) > 2:
            break
    assert layers(graph) == 8
