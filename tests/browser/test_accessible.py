"""The explorer for people who use no mouse or no eyes: axe-core finds no serious fault in any state."""

from __future__ import annotations

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from playwright.sync_api import expect

import jaxviz as jv
from tests.browser.cells import LOOP

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def listen(graph) -> None:
    """Makes the page ready for `faults`."""
    graph.page.add_script_tag(path=AXE)
    # The body of JupyterLab hides what flows over and has no height: axe-core takes all words in it for unseen.
    graph.page.add_style_tag(content="body { overflow: visible !important }")


def faults(graph) -> list[str]:
    """What axe-core calls serious or critical, in one line each."""
    graph.settle()
    found = graph.root.evaluate("root => axe.run(root, { resultTypes: ['violations', 'passes'] })")
    read = [rule for rule in found["passes"] if rule["id"] == "color-contrast"]
    assert read, "no words were seen"
    assert any("jv-stage" in node["html"] for node in read[0]["nodes"]), "the words on the bar were not seen"
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_no_serious_fault_in_any_state(notebook, theme):
    graph = notebook(LOOP, theme=theme).explore(0)
    listen(graph)
    assert faults(graph) == []
    graph.click("cos")
    expect(graph.pane).to_be_visible()
    assert faults(graph) == []
    for key in ("1", "c", "c", "/"):
        graph.stage.focus()
        graph.page.keyboard.press(key)
    expect(graph.root.get_by_role("searchbox")).to_be_focused()
    assert faults(graph) == []
    graph.page.keyboard.press("Escape")
    graph.page.keyboard.press("?")
    expect(graph.root.get_by_role("dialog", name="Keys and marks")).to_be_visible()
    assert faults(graph) == []


def step(w, x):
    def loss(w):
        h = x
        for _ in range(24):
            h = jnp.tanh(h @ w) * 1.01
        return h.sum()

    return w - 0.1 * jax.grad(loss)(w)


def gentle(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.tanh(x @ w).sum())(w)


@pytest.fixture
def page_of(open_page, graph_of, tmp_path):
    """A page of its own in a theme, with what `faults` needs."""

    def open_(explored, theme, *, newcomer=False, **options):
        path = tmp_path / "page.html"
        explored.to_html(path)
        page = open_page(bypass_csp=True, color_scheme=theme, newcomer=newcomer, **options)
        page.goto(path.as_uri())
        graph = graph_of(page.locator("#jv-page .jv-root"))
        listen(graph)
        return graph

    return open_


@pytest.fixture(scope="module")
def explored():
    """A program with everything that can be known of it: a run, the passes of the compiler, findings."""
    found = jv.explore(step, jnp.ones((8, 8)), jnp.ones((4, 8)))
    assert found.passes
    assert found.findings
    found.run(repeat=3)
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_a_page_with_all_there_is_to_say(page_of, explored, theme):
    graph = page_of(explored, theme)
    assert faults(graph) == []
    for title in graph.root.locator(".jv-finding-title:visible").all():
        title.click()
    assert faults(graph) == []
    # A selected box marks its lines, which have a ground of their own.
    graph.click("forward")
    assert faults(graph) == []
    graph.root.get_by_role("button", name=re.compile("^colour by time")).click()
    assert faults(graph) == []
    graph.stage.focus()
    for key in ("k", "s", "t", "4"):
        graph.page.keyboard.press(key)
        assert faults(graph) == [], key
        graph.stage.focus()
    graph.root.get_by_role("button", name="All passes").click()
    expect(graph.root.locator(".jv-pass-item").last.locator("small").first).to_be_visible()
    assert faults(graph) == []
    graph.stage.focus()
    graph.page.keyboard.press("5")
    assert faults(graph) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_a_comparison_nor_in_the_tour(page_of, explored, theme):
    compared = jv.compare(explored, jv.explore(gentle, jnp.ones((8, 8)), jnp.ones((4, 8))))
    graph = page_of(compared, theme, newcomer=True)
    assert faults(graph) == []


def test_a_button_is_called_by_the_words_on_it(page_of, explored):
    graph = page_of(explored, "light")
    bar = graph.root.locator(".jv-bar").first
    for word in ("Python", "compare", "export", "close all"):
        expect(bar.get_by_role("button", name=re.compile(f"^{word}"))).to_have_count(1)
    # What is said of a run is heard too, not only what a click on it does.
    expect(graph.root.get_by_role("button", name=re.compile("^run: median .* on CPU"))).to_be_visible()


def test_the_tree_says_how_the_boxes_stand_in_each_other(notebook):
    graph = notebook(LOOP).explore(0)
    tree = graph.root.get_by_role("tree", name="operations")
    frame = tree.get_by_role("treeitem", name="scan", exact=False).first
    expect(frame).to_have_attribute("aria-expanded", "true")
    inner = tree.get_by_role("treeitem", name="sin", exact=False).first
    assert int(inner.get_attribute("aria-level")) > int(frame.get_attribute("aria-level"))
    inside = tree.locator(f"[aria-level='{inner.get_attribute('aria-level')}']").count()
    expect(inner).to_have_attribute("aria-setsize", str(inside))
    # The picture says which of them it points at.
    graph.click("sin")
    expect(graph.stage).to_have_attribute("aria-activedescendant", inner.get_attribute("id"))
    expect(inner).to_have_attribute("aria-selected", "true")


def test_a_button_that_its_own_click_draws_anew_keeps_the_keys(page_of, explored):
    graph = page_of(explored, "light")
    press, focused = graph.page.keyboard.press, graph.page.locator(":focus")
    graph.click("forward")
    for now, then in (("close", "open"), ("open", "close")):
        graph.pane.get_by_role("button", name=f"{now} (Enter)").focus()
        press("Enter")
        expect(focused).to_have_text(then)
        graph.settle()
        expect(focused).to_have_text(then)
    press("?")
    graph.root.get_by_role("button", name=re.compile("^Close .Escape")).last.focus()
    press("Enter")
    expect(graph.stage).to_be_focused()


def test_colours_that_say_something_stay_where_the_system_forces_its_own(page_of, explored):
    graph = page_of(explored, "light", forced_colors="active")
    graph.page.keyboard.press("1")
    colours = "elements => [...new Set(elements.map(element => getComputedStyle(element).backgroundColor))]"
    graph.settle()
    assert len(graph.root.locator(".jv-swatch").evaluate_all(colours)) > 1
    heat = graph.root.locator(".jv-heat").evaluate_all(colours)
    assert heat
    assert not set(heat) & set(graph.root.evaluate_all(colours))


def test_where_the_system_forces_its_colours_a_frame_tells_which_stage_is_seen(page_of, explored):
    graph = page_of(explored, "light", forced_colors="active")
    frames = """buttons => buttons.map(button => {
      const { outlineStyle, outlineWidth } = getComputedStyle(button);
      return [button.getAttribute('aria-pressed') === 'true', outlineStyle, outlineWidth];
    })"""
    stages = graph.root.locator(".jv-bar button.jv-stage")
    for key in "23":
        graph.stage.focus()
        graph.page.keyboard.press(key)
        graph.settle()
        told = stages.evaluate_all(frames)
        # The source is seen beside the stage.
        assert [one[1:] for one in told if one[0]] == [["solid", "2px"], ["solid", "2px"]]
        assert {one[1] for one in told if not one[0]} == {"none"}
    # With the keys on it, the frame is another one.
    graph.page.keyboard.press("Shift+Tab")
    stages.locator("xpath=self::*[@aria-pressed='true']").last.focus()
    assert [one[1] for one in stages.evaluate_all(frames) if one[0]] == ["solid", "double"]


def test_no_word_of_the_size_of_a_value_is_cut_however_narrow_the_details(page_of):
    graph = page_of(jv.explore(jnp.tanh, jnp.ones((784, 128))), "light")
    graph.click("tanh")
    expect(graph.pane.locator(".jv-details code + small").first).to_be_visible()
    cut = """(pane, width) => {
      pane.style.width = `${width}px`;
      return [...pane.querySelectorAll('.jv-details code + small')].flatMap(size => {
        const text = size.firstChild;
        return [...text.data.matchAll(/\\S+/g)].filter(word => {
          const range = document.createRange();
          range.setStart(text, word.index);
          range.setEnd(text, word.index + word[0].length);
          return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
        }).map(([word]) => word);
      });
    }"""
    for width in range(160, 320, 2):
        assert graph.pane.evaluate(cut, width) == [], width
