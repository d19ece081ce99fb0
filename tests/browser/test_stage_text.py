"""The text of a stage beside its picture, used with the mouse and the keys."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
from playwright.sync_api import expect

import jaxviz as jv

HLO = """\
HloModule opened

ENTRY %main (x: f32[64]) -> f32[64] {
  %x = f32[64]{0} parameter(0)
  %sine.1 = f32[64]{0} sine(%x)
  ROOT %add.2 = f32[64]{0} add(%sine.1, %x)
}
"""


def deep(x):
    for _ in range(300):
        x = jnp.sin(x) * 1.1
    return jax.lax.fori_loop(0, 9, lambda i, c: jnp.tanh(c) + i, x)


def page_of(open_page, graph_of, explored, tmp_path):
    path = tmp_path / "page.html"
    explored.to_html(path)
    page = open_page(bypass_csp=True, permissions=["clipboard-read", "clipboard-write"])
    page.goto(path.as_uri())
    return graph_of(page.locator("#jv-page .jv-root"))


def line(graph, text):
    return graph.root.locator(".jv-text-line", has_text=re.compile(text)).first


def test_the_text_of_a_stage_is_linked_with_its_picture_and_copied(open_page, graph_of, tmp_path):
    graph = page_of(open_page, graph_of, jv.explore(deep, jnp.ones(8)), tmp_path)
    page, text = graph.page, graph.root.locator(".jv-text")
    page.keyboard.press("t")
    expect(text.locator(".jv-text-line").first).to_contain_text("{ lambda ; a:f32[8]. let")
    assert text.locator(".jv-text-line").count() < 120, "only the lines in view are there"

    # What is chosen in the one is marked in the other, and brought into view there.
    graph.click("tanh")
    expect(line(graph, "= tanh")).to_have_class(re.compile("jv-marked"))
    expect(line(graph, "= tanh")).to_be_in_viewport()
    line(graph, "= add").click(position={"x": 60, "y": 9})
    expect(graph.pane.locator("h4")).to_have_text("add")
    page.keyboard.press("Escape")

    # A name leads to where it is made, and back.
    text.evaluate("text => { text.scrollTop = text.scrollHeight }")
    result = line(graph, r"in \(\w+,\) }$")
    result.locator(".jv-text-name").click()
    expect(text.locator(".jv-arrived")).to_contain_text("= scan")
    expect(graph.pane.locator("h4")).to_have_text("fori_loop")
    page.keyboard.press("Backspace")
    expect(result).to_have_class(re.compile("jv-arrived"))
    page.keyboard.press("Escape")

    # From line to line with the keys, and to the end.
    text.focus()
    page.keyboard.press("End")
    expect(line(graph, r"in \(\w+,\) }$")).to_have_class(re.compile("jv-at"))
    page.keyboard.press("Home")

    # A selection of more text than is there at once is copied whole.
    first = text.locator(".jv-text-line code").first
    first.evaluate("code => getSelection().setPosition(code.firstChild, 2)")
    text.evaluate("text => { text.scrollTop = 300 * 18 }")
    last = text.locator("[data-line='300'] code")
    last.evaluate("code => getSelection().extend(code.lastChild, code.lastChild.length)")
    text.evaluate("text => { text.scrollTop = 900 }")
    page.wait_for_timeout(100)
    page.keyboard.press("Control+c")
    copied = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert len(copied) == 301
    assert copied[0].startswith("lambda ;")
    assert re.fullmatch(r"    \w+:f32\[8\] = (sin|mul) .*", copied[150])

    # The other stages are read in their own syntax, and all of a text is copied by its button.
    page.evaluate("getSelection().empty()")
    graph.stage.focus()
    page.keyboard.press("5")
    expect(line(graph, "^ *[0-9]+ENTRY %main")).to_be_in_viewport()
    graph.root.get_by_role("button", name="Copy all of this text").click()
    expect(graph.root.get_by_role("button", name="Copy all of this text")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("HloModule ")


def test_a_file_without_python_is_read_as_text(open_page, graph_of, tmp_path):
    path = tmp_path / "opened.hlo"
    path.write_text(HLO)
    graph = page_of(open_page, graph_of, jv.open(path), tmp_path)
    graph.page.keyboard.press("1")
    expect(line(graph, "ROOT %add.2 = ")).to_contain_text("ROOT %add.2 = f32[64] add(%sine.1, %x)")
