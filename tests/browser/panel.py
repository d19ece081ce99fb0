"""The side panel as a person uses it, for the tests of it."""

from __future__ import annotations

import re
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SETUP = "%load_ext jaxviz\nimport jax, jax.numpy as jnp, jaxviz as jv"
WATCHED = """@jv.watch
@jax.jit
def step(x):
    return jnp.sin(x) * 2
step(jnp.ones(3))
step(jnp.ones(4))"""
TAB = ".lm-TabBar-tab[data-id='jaxviz-programs']"


def show_panel(page: Page) -> Locator:
    page.locator(f".jp-SideBar {TAB}").click()
    panel = page.locator(".jv-panel")
    panel.wait_for()
    return panel


def programs(panel: Locator) -> Locator:
    return panel.locator(".jv-entry")


def choose(page: Page, entry: Locator, item: str) -> None:
    """An item of the context menu of a program, as its button opens it."""
    entry.get_by_role("button", name=re.compile("^More about")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{re.escape(item)}")).click()


def pin(panel: Locator, call: str) -> None:
    choose(panel.page, programs(panel).filter(has_text=call), "Pin")
    expect(panel.locator(".jv-panel-pin")).to_have_text("pinned")


def restart(lab) -> None:
    """Has the server restart the one kernel there is, past the page."""
    [session] = lab.sessions()
    url = f"{lab.url}/api/kernels/{session['kernel']['id']}/restart"
    urllib.request.urlopen(urllib.request.Request(url, method="POST")).close()


def change_kernel(page: Page, to: str) -> None:
    """Gives the notebook another kernel, or none."""
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Kernel$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Change Kernel…$")).click()
    choice = page.locator(".jp-Dialog select")
    value = choice.locator("option", has_text=to).first.get_attribute("value")
    choice.select_option(value)
    page.locator(".jp-Dialog .jp-mod-accept").click()


def load_again(page: Page, lab, *written: str) -> None:
    """Loads the page again once JupyterLab has written into its workspace that the panel is open, and what else should
    come back: it does so a while later, part by part."""
    url, deadline = f"{lab.url}/lab/api/workspaces/default", time.monotonic() + 60
    for one in (*written, '"current": "jaxviz-programs"'):
        while one not in page.request.get(url).text():
            assert time.monotonic() < deadline, f"JupyterLab did not write down {one!r}"
            page.wait_for_timeout(100)
    page.goto(f"{lab.url}/lab")


def until(file: Path) -> str:
    """A cell that runs until there is such a file."""
    return f"import pathlib, time\nwhile not pathlib.Path({str(file)!r}).exists(): time.sleep(0.05)"


def begin(book, index: int) -> None:
    """Begins with a cell that does not end by itself."""
    book.page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-editor").nth(index).click()
    book.page.keyboard.press("Control+Enter")
    expect(book.page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-prompt").nth(index)).to_have_text("[*]:")


def wait_for_picture(page: Page, where: str) -> Locator:
    root = page.locator(f"{where} .jv-root[data-boxes]")
    root.wait_for()
    return root
