"""The operations as a table: its figures are those of the run, and it is linked with the picture."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
from playwright.sync_api import expect

import jaxviz as jv
from tests.browser.test_accessible import faults, listen


def turned(w, xs):
    def cell(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h.sum()

    return jax.lax.scan(cell, jnp.zeros((8, 64)), xs)


def cells(table, column: str) -> list[str]:
    """The words of a column, row by row, of the rows on the page."""
    heads = [head.split("▾")[0].split("▴")[0] for head in table.get_by_role("columnheader").all_inner_texts()]
    if column not in heads:
        return [""] * table.locator(".jv-grid-body > .jv-grid-row").count()
    at = heads.index(column)
    return table.locator(f".jv-grid-body > .jv-grid-row > :nth-child({at + 1})").all_inner_texts()


def test_the_table_tells_what_the_run_measured_and_leads_to_it(open_page, graph_of, tmp_path):
    path = tmp_path / "turned.html"
    explored = jv.explore(turned, jnp.ones((64, 64)), jnp.ones((50, 8, 64)))
    run = explored.run(repeat=3)
    explored.to_html(path)
    page = open_page(bypass_csp=True)
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    page.keyboard.press("5")
    graph.settle()
    high = graph.stage.bounding_box()["height"]
    page.keyboard.press("o")
    table = graph.root.get_by_role("grid")
    expect(table).to_be_focused()
    assert graph.stage.bounding_box()["height"] > high / 2, "the table leaves the picture most of the room"

    # The same kernels as in Python, in the order of their time.
    expected = sorted(run.profile.kernels(), key=lambda kernel: -float(f"{kernel.seconds:.4g}"))
    shown = cells(table, "name")[: len(expected)]
    assert shown == [kernel.name for kernel in expected][: len(shown)]
    turns = {kernel.name: round(run.profile.rolled.count[kernel.node]) for kernel in expected}
    assert cells(table, "runs")[: len(shown)] == [str(turns[name]) for name in shown]
    limits = {kernel.name: kernel.bound for kernel in expected}
    for name, limit in zip(shown, cells(table, "limit"), strict=False):
        words = {"compute": "compute-bound", "memory": "memory-bound", "cache": "faster than memory"}.get(limits[name])
        assert limit.startswith(words) if words else limit in ("", "neither computing nor memory"), name

    # Down the rows, and into the picture.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    graph.settle()
    expect(table.locator("[aria-selected=true]")).to_have_count(1)
    expect(table.locator("[aria-selected=true] > :first-child")).to_have_text(shown[1])
    assert graph.root.evaluate("root => root.explorer.selection").__len__() >= 1
    listen(graph)
    assert faults(graph) == []

    # A head sorts, by mouse; what is higher shows more rows.
    table.get_by_role("button", name="name").click()
    expect(table.get_by_role("columnheader", name="name")).to_have_attribute("aria-sort", "ascending")
    grip = graph.root.get_by_role("separator", name="height of the table")
    box = grip.bounding_box()
    before = table.bounding_box()["height"]
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] - 56)
    page.mouse.up()
    assert table.bounding_box()["height"] == before + 60
    table.focus()
    page.keyboard.press("o")
    expect(table).to_be_hidden()
    expect(graph.root.locator(".jv-table .jv-finding-title")).to_have_text(
        re.compile(r"^kernels: which of \d+ take longest$")
    )
