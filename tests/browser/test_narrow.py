"""A picture in a narrow cell: what stands over it leaves it to be seen."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest
from playwright.sync_api import Locator, expect

import jaxviz as jv
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


def mlp(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x


def step(params, x):
    value, grads = jax.value_and_grad(lambda p: mlp(p, x).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


@pytest.fixture(scope="module")
def trained():
    sizes = [64, 128, 128, 10]
    params = [(jnp.ones((m, n)), jnp.ones(n)) for m, n in itertools.pairwise(sizes)]
    explored = jv.explore(step, params, jnp.ones((32, 64)))
    explored.run(repeat=3)
    return explored


@pytest.fixture
def page_of(open_page, graph_of, tmp_path):
    def open_(explored, size):
        path = tmp_path / "page.html"
        explored.to_html(path)
        page = open_page(size)
        page.goto(path.as_uri())
        return graph_of(page.locator("#jv-page .jv-root"))

    return open_


# A name is written in 12 px.
READABLE = 7.9 / 12


def zoom(graph) -> float:
    graph.settle()
    return float(graph.root.evaluate("root => root.explorer.picture.zoom"))


def test_in_a_low_window_nothing_is_cut_off_of_the_picture_by_what_is_told_around_it(page_of, trained):
    graph = page_of(trained, (640, 400))
    graph.click("mean")
    graph.stage.focus()
    graph.page.keyboard.press("1")
    for part in (".jv-source-pane", ".jv-inspector", ".jv-strips"):
        expect(graph.root.locator(part)).to_be_visible()
    graph.settle()
    stage, body = place_of(graph.stage), place_of(graph.root.locator(".jv-body"))
    assert stage["y"] >= body["y"]
    assert stage["y"] + stage["height"] <= body["y"] + body["height"]
    assert stage["height"] > 200
    strips = place_of(graph.root.locator(".jv-strips"))
    assert strips["y"] + strips["height"] <= 400


def test_in_less_room_so_much_is_open_that_its_names_can_be_read(page_of, trained):
    graph = page_of(trained, (640, 400))
    before = graph.labels
    graph.stage.focus()
    graph.page.keyboard.press("1")
    expect(graph.root.locator(".jv-source-pane")).to_be_visible()
    assert zoom(graph) >= READABLE
    assert len(graph.labels) < len(before)
    # With the room of before, all is as before.
    graph.page.keyboard.press("1")
    expect(graph.root.locator(".jv-source-pane")).to_be_hidden()
    assert graph.labels == before


def test_what_the_person_opened_stays_open_however_little_room_is_left(page_of, trained):
    graph = page_of(trained, (640, 400))
    graph.stage.focus()
    graph.page.keyboard.press("e")
    graph.wait_for_box("div")
    opened = graph.labels
    graph.page.keyboard.press("1")
    expect(graph.root.locator(".jv-source-pane")).to_be_visible()
    assert graph.labels == opened


def test_of_all_that_is_opened_the_selected_box_is_seen_so_large_that_it_can_be_read(page_of, trained):
    graph = page_of(trained, (640, 400))
    graph.click("mean")
    graph.stage.focus()
    graph.page.keyboard.press("e")
    graph.wait_for_box("div")
    assert zoom(graph) >= READABLE
    selected = graph.root.evaluate("root => root.explorer.picture.locate(root.explorer.panes[0].selectedBox())")
    stage = place_of(graph.stage)
    assert 0 < selected["x"] < stage["width"]
    assert 0 < selected["y"] < stage["height"]
    # All of it is asked for with a key.
    graph.page.keyboard.press("f")
    assert zoom(graph) < READABLE


def test_who_walks_with_the_keys_sees_a_box_so_large_that_it_can_be_read(page_of, trained):
    graph = page_of(trained, (640, 400))
    graph.stage.focus()
    for key in "ef":
        graph.page.keyboard.press(key)
    graph.wait_for_box("div")
    assert zoom(graph) < READABLE / 2
    graph.page.keyboard.press("ArrowDown")
    assert zoom(graph) >= READABLE
    # Further on, as it is.
    graph.page.keyboard.press("-")
    nearly = zoom(graph)
    assert nearly < READABLE
    graph.page.keyboard.press("ArrowDown")
    assert zoom(graph) == nearly
