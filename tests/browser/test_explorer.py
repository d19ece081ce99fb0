"""The explorer as a person uses it: search, colours, paths, keys, and what is seen."""

from __future__ import annotations

import re

import jax.numpy as jnp
from playwright.sync_api import expect

import jaxviz as jv
from tests.browser.cells import STEP


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
    graph.wait_for_other_colours(before)
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


def test_what_is_gone_to_can_be_read_though_the_picture_was_seen_from_far(open_page, graph_of, tmp_path):
    def ordered(x):
        y = jnp.sin(x)
        return jnp.sort(y)

    path = tmp_path / "ordered.html"
    jv.explore(ordered, jnp.ones(4)).to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))

    def zoom() -> float:
        graph.settle()
        return float(graph.root.evaluate("root => root.explorer.picture.zoom"))

    def from_far() -> None:
        graph.stage.focus()
        while zoom() > 0.2:
            page.keyboard.press("-")

    from_far()
    page.keyboard.press("/")
    graph.root.get_by_role("searchbox").fill("op:sort")
    page.keyboard.press("Enter")
    expect(graph.pane.locator("h4")).to_have_text("sort")
    assert zoom() > 0.6
    # What reads it, from the details.
    from_far()
    graph.pane.get_by_role("button", name="result").click()
    expect(graph.pane.locator("h4")).to_have_text("result")
    assert zoom() > 0.6
    # A line of the source.
    page.keyboard.press("Escape")
    from_far()
    graph.root.locator(".jv-line", has_text="return jnp.sort(y)").click()
    assert zoom() > 0.6


def test_colours_say_what_the_legend_says(notebook):
    opened = notebook(STEP)
    graph = opened.explore(0)
    legend = graph.root.locator(".jv-legend")
    expect(legend).to_contain_text("matmul")
    choice = graph.root.get_by_role("combobox", name="Colour by")
    seen = {graph.colours()}
    for key, words in [
        ("fate", "fused"),
        ("kernel", "fusion"),
        ("phase", "backward"),
        ("type", "float32"),
        ("size", "kB"),
    ]:
        choice.select_option(key)
        expect(legend).to_contain_text(words)
        seen.add(graph.colours())
        opened.shot(f"colour-{key}", graph.root)
    assert len(seen) > 3
    # Kept from stage to stage; where it says nothing, that is said.
    choice.select_option("fate")
    graph.stage.focus()
    graph.page.keyboard.press("5")
    expect(legend).to_contain_text("fate is not known here")
    graph.page.keyboard.press("2")
    expect(legend).to_contain_text("fused")
    graph.page.keyboard.press("c")
    expect(choice).to_have_value("kernel")
    # What a checkpoint would keep is a colour too, switched on and off below the picture.
    strip = graph.root.get_by_role("region", name="kept for the backward pass")
    strip.get_by_role("button", name="Which lines cause it").click()
    policy = strip.get_by_role("button", name=re.compile("^dots_saveable "))
    policy.click()
    expect(policy).to_have_attribute("aria-pressed", "true")
    expect(legend).to_contain_text("computed again")
    expect(strip).to_contain_text("jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable)")
    opened.shot("colour-checkpoint", graph.root)
    policy.click()
    expect(policy).to_have_attribute("aria-pressed", "false")
    expect(legend).to_contain_text("matmul")


FORK = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def fork(x, y):
    both = jnp.sin(x) + jnp.cos(y)
    return jnp.tanh(both), -y
%jaxviz fork(jnp.ones(4), jnp.ones(4))"""


def test_what_belongs_to_a_selection_is_lit_and_said(notebook):
    opened = notebook(FORK)
    graph = opened.explore(0)
    words = graph.root.locator(".jv-words")
    graph.click("sin")
    expect(words).to_have_text("used by 2 operations")
    opened.shot("paths-around", graph.root)
    # From the selection to a second box, with the mouse and with keys.
    graph.stage.click(position=graph.place("tanh"), modifiers=["Shift"])
    expect(words).to_have_text("from sin to tanh: 1 operation on the way")
    expect(graph.pane.locator("h4")).to_have_text("tanh")
    opened.shot("paths-between", graph.root)
    graph.page.keyboard.press("Escape")
    expect(words).to_contain_text("made from 3 operations")
    graph.page.keyboard.press("p")
    expect(words).to_have_text("ways from here to what is selected next")
    graph.page.keyboard.press("ArrowUp")
    expect(words).to_contain_text("directly")
    graph.page.keyboard.press("Escape")
    # A click chooses what is selected next as a key does; the click after it asks for no ways.
    graph.click("sin")
    graph.page.keyboard.press("p")
    graph.click("tanh")
    expect(words).to_have_text("from sin to tanh: 1 operation on the way")
    graph.click("cos")
    expect(words).to_contain_text("used by 2 operations")
    graph.page.keyboard.press("Escape")
    expect(words).to_be_hidden()
    expect(graph.pane).to_be_hidden()


def test_breadcrumbs_say_where_and_lead_out(notebook):
    opened = notebook(STEP)
    graph = opened.explore(0)
    graph.click("relu")
    crumbs = graph.root.get_by_role("navigation", name="regions around the selection")
    expect(crumbs.get_by_role("button")).to_have_text(["step", "forward", "mlp: for w, b in params x3"])
    # The details cover nothing of the picture.
    stage, details = graph.stage.bounding_box(), graph.pane.bounding_box()
    assert graph.place("backward")["x"] < stage["width"] - details["width"]
    opened.shot("breadcrumbs", graph.root)
    crumbs.get_by_role("button", name="Out to forward").click()
    expect(graph.pane.locator("h4")).to_have_text("forward")
    expect(graph.stage).to_be_focused()
    expect(crumbs).to_be_hidden()
    graph.click("relu")
    crumbs.get_by_role("button", name="The whole program").click()
    expect(graph.pane).to_be_hidden()


DEAD = """\
import jax.numpy as jnp
%load_ext jaxviz
def settle(x):
    kept = jnp.sin(x)
    for _ in range(100):
        x = x * 1.01 + 0.1
    return kept
%jaxviz settle(jnp.ones(4))"""


def test_the_source_counts_and_lights_both_ways(notebook):
    opened = notebook(DEAD)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("1")
    pane = graph.root.locator(".jv-source-pane")
    dead = pane.locator("button.jv-line", has_text="1.01")
    expect(dead.locator(".jv-line-count")).to_have_text("200 gone")
    expect(pane.locator("button.jv-line", has_text="jnp.sin").locator(".jv-line-count")).to_have_text("1")
    dead.click()
    expect(graph.root.locator(".jv-words")).to_have_text("200 operations lit")
    expect(dead).to_have_class("jv-line jv-gone jv-marked")
    opened.shot("source-lit", graph.root)
    graph.click("sin")
    expect(pane.locator(".jv-marked")).to_contain_text("jnp.sin")
    opened.shot("source-marked", graph.root)
    divider = graph.root.get_by_role("separator", name="width of the source")
    edge = divider.bounding_box()
    graph.page.mouse.move(edge["x"] + 4, edge["y"] + 60)
    graph.page.mouse.down()
    graph.page.mouse.move(edge["x"] + 104, edge["y"] + 60, steps=4)
    graph.page.mouse.up()
    graph.settle()
    assert abs(divider.bounding_box()["x"] - edge["x"] - 100) < 3
    # The picture begins where the source ends.
    assert abs(graph.stage.bounding_box()["x"] - edge["x"] - 104) < 3
    opened.shot("source-wide", graph.root)
    divider.dblclick()
    assert abs(divider.bounding_box()["x"] - edge["x"]) < 3
