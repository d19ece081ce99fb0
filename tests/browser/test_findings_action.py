"""What goes on from a finding: a line of Python to run, which builds the loop and compares both."""

from __future__ import annotations

from playwright.sync_api import expect

SETTLE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def settle(x):
    for _ in range(100):
        x = x * 1.01 + 0.1
    return x
%jaxviz settle(jnp.ones(4))"""


def test_an_unrolled_loop_names_the_line_that_rebuilds_it(notebook):
    graph = notebook(SETTLE).explore(0)
    finding = graph.root.locator(".jv-finding").first
    finding.locator(".jv-finding-title").click()
    expect(finding.locator(".jv-finding-code")).to_have_text("import jaxviz as jv; jv.rebuild(settle, jnp.ones(4))")
    expect(finding.get_by_role("button", name="Copy")).to_be_visible()
