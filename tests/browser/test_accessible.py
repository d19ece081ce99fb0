"""The explorer for people who use no mouse or no eyes: axe-core finds no serious fault in any state."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"

LOOP = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def loop(x):
    def cell(h, _):
        h = jnp.sin(h) * 1.01
        return h, h.sum()
    return jax.lax.scan(cell, jnp.cos(x), None, length=32)
%jaxviz loop(jnp.ones(16))"""


def faults(graph) -> list[str]:
    """What axe-core calls serious or critical, in one line each."""
    found = graph.root.evaluate("root => axe.run(root, { resultTypes: ['violations'] })")
    return [
        f"{fault['id']}: {node['html'][:160]} {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_axe_finds_no_serious_fault_in_any_state(notebook, theme):
    graph = notebook(LOOP, theme=theme).explore(0)
    graph.page.add_script_tag(path=AXE)
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
