"""The passes of the compiler as a person steps through them: what is said, what is marked, what stays where it is."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from playwright.sync_api import expect

import jaxviz as jv

TWICE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def twice(x, w):
    a = jnp.sin(x)
    b = jnp.sin(x)
    return jnp.exp(a + b) @ w
%jaxviz --passes twice(jnp.ones((16, 16)), jnp.ones((16, 16)))"""


def places(graph):
    """Where every box stands on the screen, by its label; those that are not the only one of their name left out."""
    labels = graph.labels
    single = [label for label in labels if labels.count(label) == 1]
    return {label: graph.place(label) for label in single}


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_passes_are_stepped_through_and_say_what_they_did(notebook, theme):
    opened = notebook(TWICE, theme=theme)
    graph = opened.explore(0)
    slider = graph.root.get_by_role("slider")
    line = graph.root.locator(".jv-pass-line")
    expect(slider).to_be_visible()
    expect(line).to_be_hidden()
    last = int(slider.get_attribute("max") or 0)
    assert last >= 2
    graph.stage.focus()
    graph.page.keyboard.press("4")
    expect(line).to_contain_text(f"1 of {last}")
    while "cse" not in (line.text_content() or ""):
        graph.page.keyboard.press(".")
        graph.settle()
    expect(line).to_contain_text("1 gone")
    expect(line).to_contain_text("1 changed")
    assert len([label for label in graph.labels if label.startswith("sin")]) == 1
    opened.shot(f"passes-cse-{theme}", graph.root)
    # What is gone is seen in the state before.
    line.get_by_role("button", name=re.compile("1 gone")).click()
    graph.page.wait_for_function(
        "root => root.explorer.labels.filter(label => label.startsWith('sin')).length === 2",
        arg=graph.root.element_handle(),
    )
    graph.root.get_by_role("button", name="All passes").click()
    cse = graph.root.locator(".jv-pass-item", has_text="cse")
    expect(cse).to_have_attribute("title", re.compile("1 gone, 1 changed"))
    expect(cse).to_contain_text("~1")
    slider.fill(str(last))
    expect(line).to_contain_text(f"{last} of {last}")
    expect(graph.root.locator(".jv-pass-item").last).to_have_attribute("aria-pressed", "true")
    opened.shot(f"passes-last-{theme}", graph.root)
    expect(line.get_by_role("button", name="The next pass (.)")).to_be_disabled()
    graph.stage.focus()
    graph.page.keyboard.press(".")
    expect(graph.root.locator("button.jv-stage.jv-on")).to_contain_text("HLO")
    expect(line).to_be_hidden()


def test_the_slider_keeps_the_keys_that_move_it(open_page, graph_of, tmp_path):
    path = tmp_path / "twice.html"
    explored = jv.explore(lambda x: jnp.sin(x + 1) * jnp.sin(x + 1) + jnp.cos(x), jnp.ones(4))
    assert len(explored.passes) >= 2
    explored.to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    slider = graph.root.get_by_role("slider")
    slider.focus()
    for number in (1, 2):
        page.keyboard.press("ArrowRight")
        expect(graph.root.locator(".jv-pass-line")).to_contain_text(f"{number} of {len(explored.passes)}")
        graph.settle()
        expect(slider).to_be_focused()
    # The keys of the picture work there too.
    page.keyboard.press(",")
    expect(graph.root.locator(".jv-pass-line")).to_contain_text("1 of")
    expect(slider).to_be_focused()


def test_results_stand_below_what_gives_them_in_every_pass(open_page, graph_of, tmp_path):
    def roll(x, w):
        def body(x, _):
            x = jnp.sin(x @ w) + 0.1 * x
            return x, x.max()

        return lax.scan(body, x, None, length=20)

    path = tmp_path / "roll.html"
    explored = jv.explore(roll, jnp.ones((4, 4)), jnp.ones((4, 4)))
    count = len(explored.passes)
    explored.to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    slider = graph.root.get_by_role("slider")
    for number in range(1, count + 1):
        slider.fill(str(number))
        expect(graph.root.locator(".jv-pass-line")).to_contain_text(f"{number} of ")
        graph.settle()
        frame, *results = graph.root.evaluate("""root => {
          const { layout, visible } = root.explorer.pane.scene;
          const boxes = [...visible.label.keys()].filter(box => /^(scan|result)/.test(visible.label[box]));
          boxes.sort((a, b) => layout.height[b] - layout.height[a]);
          return boxes.map(box => [layout.x[box], layout.x[box] + layout.width[box]]);
        }""")
        assert len(results) == 2
        for left, right in results:
            assert frame[0] - 40 < (left + right) / 2 < frame[1], (number, frame, left, right)


def test_what_a_pass_did_is_marked_or_said_where_it_has_no_box(open_page, graph_of, tmp_path):
    def run(w, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x)
            return h, h.sum()

        return lax.scan(step, jnp.zeros(4), xs)[1].mean()

    path = tmp_path / "scan.html"
    explored = jv.explore(jax.value_and_grad(run), jnp.ones((4, 4)), jnp.ones((6, 4)))
    assert len(explored.passes) > 9
    explored.to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    slider, line = graph.root.get_by_role("slider"), graph.root.locator(".jv-pass-line")
    counts = line.locator(".jv-change")
    unmarked = []
    for number in range(1, len(explored.passes) + 1):
        slider.fill(str(number))
        expect(line).to_contain_text(f"{number} of ")
        graph.settle()
        if graph.root.evaluate("root => root.explorer.pane.marked.length === 0"):
            unmarked.append(counts.all_text_contents())
    # What is gone stands in the state before; the counters of a loop are marked on the loop.
    assert unmarked
    assert all(len(words) == 1 and words[0].endswith("gone") for words in unmarked), unmarked
    graph.stage.focus()
    while counts.count() > 1 or "gone" not in counts.first.text_content():
        page.keyboard.press(",")
        graph.settle()
    page.keyboard.press("n")
    expect(graph.root.locator(".jv-note")).to_contain_text("what this pass did has no box: 1 gone")


def test_a_selection_keeps_its_instruction_and_its_story_leads_through_the_passes(notebook):
    opened = notebook(TWICE)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("4")
    graph.page.keyboard.press(",")
    line = graph.root.locator(".jv-pass-line")
    expect(line).to_contain_text("before the passes")
    graph.wait_for_box("exp")
    graph.click("exp")
    expect(graph.pane.locator("h4")).to_have_text("exp")
    story = graph.pane.locator("dt", has_text=re.compile("^passes$")).locator("xpath=following-sibling::dd[1]")
    expect(story).to_contain_text("at first: given to the compiler")
    expect(story).to_contain_text("fused")
    story.get_by_role("button").last.click()
    expect(line).not_to_contain_text("before the passes")
    expect(graph.pane).to_contain_text("exponential")
    opened.shot("passes-story", graph.root)


def test_boxes_stay_where_they_are_from_pass_to_pass(notebook):
    opened = notebook(TWICE)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("4")
    graph.page.keyboard.press(",")
    line = graph.root.locator(".jv-pass-line")
    expect(line).to_contain_text("before the passes")
    graph.wait_for_box("exp")
    graph.settle()
    before = places(graph)
    graph.page.keyboard.press(".")
    expect(line).to_contain_text("1 of")
    graph.settle()
    after = places(graph)
    common = before.keys() & after.keys()
    assert {"exp", "x", "w"} <= common
    for one in common:
        for other in common:
            if before[one]["x"] < before[other]["x"] - 1:
                assert after[one]["x"] <= after[other]["x"] + 1, (one, other)
        assert abs(after[one]["y"] - before[one]["y"]) <= 40, one


def test_without_passes_the_key_says_how_to_have_them(notebook):
    graph = notebook(TWICE.replace("--passes ", "")).explore(0)
    expect(graph.root.get_by_role("slider")).to_be_hidden()
    graph.stage.focus()
    graph.page.keyboard.press(".")
    expect(graph.root.locator(".jv-note")).to_contain_text("%jaxviz --passes asks for them")


def test_where_there_is_little_room_the_slider_gives_way_and_the_bar_stays_one_line(open_page, graph_of, tmp_path):
    path = tmp_path / "narrow.html"
    explored = jv.explore(lambda x: jnp.sin(x + 1) * jnp.cos(x), jnp.ones(4))
    assert len(explored.passes) >= 1
    explored.to_html(path)
    page = open_page((1280, 600), bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    bar, slider = graph.root.locator(".jv-bar"), graph.root.get_by_role("slider")
    high, wide = bar.bounding_box()["height"], slider.bounding_box()["width"]
    page.set_viewport_size({"width": 420, "height": 600})
    expect(slider).to_be_visible()
    page.wait_for_function("([slider, wide]) => slider.offsetWidth < wide", arg=[slider.element_handle(), wide])
    graph.settle()
    assert bar.bounding_box()["height"] == high


def test_all_passes_stand_in_columns_that_fit_and_the_one_on_the_screen_is_in_sight(open_page, graph_of, tmp_path):
    def run(flag, w, xs):
        def step(h, x):
            return jnp.tanh(h @ w + x), h.sum()

        h, sums = lax.scan(step, jnp.zeros(4), xs)
        return lax.cond(flag, lambda: h * 2, lambda: jnp.sort(h) + sums.mean()).sum()

    path = tmp_path / "many.html"
    explored = jv.explore(jax.value_and_grad(run, argnums=1), True, jnp.ones((4, 4)), jnp.ones((6, 4)))
    last = len(explored.passes)
    assert last >= 12
    explored.to_html(path)
    page = open_page(bypass_csp=True, size=(848, 700))
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    graph.root.get_by_role("slider").fill(str(last))
    line = graph.root.locator(".jv-pass-line")
    expect(line).to_contain_text(f"{last} of {last}")
    graph.root.get_by_role("button", name="All passes").click()
    items = graph.root.locator(".jv-pass-item")
    expect(items).to_have_count(last + 1)

    def in_sight() -> bool:
        return items.locator("xpath=self::*[@aria-pressed='true']").evaluate(
            """item => {
                const [one, list] = [item, item.parentElement].map(part => part.getBoundingClientRect());
                return one.left >= list.left && one.right <= list.right
                    && one.top >= list.top && one.bottom <= list.bottom;
            }"""
        )

    assert in_sight()
    # What each did is counted by and by; the numbers push nothing aside.
    expect(items.last.locator("small").first).to_be_visible()
    assert in_sight()
    for number in (1, last // 2, last):
        graph.root.get_by_role("slider").fill(str(number))
        expect(items.nth(number)).to_have_attribute("aria-pressed", "true")
        assert in_sight()
    assert items.first.evaluate("item => item.parentElement.scrollWidth <= item.parentElement.clientWidth")
