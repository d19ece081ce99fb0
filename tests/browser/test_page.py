"""A page that `to_html` wrote, opened from the disk with no network."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from playwright.sync_api import expect

import jaxviz as jv


def unrolled(x):
    for _ in range(20):
        x = x * 1.1 + jnp.sin(x)
    return x.sum()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_from_the_disk_and_loads_nothing(open_page, tmp_path, scheme):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    # The policy of the page stays in force.
    page = open_page(color_scheme=scheme, offline=True)
    asked, faults = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(path.as_uri())
    root = page.locator("#jv-page .jv-root[data-boxes]")
    root.wait_for()
    assert root.get_attribute("data-theme") == scheme
    assert [url for url in asked if not url.startswith("blob:")] == [path.as_uri()]
    assert any(url.startswith("blob:") for url in asked), "the layout did not run in a worker"
    assert faults == []


def test_a_page_is_explored_as_a_cell_is(open_page, graph_of, tmp_path):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    # What waits for a state is a script of its own, which the policy of the page would refuse.
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    assert "forward" in graph.labels
    graph.root.locator(".jv-stage", has_text="HLO").last.click()
    graph.wait_without_box("forward")
    page.get_by_text("unrolled from line").first.wait_for()
    # The page is its own: keys need no click before, and there is nothing to expand into.
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    page.locator(".jv-help").wait_for()
    expect(page.get_by_role("button", name="whole window")).to_be_hidden()


def test_in_a_page_of_its_own_the_wheel_zooms_at_once(open_page, graph_of, tmp_path):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    stage, spot = graph.stage.bounding_box(), graph.place("forward")
    others = [label for label in graph.labels if label != "forward"]
    before = graph.place(others[0])
    page.mouse.move(stage["x"] + spot["x"], stage["y"] + spot["y"])
    page.mouse.wheel(0, 240)
    graph.settle()
    now, other = graph.place("forward"), graph.place(others[0])
    assert (now["x"], now["y"]) == pytest.approx((spot["x"], spot["y"]), abs=1)
    assert abs(other["y"] - now["y"]) < 0.8 * abs(before["y"] - spot["y"])


def test_a_page_within_a_longer_one_leaves_the_wheel_to_that_and_offers_no_tour(open_page, tmp_path):
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(tmp_path / "step.html")
    around = tmp_path / "around.html"
    around.write_text('<iframe src="step.html" width="900" height="500"></iframe><div style="height:3000px"></div>')
    page = open_page(bypass_csp=True, newcomer=True)
    page.goto(around.as_uri())
    page.frame_locator("iframe").locator("#jv-page .jv-root[data-boxes]").wait_for()
    expect(page.frame_locator("iframe").locator(".jv-tour")).to_be_hidden()
    page.mouse.move(450, 300)
    page.mouse.wheel(0, 240)
    page.wait_for_function("() => scrollY > 100")


def test_the_details_tell_all_of_a_long_name(open_page, graph_of, tmp_path):
    def a_loss_whose_name_is_longer_than_the_details_are_wide(x):
        return jnp.sin(x) * 2

    path = tmp_path / "long.html"
    fn = jax.jit(a_loss_whose_name_is_longer_than_the_details_are_wide)
    jv.explore(lambda x: fn(x) + fn(2 * x), jnp.ones(8)).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    graph.click(next(label for label in graph.labels if label.startswith("a_loss")))
    title = graph.pane.locator(".jv-inspector-title")
    expect(title).to_have_text("a_loss_whose_name_is_longer_than_the_details_are_wide")
    assert title.evaluate("title => title.scrollWidth <= title.clientWidth")


def test_the_details_stand_below_a_name_of_many_lines(open_page, graph_of, tmp_path):
    path = tmp_path / "endless.html"
    jv.explore(lambda x: {"R" * 3000: x + 1}, jnp.ones(8)).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    graph.click(next(label for label in graph.labels if label.startswith("result")))
    head, rows = (graph.pane.locator(part).bounding_box() for part in (".jv-inspector-head", ".jv-details"))
    assert head["y"] + head["height"] <= rows["y"]
    assert rows["height"] > head["height"]
    graph.pane.get_by_role("button", name="Close the details").click()
    expect(graph.pane).to_be_hidden()


def test_the_legend_stands_beside_the_details(open_page, graph_of, tmp_path):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    page = open_page((800, 600), bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    items = graph.root.locator(".jv-legend-item, .jv-legend-cost")
    sides = set()
    for label in graph.labels:
        graph.click(label)
        expect(graph.pane).to_be_visible()
        graph.settle()
        details = graph.pane.bounding_box()
        sides.add(graph.pane.evaluate("pane => pane.offsetLeft > 0"))
        for item in items.all():
            box = item.bounding_box()
            assert box["x"] + box["width"] <= details["x"] or box["x"] >= details["x"] + details["width"], label
        page.keyboard.press("Escape")
        expect(graph.pane).to_be_hidden()
    assert sides == {True, False}, "the details were not at both sides"


def test_a_selection_goes_from_stage_to_stage_and_comes_back(open_page, graph_of, tmp_path):
    def head(h, w):
        return jnp.log(jnp.exp(h @ w).sum(-1))

    def loss(weights, x):
        h = jnp.tanh(x @ weights[0])
        return (head(h, weights[1]) ** 2).mean()

    def step(weights, x):
        _ = jnp.cos(x)
        slopes = jax.grad(loss)(weights, x)
        return [w - 0.1 * slope / jnp.sqrt((slope**2).sum()) for w, slope in zip(weights, slopes, strict=True)]

    path = tmp_path / "step.html"
    jv.explore(step, [jnp.ones((8, 16)), jnp.ones((16, 4))], jnp.ones((4, 8))).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    title = graph.pane.locator(".jv-inspector-title")

    def out_of_sight(labels):
        graph.settle()
        picture, details = graph.stage.bounding_box(), graph.pane.bounding_box()
        places = graph.root.evaluate("(root, labels) => labels.map(one => root.explorer.locate(one))", labels)
        width, height = details["x"] - picture["x"], picture["height"]
        return [
            one
            for one, place in zip(labels, places, strict=True)
            if not (0 < place["x"] < width and 0 < place["y"] < height)
        ]

    # What has a name keeps it, and all of a picture that can be read beside the details is seen.
    for label in ("head", "forward"):
        graph.click(label)
        for key in "353252":
            page.keyboard.press(key)
            expect(title).to_have_text(label)
            assert out_of_sight(graph.labels) == [], key
    # So it is where there are more boxes in between.
    graph.click("divide")
    for key in "3532":
        page.keyboard.press(key)
        graph.settle()
    expect(title).to_have_text("divide")
    assert out_of_sight(["divide"]) == []
    # What a stage has nothing of is come back to.
    graph.click("cos")
    page.keyboard.press("5")
    expect(graph.root.locator(".jv-note")).to_contain_text("cos has no counterpart here")
    page.keyboard.press("2")
    expect(title).to_have_text("cos")


def test_on_paper_all_of_the_picture_is_drawn_as_wide_as_the_page(open_page, tmp_path):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    page = open_page(bypass_csp=True, color_scheme="dark")
    page.goto(path.as_uri())
    root = page.locator("#jv-page .jv-root[data-boxes]")
    root.wait_for()
    page.set_viewport_size({"width": 520, "height": 700})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    drawn = root.locator(".jv-paper svg")
    expect(drawn).to_contain_text("backward")
    box = drawn.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 520
    # It is not cut from below either: the page goes on under it.
    assert page.evaluate("document.documentElement.scrollHeight") >= box["y"] + box["height"]
    expect(root.locator(".jv-canvas")).to_be_hidden()
    expect(root.locator("select").first).to_be_hidden()
    expect(root.locator(".jv-legend")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    expect(drawn).to_have_count(0)
    expect(root.locator(".jv-canvas")).to_be_visible()


def test_code_reads_from_left_to_right_in_a_page_of_another_direction(open_page, tmp_path):
    path = tmp_path / "step.html"
    jv.explore(jax.grad(unrolled), jnp.ones(8)).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    root = page.locator("#jv-page .jv-root[data-boxes]")
    root.wait_for()
    page.evaluate("document.documentElement.dir = 'rtl'")
    code = root.locator(".jv-line code").first
    assert code.evaluate("code => getComputedStyle(code).direction") == "ltr"
