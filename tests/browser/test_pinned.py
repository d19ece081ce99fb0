"""What the panel has once a kernel was restarted, changed or shut down: it is said, and what is pinned stays."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.panel import (
    SETUP,
    WATCHED,
    change_kernel,
    choose,
    load_again,
    pin,
    programs,
    restart,
    show_panel,
    wait_for_picture,
)


def test_the_tab_of_a_program_is_not_taken_for_one_of_the_kernel_that_was_started_again(notebook, lab):
    book = notebook(SETUP, WATCHED, "%jaxviz jnp.tanh(jnp.ones(3))")
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(book.page, ".jv-tab")
    restart(lab)
    expect(panel).to_contain_text("The kernel was restarted")
    book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=book.name).click()
    book.run(0)
    book.run(2)
    expect(programs(panel)).to_contain_text("jnp.tanh")
    expect(book.page.locator(".lm-DockPanel-tabBar .lm-TabBar-tabLabel", has_text="step(f32[3])")).to_be_visible()
    panel.get_by_role("button", name="Open jnp.tanh(jnp.ones(3))").click()
    expect(book.page.locator(".jv-tab")).to_have_count(2)


def test_a_restarted_kernel_is_said_and_pinned_programs_stay(notebook):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    pin(panel, "step(f32[3])")
    choose(book.page, programs(panel).nth(0), "Select for Comparison")
    expect(panel.locator(".jv-panel-compared")).to_be_visible()
    book.page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Kernel$")).click()
    book.page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Restart Kernel…$")).click()
    book.page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(panel).to_contain_text("The kernel was restarted")
    expect(programs(panel)).to_have_count(1)
    # Its document is here: it opens without the kernel.
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(book.page, ".jv-tab")
    book.shot("programs-restarted")
    # What would take the kernel's own programs is not offered.
    expect(panel.locator(".jv-panel-compared")).to_be_hidden()
    programs(panel).get_by_role("button", name=re.compile("^More about")).click()
    off = book.page.locator(".lm-Menu-item.lm-mod-disabled .lm-Menu-itemLabel")
    expect(off).to_contain_text(["Select for Comparison", "Compare with Selected", "Unpin"])
    book.page.keyboard.press("Escape")
    # What the new kernel has comes to it.
    book.page.locator(".lm-TabBar-tab.lm-mod-closable", has_text=".ipynb").first.click()
    book.run(0)
    book.run(1)
    expect(programs(panel)).to_have_count(3)
    expect(panel).not_to_contain_text("The kernel was restarted")


def test_a_pinned_program_stays_when_the_kernel_is_restarted_and_then_the_page_loaded_again(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    pin(panel, "step(f32[3])")
    restart(lab)
    expect(panel).to_contain_text("The kernel was restarted")
    book.run(0)
    book.run(1)
    expect(programs(panel)).to_have_count(3)
    panel.get_by_role("button", name="Open step(f32[3])").last.click()
    wait_for_picture(book.page, ".jv-tab")
    load_again(book.page, lab, f'"current": "jaxviz-programs:{book.name}')
    wait_for_picture(book.page, ".jv-tab")
    expect(programs(panel)).to_have_count(3)


@pytest.mark.oldest_lab
def test_a_pinned_program_stays_when_the_page_is_loaded_again_and_then_the_kernel_restarted(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    pin(panel, "step(f32[3])")
    load_again(book.page, lab, "jaxviz-pinned:")
    expect(programs(panel)).to_have_count(2)
    restart(lab)
    expect(panel).to_contain_text("The kernel was restarted")
    expect(programs(panel)).to_have_count(1)
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(book.page, ".jv-tab")


@pytest.mark.oldest_lab
def test_pinned_programs_are_of_the_notebook_whichever_kernel_it_has_or_none(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel, page = show_panel(book.page), book.page
    pin(panel, "step(f32[3])")
    change_kernel(page, "No Kernel")
    expect(panel).to_contain_text("The notebook has no kernel now. Pinned programs stay here, and open without one.")
    expect(programs(panel)).to_have_count(1)
    expect(programs(panel)).to_contain_text("From an earlier kernel")
    book.shot("programs-no-kernel")
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(page, ".jv-tab")
    page.goto(f"{lab.url}/lab")
    panel.get_by_role("button", name="Open step(f32[3])").wait_for()
    page.goto(f"{lab.url}/lab/tree/{book.name}")
    # JupyterLab starts a kernel for it.
    expect(panel).to_contain_text("The kernel is another than before and has no programs yet.")
    expect(programs(panel)).to_have_count(1)
    book.run(0)
    book.run(1)
    expect(programs(panel)).to_have_count(3)
    expect(panel).not_to_contain_text("another than before")
    change_kernel(page, "Python 3")
    expect(panel).to_contain_text("another than before")
    expect(programs(panel)).to_have_count(1)


def test_a_kernel_that_was_restarted_past_the_page_is_said(notebook, lab):
    book = notebook(SETUP, WATCHED)
    book.run(0)
    book.run(1)
    panel = show_panel(book.page)
    expect(programs(panel)).to_have_count(2)
    restart(lab)
    expect(panel).to_contain_text("The kernel was restarted")
    expect(programs(panel)).to_have_count(0)


@pytest.mark.oldest_lab
def test_in_notebook_7_too_a_pinned_program_outlives_the_page_and_the_kernel(notebook, lab):
    book = notebook(SETUP, WATCHED, front_end="notebooks")
    book.run(0)
    book.run(1)
    page, panel = book.page, book.page.locator(".jv-panel")
    button = "[data-jp-item-name='jaxviz-programs'] button, [data-command='jaxviz:show-programs']"
    page.locator(button).locator("visible=true").first.click()
    pin(panel, "step(f32[3])")
    page.wait_for_function("Object.keys(localStorage).some(key => key.includes('jaxviz-pinned'))")
    restart(lab)
    expect(panel).to_contain_text("The kernel was restarted")
    page.reload()
    page.locator(button).locator("visible=true").first.click()
    panel.get_by_role("button", name="Open step(f32[3])").click()
    wait_for_picture(page, ".jv-tab")
