"""The side panel fills by itself, says why, opens, renames, pins, saves, deletes, and outlives reloads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.panel import (
    SETUP,
    TAB,
    WATCHED,
    begin,
    choose,
    load_again,
    programs,
    show_panel,
    until,
    wait_for_picture,
)

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"


def faults(panel: Locator) -> list[str]:
    """What axe-core calls serious or critical, in one line each."""
    panel.page.add_script_tag(path=AXE)
    found = panel.evaluate("panel => axe.run(panel, { resultTypes: ['violations'] })")
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


def test_the_panel_fills_while_cells_run_and_says_why(notebook):
    book = notebook(SETUP, WATCHED, "step(jnp.ones(5))", "jax.jit(lambda params, x: x + 1)({}, jnp.ones(3))")
    panel = show_panel(book.page)
    expect(panel).to_contain_text("No programs yet")
    # Whoever listens to the page finds it among its parts.
    expect(book.page.get_by_role("region", name="JAX programs")).to_be_visible()
    book.run(0)
    book.run(1)
    expect(programs(panel)).to_have_count(2)
    # The latest is at the top.
    expect(programs(panel).nth(0)).to_contain_text("step(f32[4])")
    expect(programs(panel).nth(0)).to_contain_text("the shape of x was [4], before [3]")
    expect(programs(panel).nth(0).locator(".jv-entry-differs")).to_have_text("4")
    expect(programs(panel).nth(0)).to_contain_text("watched")
    expect(programs(panel).nth(1)).to_contain_text("compiled for the first time")
    expect(panel.locator(".jv-panel-function-name")).to_have_text("step")
    # Where it was defined is read in full beside how many there are, in a panel as narrow as it is at first.
    place = panel.locator(".jv-panel-function-head .jv-panel-quiet")
    expect(place).to_have_text(re.compile(r"In \[\d+\], line \d+"))
    assert place.evaluate("place => place.scrollWidth <= place.clientWidth")
    book.run(2)
    expect(programs(panel)).to_have_count(3)
    # Nobody asked to watch this one: it comes because somebody looks.
    book.run(3)
    expect(programs(panel)).to_have_count(4)
    expect(programs(panel).nth(0)).to_contain_text("compiled · just now")
    book.shot("programs-light")


@pytest.mark.oldest_lab
def test_a_program_opens_in_a_tab_of_its_own(notebook):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    panel.get_by_role("button", name="Open step(f32[4])").click()
    root = wait_for_picture(book.page, ".jv-tab")
    assert "sin" in root.evaluate("root => root.explorer.labels")
    tab = book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tabLabel", has_text="step(f32[4])")
    expect(tab).to_be_visible()
    # Keys are meant for the picture.
    book.page.keyboard.press("?")
    expect(root.locator(".jv-help")).to_be_visible()
    # Whoever opens it again is led to the tab that it is in.
    book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=book.name).click()
    expect(root).to_be_hidden()
    panel.get_by_role("button", name="Open step(f32[4])").dblclick()
    expect(root).to_be_visible()
    expect(tab).to_have_count(1)


def test_a_tab_shows_the_program_as_it_was_made_last_and_as_it_was_seen(notebook):
    cell = "def f(x):\n    return jnp.exp(jnp.{}(x))\n%jaxviz f(jnp.ones(3))"
    book = notebook(SETUP, cell.format("sin"))
    book.run(0)
    book.explore(1)
    panel = show_panel(book.page)
    opened = panel.get_by_role("button", name="Open f(jnp.ones(3))")
    opened.click()
    wait_for_picture(book.page, ".jv-tab")
    shown = book.graph_of(book.page.locator(".jv-tab .jv-root:not(.jv-coming)"))
    shown.click("exp")
    book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=book.name).click()
    book.write(1, cell.format("cos"))
    book.explore(1)
    expect(programs(panel)).to_have_count(1)
    opened.click()
    book.page.wait_for_function(
        "() => document.querySelector('.jv-tab .jv-root:not(.jv-coming)').explorer.labels.includes('cos')"
    )
    assert "sin" not in shown.labels
    expect(shown.pane.locator("h4")).to_have_text("exp")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_explored_and_recorded_programs_are_listed_too(notebook, theme):
    leak = """%%jaxviz
def outer(x):
    return jax.jit(lambda y: y * 3)(x)
for _ in range(2):
    outer(jnp.ones(3))"""
    book = notebook(SETUP, "%jaxviz jnp.tanh(jnp.ones(3))", leak, theme=theme)
    panel = show_panel(book.page)
    for number in range(3):
        book.run(number)
    expect(programs(panel)).to_have_count(3)
    expect(panel).to_contain_text("you explored it")
    again = programs(panel).filter(has_text="new function object")
    expect(again).to_have_count(1)
    expect(again).to_contain_text("Make and jit this lambda once")
    book.shot(f"programs-recorded-{theme.lower()}")
    assert faults(panel) == []


def test_the_list_is_there_after_the_page_is_loaded_again(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(book.page, ".jv-tab")
    load_again(book.page, lab, f'"current": "jaxviz-programs:{book.name}')
    # The tab comes back by itself, from the kernel.
    wait_for_picture(book.page, ".jv-tab")
    expect(programs(book.page.locator(".jv-panel"))).to_have_count(2)


def test_the_panel_stays_open_when_the_page_is_loaded_again(notebook, lab):
    book = notebook("1 + 1")
    show_panel(book.page)
    load_again(book.page, lab)
    expect(book.page.locator(".jv-panel")).to_contain_text("No programs yet")


def test_programs_are_renamed_saved_and_deleted(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel, page = show_panel(book.page), book.page
    first = programs(panel).filter(has_text="step(f32[3])")
    choose(page, first, "Rename")
    page.locator(".jp-Dialog input").fill("the small one")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(panel.get_by_role("button", name="Open step(f32[3])")).to_have_text("the small one")

    choose(page, first, "Save As")
    expect(page.locator(".jp-Dialog input")).to_have_value("the-small-one.jaxviz")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.get_by_text("Saved as the-small-one.jaxviz").first.wait_for()
    saved = json.loads((lab.folder / "the-small-one.jaxviz").read_text())
    assert saved["format"] == "jaxviz"

    choose(page, first, "Delete")
    expect(programs(panel)).to_have_count(1)
    expect(programs(panel)).to_contain_text("step(f32[4])")


def test_what_waits_for_a_cell_is_said_and_done_after_it(notebook, lab):
    book = notebook(SETUP, WATCHED, until(lab.folder / "done waiting"))
    book.run(0)
    book.run(1)
    panel, page = show_panel(book.page), book.page
    begin(book, 2)
    three, waiting = programs(panel).filter(has_text="step(f32[3])"), panel.locator(".jv-panel-waiting")
    choose(page, three, "Pin")
    expect(waiting).to_have_text(f"{book.name} runs a cell. After it: pin step(f32[3])")
    choose(page, three, "Save As")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(waiting).to_contain_text("save step.jaxviz")
    panel.get_by_role("button", name="Open step(f32[4])").click()
    expect(page.locator(".jv-opening-words")).to_have_text("The kernel is busy with a cell: this comes after it.")
    book.shot("programs-waiting")
    (lab.folder / "done waiting").touch()
    wait_for_picture(page, ".jv-tab")
    expect(panel.locator(".jv-panel-pin")).to_have_text("pinned")
    page.get_by_text("Saved as step.jaxviz").first.wait_for()
    expect(waiting).to_be_hidden()


def test_what_a_kernel_tells_after_its_cell_is_said_when_the_page_is_loaded_meanwhile(notebook, lab):
    book = notebook(SETUP, WATCHED, until(lab.folder / "done loading"))
    book.run(0)
    book.run(1)
    panel, page = show_panel(book.page), book.page
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(page, ".jv-tab")
    page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=book.name).click()
    begin(book, 2)
    load_again(page, lab, f"jaxviz-programs:{book.name}")
    expect(panel.locator(".jv-panel-waiting")).to_have_text(
        f"{book.name} runs a cell. After it: the list of its programs"
    )
    expect(panel).not_to_contain_text("No programs yet")
    page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text="step(f32[3])").click()
    expect(page.locator(".jv-opening-words")).to_have_text("The kernel is busy with a cell: this comes after it.")
    book.shot("programs-loaded-meanwhile")
    (lab.folder / "done loading").touch()
    expect(programs(panel)).to_have_count(2)
    expect(panel.locator(".jv-panel-waiting")).to_be_hidden()
    wait_for_picture(page, ".jv-tab")


def test_the_list_is_used_with_keys_alone(notebook):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel, keys = show_panel(book.page), book.page.keyboard
    four, three = (panel.get_by_role("button", name=f"Open step(f32[{size}])") for size in (4, 3))
    four.focus()
    keys.press("F2")
    expect(book.page.locator(".jp-Dialog input")).to_be_focused()
    keys.type("wide")
    keys.press("Enter")
    expect(four).to_have_text("wide")
    expect(four).to_be_focused()
    # The menu of its context leads back to where it was opened.
    keys.press("Shift+F10")
    expect(book.page.locator(".lm-Menu-itemLabel", has_text="Pin")).to_be_visible()
    keys.press("Escape")
    expect(four).to_be_focused()
    keys.press("ArrowDown")
    expect(three).to_be_focused()
    keys.press("ArrowUp")
    # What comes in the place of a program that is deleted has the focus then.
    keys.press("Delete")
    expect(programs(panel)).to_have_count(1)
    expect(three).to_be_focused()
    # The functions and kernels above it are folded as those of a tree are.
    function, kernel = (panel.locator(f".jv-panel-{what}-head") for what in ("function", "kernel"))
    keys.press("ArrowLeft")
    expect(function).to_be_focused()
    keys.press("ArrowLeft")
    expect(three).to_be_hidden()
    keys.press("ArrowLeft")
    expect(kernel).to_be_focused()
    keys.press("End")
    expect(function).to_be_focused()
    keys.press("ArrowRight")
    expect(three).to_be_visible()
    keys.press("ArrowRight")
    expect(three).to_be_focused()
    keys.press("Home")
    expect(kernel).to_be_focused()
    keys.press("End")
    keys.press("Enter")
    wait_for_picture(book.page, ".jv-tab")


def test_a_program_is_chosen_and_opened_anywhere_on_its_row(notebook):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    row = programs(panel).filter(has_text="step(f32[3])")
    row.get_by_text("compiled for the first time").click()
    expect(panel.get_by_role("button", name="Open step(f32[3])")).to_be_focused()
    row.get_by_text("watched").dblclick()
    wait_for_picture(book.page, ".jv-tab")
    expect(book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tabLabel", has_text="step(f32[3])")).to_be_visible()


def test_two_programs_are_compared_also_after_the_page_is_loaded_again(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    choose(book.page, programs(panel).nth(0), "Select for Comparison")
    # What is put aside is said, and the others offer to be compared with it.
    aside = panel.locator(".jv-panel-compared")
    expect(aside).to_contain_text("step(f32[4])")
    expect(panel.locator(".jv-entry-aside")).to_have_count(1)
    aside.get_by_role("button", name="Compare nothing").click()
    expect(aside).to_be_hidden()
    choose(book.page, programs(panel).nth(0), "Select for Comparison")
    programs(panel).get_by_role("button", name="Compare with").click()
    expect(aside).to_be_hidden()
    wait_for_picture(book.page, ".jv-tab")
    tab = book.page.locator(".lm-TabBar-tabLabel", has_text="step(f32[4]) ↔ step(f32[3])")
    expect(tab).to_be_visible()
    load_again(book.page, lab, f'"current": "jaxviz-programs:{book.name}')
    expect(tab).to_be_visible()
    expect(wait_for_picture(book.page, ".jv-tab").locator(".jv-pane-head")).to_have_count(2)


def test_a_line_of_the_source_leads_to_its_cell_also_when_the_notebook_is_renamed(notebook):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    panel.get_by_role("button", name="Open step(f32[4])").click()
    root = wait_for_picture(book.page, ".jv-tab")
    # A notebook that is renamed takes its programs and its tabs along.
    own = book.page.locator(".lm-TabBar-tab", has_text=book.name)
    own.click()
    own.click(button="right")
    book.page.locator(".lm-Menu-itemLabel", has_text="Rename Notebook").click()
    book.page.locator(".jp-Dialog input").fill(f"other-{book.name}")
    book.page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(panel.locator(".jv-panel-kernel-name")).to_have_text(f"other-{book.name}")
    expect(panel.locator(".jv-panel-kernel")).to_have_class(re.compile("jv-active"))
    book.page.locator(".lm-TabBar-tab", has_text="step(f32[4])").click()
    link = root.locator(".jv-line-link", has_text=re.compile("^4$"))
    link.click()
    cell = book.page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    expect(cell).to_have_class(re.compile("jp-mod-active"))
    expect(cell.locator(".cm-editor")).to_have_class(re.compile("cm-focused"))
    # Also after it was changed there.
    book.page.keyboard.press("Control+Home")
    book.page.keyboard.type("# it doubles\n")
    book.page.locator(".lm-TabBar-tab", has_text="step(f32[4])").click()
    link.click()
    expect(book.page.get_by_text("Ln 5, Col 1")).to_be_visible()
    expect(cell.locator(".cm-editor")).to_have_class(re.compile("cm-focused"))
    book.page.keyboard.press("Control+a")
    book.page.keyboard.type("1 + 1")
    book.page.locator(".lm-TabBar-tab", has_text="step(f32[4])").click()
    link.click()
    expect(book.page.get_by_text("In [2] was changed since: it no longer has this line.").first).to_be_visible()
    expect(cell.locator(".cm-editor")).to_have_class(re.compile("cm-focused"))
    for key in ("Escape", "d", "d"):
        book.page.keyboard.press(key)
    expect(book.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1)
    book.page.locator(".lm-TabBar-tab", has_text="step(f32[4])").click()
    link.click()
    expect(book.page.get_by_text("In [2] is no longer in this notebook.").first).to_be_visible()


def test_a_line_of_the_source_leads_into_a_long_file_that_is_not_open(notebook, lab):
    text = "import jax.numpy as jnp\n" + "# nothing\n" * 400 + "def far(x):\n    return jnp.sin(x)\n"
    (lab.folder / "far.py").write_text(text)
    book = notebook("%load_ext jaxviz\nimport far\nimport jax.numpy as jnp\n%jaxviz far.far(jnp.ones(4))")
    graph = book.explore(0)
    graph.root.locator(".jv-stage", has_text="Python").click()
    graph.root.locator(".jv-line-link", has_text="403").click()
    expect(book.page.get_by_text("Ln 403, Col 1")).to_be_visible()
    expect(book.page.locator(".jp-FileEditor .cm-line", has_text="return jnp.sin(x)")).to_be_in_viewport()


def test_nothing_of_the_panel_is_loaded_until_it_is_shown(notebook):
    book = notebook("1 + 1")
    book.run(0)
    expect(book.page.locator(TAB)).to_have_count(1)
    assert book.page.locator(".jv-panel").count() == 0


def test_settings_choose_what_is_shown_first_and_how(notebook, lab):
    book = notebook(SETUP, "%jaxviz jnp.tanh(jnp.ones(3))")
    url = f"{lab.url}/lab/api/settings/jupyterlab-jaxviz:settings"
    try:
        chosen = {"stage": "hlo", "colour": "size", "height": 300, "largest": 0.0001}
        assert book.page.request.put(url, data={"raw": json.dumps(chosen)}).ok
        book.page.reload()
        book.page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        # Before the page has found its kernel again, it asks which one is meant.
        book.page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(state="attached")
        lab.wait_for_kernel(book.name)
        book.run(0)
        output = book.run(1)
        # Every document is above this size: it is shown when that is asked for.
        output.get_by_role("button", name="Show this picture").click()
        graph = book.graph_of(output.locator(".jv-root"))
        expect(graph.root.locator(".jv-stage[aria-pressed='true']", has_text="HLO")).to_be_visible()
        expect(graph.root.get_by_label("Colour by (c)")).to_have_value("size")
        graph.settle()
        assert graph.root.locator(".jv-stages").bounding_box()["height"] == 300
    finally:
        book.page.request.put(url, data={"raw": "{}"})


def test_what_is_chosen_in_the_settings_editor_acts_at_once_but_on_what_the_person_changed(notebook, lab):
    book = notebook(SETUP, "%jaxviz jnp.tanh(jnp.ones(3))", "%jaxviz jnp.sin(jnp.ones(3))")
    book.run(0)
    first, second = book.explore(1), book.explore(2)
    second.root.locator(".jv-stage", has_text="StableHLO").click()
    book.save(lambda saved: "view" in json.dumps(saved["cells"][2]["outputs"][0]["metadata"]))
    try:
        book.page.keyboard.press("Control+,")
        book.page.locator(".jp-PluginList input").fill("JAX programs")
        stage = book.page.locator(".jp-SettingsForm select").first
        expect(stage.locator("option").first).to_have_text("jaxpr: what JAX traces")
        stage.select_option(label="HLO: what the compiler makes of it")
        book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=book.name).click()
        pressed = ".jv-stage[aria-pressed='true']"
        expect(first.root.locator(pressed)).to_contain_text("HLO 1")
        expect(second.root.locator(pressed)).to_contain_text("StableHLO")
    finally:
        book.page.request.put(f"{lab.url}/lab/api/settings/jupyterlab-jaxviz:settings", data={"raw": "{}"})


@pytest.mark.oldest_lab
def test_notebook_7_has_the_panel(notebook):
    book = notebook(SETUP, WATCHED, front_end="notebooks")
    book.run(0)
    book.run(1)
    page = book.page
    page.locator(
        ".jp-Toolbar-item[data-jp-item-name='jaxviz-programs'] button, [data-command='jaxviz:show-programs']"
    ).first.click()
    panel = page.locator(".jv-panel")
    expect(programs(panel)).to_have_count(2)
    panel.get_by_role("button", name="Open step(f32[4])").click()
    wait_for_picture(page, ".jv-tab")
    page.keyboard.press("?")
    expect(page.locator(".jv-tab .jv-help")).to_be_visible()
    page.keyboard.press("?")
    book.shot("programs-notebook-7")
    page.locator(".jv-over-close").click()
    expect(page.locator(".jv-tab")).to_have_count(0)


def test_programs_of_a_kernel_whose_notebook_is_closed_are_listed(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    book.page.goto(f"{lab.url}/lab?reset")
    panel = show_panel(book.page)
    expect(programs(panel)).to_have_count(2)
    expect(panel.locator(".jv-panel-kernel-name")).to_have_text(book.name)
    panel.get_by_role("button", name="Open step(f32[3])").click()
    root = wait_for_picture(book.page, ".jv-tab")
    # A line of its source opens the notebook.
    root.locator(".jv-line-link", has_text=re.compile("^4$")).click()
    cell = book.page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    expect(cell).to_have_class(re.compile("jp-mod-active"))
    expect(cell.locator(".cm-editor")).to_have_class(re.compile("cm-focused"))


@pytest.mark.oldest_lab
def test_the_launcher_makes_a_notebook_to_begin_with(lab, open_page):
    page = open_page()
    page.goto(f"{lab.url}/lab?reset")
    page.locator(".jp-LauncherCard", has_text="JAX exploration").first.click()
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    expect(cells).to_have_count(2)
    expect(cells.nth(1)).to_contain_text("%jaxviz jax.grad(step)")
    # It has a kernel already: nobody is asked for one.
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()
    expect(page.locator(".jp-Dialog")).to_have_count(0)


def test_the_palette_shows_the_panel(lab, open_page):
    page = open_page()
    page.goto(f"{lab.url}/lab?reset")
    page.locator(".jp-LauncherCard").first.wait_for()
    page.keyboard.press("Control+Shift+C")
    page.locator(".lm-CommandPalette-input").fill("JAX Programs")
    page.locator(".lm-CommandPalette-itemLabel", has_text=re.compile("^JAX Programs$")).first.click()
    expect(page.locator(".jv-panel")).to_contain_text("No programs yet")
