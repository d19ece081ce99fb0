"""A picture in a narrow cell: what stands over it leaves it to be seen."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.cells import STEP


def place_of(part: Locator) -> dict[str, float]:
    box = part.bounding_box()
    assert box is not None
    return dict(box)


def test_the_source_stands_over_the_picture_where_side_by_side_neither_could_be_read(notebook):
    opened = notebook(STEP, size=(900, 900))
    graph = opened.explore(0)
    root = graph.root
    before = place_of(graph.stage)
    graph.stage.focus()
    graph.page.keyboard.press("1")
    graph.settle()
    source, stage = place_of(root.locator(".jv-source-pane")), place_of(graph.stage)
    assert stage["width"] == before["width"]
    assert stage["height"] == before["height"]
    assert source["width"] == stage["width"]
    assert source["y"] + source["height"] <= stage["y"]
    opened.shot("narrow-source", root)
    graph.page.keyboard.press("w")
    graph.page.set_viewport_size({"width": 500, "height": 900})
    whole = opened.graph_of(graph.page.locator(".jv-root.jv-whole"))
    whole.settle()
    source, stage = place_of(whole.root.locator(".jv-source-pane")), place_of(whole.stage)
    assert source["y"] + source["height"] <= stage["y"]
    assert stage["height"] > source["height"]
