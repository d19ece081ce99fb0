"""Findings below the picture: what they say, why, where, and what they leave out of small programs."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.cells import AFFINE

SETTLE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
table = jnp.ones((400, 400))
def settle(x, key):
    kept = jnp.sin(x) + jax.random.normal(key, x.shape)
    for _ in range(1000):
        x = x * 1.01 + 0.1
    return kept + table @ jax.random.normal(key, x.shape)
%jaxviz settle(jnp.ones(400), jax.random.key(0))"""


def test_findings_say_what_why_and_where(notebook):
    opened = notebook(SETTLE)
    graph = opened.explore(0)
    findings = graph.root.locator(".jv-finding")
    expect(findings).to_have_count(4)
    expect(findings.nth(0)).to_contain_text("unrolled from line 6: 1,000 copies")
    expect(findings.nth(1)).to_contain_text("2,000 equations that no result needs")
    # Three at first; the rest behind a button.
    expect(findings.nth(2)).to_be_visible()
    expect(findings.nth(3)).to_be_hidden()
    graph.root.get_by_role("button", name="Show 1 more findings").click()
    expect(findings.nth(3)).to_be_visible()
    graph.root.get_by_role("button", name="fewer").click()
    expect(findings.nth(3)).to_be_hidden()
    graph.root.get_by_role("button", name="Show 1 more findings").click()
    expect(graph.root.locator(".jv-findings")).to_contain_text("table (f32[400,400], 640 kB)")
    opened.shot("findings", graph.root)

    reason = findings.nth(0).locator(".jv-finding-reason")
    expect(reason).to_be_hidden()
    findings.nth(0).locator(".jv-finding-title").click()
    expect(reason).to_contain_text("for _ in range(1000)")
    expect(reason).to_contain_text("jax.lax.fori_loop(0, 1000")
    opened.shot("findings-why", graph.root)

    # In optimized HLO nothing is left of the loop, so it is shown where it was found.
    graph.root.locator(".jv-stage", has_text="HLO").last.click()
    graph.wait_without_box("multiply")
    findings.nth(0).get_by_role("button", name="Show where").click()
    graph.wait_for_box("multiply")
    expect(graph.root.locator(".jv-stage.jv-on")).to_contain_text("jaxpr")
    opened.shot("findings-where", graph.root)


def test_a_program_without_findings_has_no_strip(notebook):
    graph = notebook(AFFINE).explore(0)
    expect(graph.root.locator(".jv-findings")).to_be_hidden()
