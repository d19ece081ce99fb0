"""A function that cannot be traced: the error explained above what was traced until then, and JAX's own below."""

from __future__ import annotations

import re

from playwright.sync_api import expect

CHOOSE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def choose(x):
    total = jnp.sum(jnp.sin(x))
    if total > 0:
        return x
    return -x
%jaxviz choose(jnp.ones(8))"""

LACKING = """\
import jax.numpy as jnp
%load_ext jaxviz
def act(x, scale):
    return jnp.tanh(x) * scale
%jaxviz act(jnp.ones(8))"""


def test_an_error_shows_the_line_the_reason_the_cures_and_what_was_traced(notebook):
    opened = notebook(CHOOSE)
    output = opened.run(0)
    graph = opened.graph_of(output.locator(".jv-root"))
    failure = graph.root.locator(".jv-failure")
    expect(failure.locator("h3")).to_have_text("Python's if needs to know total > 0 while JAX traces")
    expect(failure.locator(".jv-failure-kind")).to_have_text("TracerBoolConversionError")
    expect(failure.locator(".jv-failed mark")).to_have_text("total > 0")
    expect(failure.locator(".jv-failed .jv-line-number")).to_have_text("5")
    cures = failure.locator(".jv-cure-code")
    expect(cures).to_have_text(
        ["return jnp.where(total > 0, x, -x)", "return jax.lax.cond(total > 0, lambda: x, lambda: -x)"]
    )
    link = failure.get_by_role("link")
    # It is where the error of JAX says that it is.
    page = re.compile(r"https://docs\.jax\.dev/en/latest/(101/)?errors\.html#jax\.errors\.TracerBoolConversionError")
    expect(link).to_have_attribute("href", page)
    # What was traced, with the comparison, and JAX's own error with its traceback under all that.
    graph.wait_for_box("greater")
    expect(output).to_contain_text("Traceback (most recent call last)")
    message = failure.locator("details", has_text="JAX's own words")
    message.locator("summary").click()
    expect(message.locator("pre")).to_contain_text("Attempted boolean conversion")
    opened.shot("failure", graph.root)


def test_an_error_before_the_function_was_entered_shows_its_definition_and_how_to_call_it(notebook):
    opened = notebook(LACKING, "%jaxviz act(jnp.ones(8), 2.0)")
    root = opened.run(0).locator(".jv-root")
    expect(root.locator(".jv-failure h3")).to_have_text("the arguments do not fit act")
    expect(root.locator(".jv-failure-file")).to_contain_text("not entered")
    expect(root.locator(".jv-failure-source")).to_contain_text("def act(x, scale):")
    expect(root.locator(".jv-cure-code")).to_have_text("act(x, scale)")
    opened.shot("failure-call", root)
    graph = opened.explore(1)
    graph.wait_for_box("tanh")
    expect(graph.root.locator(".jv-failure")).to_have_count(0)


def test_a_call_that_fails_is_in_the_panel_and_opens_what_explains_it(notebook):
    opened = notebook(CHOOSE)
    opened.page.locator(".jp-SideBar .lm-TabBar-tab[data-id='jaxviz-programs']").click()
    opened.run(0)
    row = opened.page.locator(".jv-entry")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("could not be traced: Python's if needs to know total > 0 while JAX traces")
    expect(opened.page.locator(".jv-panel-cost")).to_have_text("")
    opened.shot("programs-failed")
    row.dblclick()
    expect(opened.page.locator(".jv-tab .jv-failure h3")).to_have_text(
        "Python's if needs to know total > 0 while JAX traces"
    )
