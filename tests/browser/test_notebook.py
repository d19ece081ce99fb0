"""What a person does with `%jaxviz` in JupyterLab and Notebook 7, and what is seen."""

from __future__ import annotations

import json
import re
import time

import jax.numpy as jnp
import nbformat
import pytest
from playwright.sync_api import expect

import jaxviz as jv
from jaxviz.notebook.display import MIME_TYPE
from tests.browser.cells import AFFINE, LOOP, STEP


def reopen(notebook, lab, open_page):
    """Opens the saved notebook in a new page without a kernel, as a colleague would."""
    page = open_page()
    lab.stop_kernels()
    page.route("**/api/sessions*", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.goto(f"{lab.url}/lab/tree/{notebook.name}?reset")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    # JupyterLab asks for another kernel, or says that it could not start one, or both; the second comes when it likes.
    accept = page.locator(".jp-Dialog .jp-mod-accept").first
    accept.wait_for()
    page.add_locator_handler(accept, lambda: accept.click(), no_wait_after=True)
    return page


def test_the_call_is_drawn_and_a_click_tells_about_an_operation(notebook):
    opened = notebook(AFFINE)
    graph = opened.explore(0)
    assert graph.labels == ["w", "b", "x", "matmul", "add", "tanh", "result"]
    assert graph.colours() > 20
    expect(graph.root.locator(".jv-bar")).to_contain_text("affine")
    expect(graph.root.locator(".jv-stage.jv-on")).to_have_text("jaxpr 3")
    opened.shot("cell-affine")
    graph.click("matmul")
    expect(graph.pane).to_be_visible()
    expect(graph.pane).to_contain_text("f32[4]")
    expect(graph.pane).to_contain_text("16 B")
    expect(graph.pane).to_contain_text("line 4, In [1]")
    expect(graph.pane).to_contain_text("return jnp.tanh(w @ x + b)")
    expect(graph.pane).to_contain_text("dimension_numbers")
    # Terms on one line each, beside what they tell: notebooks have rules of their own for lists.
    term = graph.pane.locator("dt", has_text="read by").bounding_box()
    told = graph.pane.locator("dd", has_text="jnp.tanh").bounding_box()
    assert term is not None
    assert told is not None
    assert term["height"] < 25
    assert told["width"] > 120
    opened.shot("cell-affine-selected")
    graph.pane.get_by_role("button", name="Go to add", exact=True).click()
    expect(graph.pane.locator("h4")).to_have_text("add")
    graph.page.keyboard.press("Escape")
    expect(graph.pane).to_be_hidden()
    # Of nothing any more it lets go of the keys: they are the cell's again, to be written in.
    expect(graph.stage).to_be_focused()
    graph.page.keyboard.press("Escape")
    cell = graph.page.locator(".jp-Notebook .jp-CodeCell").first
    expect(cell.locator(".cm-content")).to_be_focused()
    # And so they are for whoever clicks beside the picture: letters are commands to the cell.
    graph.click("tanh")
    expect(graph.stage).to_be_focused()
    cell.locator(".jp-InputArea-prompt").click()
    expect(cell).to_be_focused()


@pytest.mark.oldest_lab
def test_a_region_opens_and_closes_in_place(notebook):
    opened = notebook(LOOP)
    graph = opened.explore(0)
    graph.wait_for_box("sin")
    opened.shot("cell-loop")
    before = graph.place("scan(cell)")
    graph.double_click("scan(cell)")
    graph.wait_without_box("sin")
    graph.settle()
    after = graph.place("scan(cell)")
    assert abs(before["y"] - after["y"]) < 2
    assert "scan(cell)" in graph.labels
    expect(graph.pane).to_contain_text("3 operations")
    graph.double_click("scan(cell)")
    graph.wait_for_box("sin")


@pytest.mark.parametrize("pause", [120, 400])
def test_a_double_click_at_the_speed_of_a_hand_opens_what_it_began_on(notebook, pause):
    graph = notebook(LOOP).explore(0)
    before = graph.place("scan(cell)")
    graph.click("scan(cell)")
    expect(graph.pane).to_be_visible()
    graph.page.wait_for_timeout(700)
    assert graph.place("scan(cell)") == before
    graph.page.keyboard.press("Escape")
    graph.slow_double_click("scan(cell)", pause)
    graph.wait_without_box("sin")
    graph.settle()
    graph.slow_double_click("scan(cell)", pause)
    graph.wait_for_box("sin")


@pytest.mark.parametrize("front_end", ["lab/tree", "notebooks"])
def test_keys_typed_into_the_graph_do_not_reach_the_notebook(notebook, front_end):
    opened = notebook(AFFINE, "1 + 1", front_end=front_end)
    graph = opened.explore(0)
    cells = graph.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    graph.click("add")
    for key in ("x", "d", "d", "a", "b", "m", "y", "z", "Shift+M", "Shift+Enter"):
        graph.page.keyboard.press(key)
    graph.page.wait_for_timeout(500)
    assert cells.count() == before
    expect(graph.stage).to_be_focused()
    expect(graph.pane.locator("h4")).to_have_text("add")
    # Keys with ctrl are the notebook's, and Tab is the browser's.
    opened.save()
    graph.page.keyboard.press("Tab")
    expect(graph.stage).not_to_be_focused()


def test_a_selection_is_followed_from_stage_to_stage(notebook):
    opened = notebook(AFFINE)
    graph = opened.explore(0)
    graph.click("tanh")
    expect(graph.pane).to_contain_text("alive")
    expect(graph.pane).to_contain_text("in StableHLO")
    graph.root.get_by_role("button", name="HLO:", exact=False).last.click()
    expect(graph.root.locator(".jv-stage.jv-on")).to_contain_text("kernel")
    expect(graph.pane).to_contain_text("in jaxpr")
    opened.shot("stage-hlo")
    graph.page.keyboard.press("2")
    expect(graph.root.locator(".jv-stage.jv-on")).to_have_text("jaxpr 3")
    expect(graph.pane.locator("h4")).to_have_text("tanh")


def test_lines_of_the_source_and_boxes_light_each_other(notebook):
    opened = notebook(AFFINE)
    graph = opened.explore(0)
    graph.stage.focus()
    graph.page.keyboard.press("1")
    pane = graph.root.locator(".jv-source-pane")
    expect(pane).to_contain_text("return jnp.tanh(w @ x + b)")
    graph.click("tanh")
    expect(pane.locator(".jv-marked")).to_contain_text("jnp.tanh")
    opened.shot("source-pane")
    pane.locator("button.jv-line").first.click()
    expect(graph.pane).to_be_hidden()
    expect(pane.locator(".jv-marked")).to_contain_text("jnp.tanh")


DEAD = """
import jax.numpy as jnp
%load_ext jaxviz

def settle(x):
    kept = jnp.sin(x)
    for _ in range(1000):
        x = x * 1.01 + 0.1
    return kept

%jaxviz settle(jnp.ones(4))
"""


def test_a_useless_loop_is_one_stack_of_ghosts(notebook):
    opened = notebook(DEAD)
    graph = opened.explore(0)
    opened.shot("dead-loop")
    assert len(graph.labels) <= 7
    graph.click("multiply")
    expect(graph.pane).to_contain_text("gone")
    expect(graph.pane).to_contain_text("no result needs it")


def test_all_of_it_works_with_keys_alone(notebook):
    graph = notebook(LOOP).explore(0)
    graph.stage.focus()
    cells = graph.page.locator(".jp-Notebook .jp-Cell").count()
    graph.page.keyboard.press("ArrowDown")
    expect(graph.pane.locator("h4")).to_have_text("x")
    graph.page.keyboard.press("ArrowDown")
    expect(graph.pane.locator("h4")).to_have_text("cos")
    selected = graph.root.locator(".jv-tree [aria-selected='true']")
    expect(selected).to_have_text("cos, reads x")
    assert graph.stage.get_attribute("aria-activedescendant") == selected.get_attribute("id")
    graph.page.keyboard.press("ArrowDown")
    graph.page.keyboard.press("Backspace")
    graph.wait_without_box("sin")
    graph.page.keyboard.press("Enter")
    graph.wait_for_box("sin")
    graph.page.keyboard.press("x")
    graph.wait_without_box("sin")
    graph.page.keyboard.press("e")
    graph.wait_for_box("sin")
    graph.page.keyboard.press("?")
    expect(graph.root.get_by_role("dialog", name="Keys and marks")).to_be_visible()
    graph.page.keyboard.press("Escape")
    expect(graph.root.get_by_role("dialog", name="Keys and marks")).to_be_hidden()
    # None of these keys reached the notebook, where they would have moved or made cells.
    assert graph.page.locator(".jp-Notebook .jp-Cell").count() == cells


def test_pan_zoom_and_fit(notebook):
    graph = notebook(AFFINE).explore(0)
    start = graph.place("add")
    box = graph.stage.bounding_box()
    assert box is not None
    graph.page.mouse.move(box["x"] + 20, box["y"] + 20)
    graph.page.mouse.down()
    graph.page.mouse.move(box["x"] + 70, box["y"] + 50, steps=4)
    graph.page.mouse.up()
    moved = graph.place("add")
    assert (round(moved["x"] - start["x"]), round(moved["y"] - start["y"])) == (50, 30)
    graph.page.mouse.move(box["x"] + moved["x"], box["y"] + moved["y"])
    graph.page.keyboard.down("Control")
    graph.page.mouse.wheel(0, -200)
    graph.page.keyboard.up("Control")
    zoomed, other = graph.place("add"), graph.place("tanh")
    assert abs(zoomed["x"] - moved["x"]) < 2
    assert other["y"] - zoomed["y"] > 1.5 * 30
    graph.stage.focus()
    graph.page.keyboard.press("f")
    assert graph.place("add") == start


def test_the_wheel_scrolls_the_notebook_until_the_picture_is_used(notebook):
    opened = notebook(AFFINE, *["x = 1"] * 30)
    graph = opened.explore(0)
    box = graph.stage.bounding_box()
    assert box is not None
    before = graph.place("add")
    graph.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    graph.page.mouse.wheel(0, 120)
    graph.page.wait_for_function(
        "([stage, y]) => stage.getBoundingClientRect().y < y - 60", arg=[graph.stage.element_handle(), box["y"]]
    )
    assert graph.place("add") == before


def test_the_whole_window_and_back(notebook):
    opened = notebook(STEP)
    graph = opened.explore(0)
    opened.shot("cell-step")
    graph.root.get_by_role("button", name="Use the whole window").click()
    whole = opened.page.locator("body > .jv-root")
    expect(whole).to_be_visible()
    assert whole.bounding_box() == {"x": 0, "y": 0, "width": 1280, "height": 800}
    opened.page.wait_for_timeout(400)
    opened.shot("window-step")
    opened.page.keyboard.press("Escape")
    expect(opened.page.locator(".jp-OutputArea .jv-root")).to_be_visible()
    expect(opened.page.locator("body > .jv-root")).to_have_count(0)


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)], ids=["small", "large"])
def test_dark_theme(notebook, size):
    opened = notebook(LOOP, theme="Dark", size=size)
    graph = opened.explore(0)
    expect(graph.root).to_have_attribute("data-theme", "dark")
    graph.click("sin")
    graph.settle()
    opened.shot(f"cell-loop-dark-{size[0]}")
    pixel = graph.root.locator(".jv-canvas").evaluate(
        "canvas => [...canvas.getContext('2d').getImageData(2, 2, 1, 1).data]"
    )
    assert max(pixel[:3]) < 60


def test_reopened_without_a_kernel_and_without_trust(notebook, lab, open_page):
    opened = notebook(LOOP)
    opened.explore(0)
    opened.save()
    opened.page.close()
    # As if it came from somebody else: the signature of its outputs is unknown here.
    saved = nbformat.read(opened.path, as_version=4)
    saved.metadata["from"] = "elsewhere"
    nbformat.write(saved, opened.path)
    page = reopen(opened, lab, open_page)
    graph = type(opened).graph_of(page.locator(".jv-root"))
    graph.wait_for_box("sin")
    assert graph.colours() > 20
    graph.double_click("scan(cell)")
    graph.wait_without_box("sin")
    graph.click("cos")
    expect(graph.pane).to_contain_text("return jax.lax.scan(cell, jnp.cos(x), None, length=32)")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"version": 99}, "pip install --upgrade jupyterlab-jaxviz"),
        ({"packed": "AAAA"}, "This jaxviz document is damaged"),
    ],
    ids=["newer", "corrupted"],
)
def test_a_document_that_cannot_be_shown_is_one_line_and_nothing_else_changes(notebook, lab, open_page, damage, words):
    opened = notebook(AFFINE, "print('still here')")
    opened.explore(0)
    opened.run(1)
    opened.save()
    opened.page.close()
    saved = nbformat.read(opened.path, as_version=4)
    data = saved.cells[0].outputs[0].data
    data[MIME_TYPE] = {"format": "jaxviz", "version": 1, "packed": "", **damage}
    nbformat.write(saved, opened.path)
    page = reopen(opened, lab, open_page)
    line = page.locator(".jv-error")
    expect(line).to_contain_text(words)
    box = line.bounding_box()
    assert box is not None
    assert box["height"] < 60
    expect(page.locator(".jp-OutputArea", has_text="still here")).to_be_visible()
    assert "print('still here')" in page.locator(".jp-Notebook .jp-CodeCell").nth(1).inner_text()


def test_a_usage_error_is_one_line(notebook):
    output = notebook("%load_ext jaxviz\n%jaxviz 3").run(0)
    expect(output).to_have_text(
        "UsageError: %jaxviz wants a call, and '3' is none: write a call, such as %jaxviz step(params, x)."
    )


def test_notebook_7(notebook):
    opened = notebook(LOOP, front_end="notebooks")
    graph = opened.explore(0)
    graph.wait_for_box("sin")
    assert graph.colours() > 20
    graph.double_click("scan(cell)")
    graph.wait_without_box("sin")
    graph.click("cos")
    expect(graph.pane).to_contain_text("cos")
    graph.settle()
    opened.shot("notebook7-loop")


@pytest.mark.oldest_lab
def test_a_saved_document_opens_as_a_file(notebook, lab, open_page):
    opened = notebook(LOOP.replace("%jaxviz loop", "%jaxviz --save loop.jaxviz loop"))
    opened.explore(0)
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/loop.jaxviz?reset")
    graph = type(opened).graph_of(page.locator(".jp-MimeDocument .jv-root"))
    graph.wait_for_box("sin")
    assert graph.colours() > 20
    box = graph.root.bounding_box()
    assert box is not None
    assert box["height"] > 500


def test_a_file_that_is_no_document_says_so_in_its_place(lab, open_page):
    (lab.folder / "no-text.jaxviz").write_bytes(bytes(range(256)))
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/no-text.jaxviz?reset")
    fault = page.locator(".jp-MimeDocument .jv-error")
    expect(fault.locator("strong")).to_have_text("This document cannot be shown")
    expect(fault.locator(".jv-error-why")).to_have_text(
        "no-text.jaxviz: This is no jaxviz document, or a damaged one: it has bytes that are no text."
    )
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def test_a_file_takes_the_keys_when_it_is_opened_and_when_it_is_shown_again(lab, open_page, graph_of):
    jv.explore(jnp.sin, jnp.ones(4)).document().save(lab.folder / "keys.jaxviz")
    page = open_page()
    page.goto(f"{lab.url}/lab?reset")
    page.locator(".jp-DirListing-item", has_text="keys.jaxviz").dblclick()
    graph = graph_of(page.locator(".jp-MimeDocument .jv-root"))
    expect(graph.stage).to_be_focused()
    page.keyboard.press("?")
    expect(graph.root.locator(".jv-help")).to_be_visible()
    page.keyboard.press("Escape")
    tabs = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab")
    tabs.filter(has_text="Launcher").click()
    expect(graph.stage).to_be_hidden()
    tabs.filter(has_text="keys.jaxviz").click()
    expect(graph.stage).to_be_focused()
    page.keyboard.press("/")
    expect(graph.root.get_by_role("searchbox")).to_be_focused()


def test_nothing_of_the_bar_is_cut_off_where_it_is_narrow(notebook):
    opened = notebook(LOOP, size=(700, 600))
    graph = opened.explore(0)
    graph.root.evaluate("root => root.style.width = '230px'")
    graph.settle()
    bar = graph.root.locator(".jv-bar").bounding_box()
    assert bar is not None
    for part in graph.root.locator(".jv-bar > :visible").all():
        box = part.bounding_box()
        assert box is not None
        assert box["x"] >= bar["x"]
        assert box["x"] + box["width"] <= bar["x"] + bar["width"]
        assert box["y"] + box["height"] <= bar["y"] + bar["height"]
    opened.shot("cell-narrow", graph.root)
    graph.click("cos")
    expect(graph.pane).to_be_visible()
    opened.shot("cell-narrow-selected", graph.root)


def test_a_file_that_is_cut_off_says_where_and_what_was_expected(lab, open_page):
    (lab.folder / "cut.jaxviz").write_text('{"format": "jaxviz",\n "version": 1, "packed": "eJy')
    page = open_page()
    page.goto(f"{lab.url}/lab/tree/cut.jaxviz?reset")
    expect(page.locator(".jp-MimeDocument .jv-error-why")).to_have_text(
        "cut.jaxviz: line 2, column 30: expected the quote that ends the text begun at line 2, column 26, "
        "but the file ends there."
    )
    expect(page.locator(".jp-Dialog", has_text="Renderer Failure")).to_have_count(0)


def test_the_help_stands_where_a_tall_picture_is_in_sight(notebook):
    opened = notebook(AFFINE.replace("%jaxviz ", "%jaxviz --height 1500 "))
    graph = opened.explore(0)
    graph.stage.evaluate("""stage => {
      const window = stage.closest('.jp-WindowedPanel-outer');
      window.scrollTop += stage.getBoundingClientRect().bottom - 700;
    }""")
    graph.stage.evaluate("stage => stage.focus({ preventScroll: true })")
    opened.page.keyboard.press("?")
    close = graph.root.locator(".jv-help").get_by_role("button", name="Close (Escape)")
    expect(close).to_be_in_viewport()
    opened.page.keyboard.press("?")
    expect(close).to_be_hidden()


def test_an_output_out_of_sight_holds_no_pixels_and_no_worker(notebook):
    opened = notebook(AFFINE, *["x = 1"] * 60)
    graph = opened.explore(0)
    assert graph.colours() > 20
    opened.page.locator(".jp-Notebook .jp-CodeCell").last.scroll_into_view_if_needed()
    canvases = "[...document.querySelectorAll('.jv-root canvas')]"
    graph.page.wait_for_function(f"{canvases}.every(canvas => canvas.width * canvas.height === 0)")
    deadline = time.monotonic() + 60
    while opened.page.workers:
        assert time.monotonic() < deadline, "its worker goes on"
        opened.page.wait_for_timeout(100)
    opened.page.locator(".jp-Notebook .jp-CodeCell").first.scroll_into_view_if_needed()
    assert graph.colours() > 20


def test_the_static_picture_is_in_the_notebook(notebook):
    opened = notebook(AFFINE)
    opened.explore(0)
    opened.save()
    data = json.loads(opened.path.read_text("utf-8"))["cells"][0]["outputs"][0]["data"]
    assert "\n<svg" in "".join(data["image/svg+xml"])
    assert "3 equations" in "".join(data["text/plain"])


def test_an_output_that_is_collapsed_says_what_it_shows(notebook):
    opened = notebook(AFFINE)
    opened.explore(0)
    page = opened.page
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^View$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Collapse All Outputs$")).click()
    said = re.compile(r"^<!-- jaxviz affine\(.*\): 3 equations")
    expect(page.locator(".jp-OutputPlaceholder")).to_have_text(said)
