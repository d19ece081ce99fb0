"""What a run measured, as a person sees it: in a line, by lines of the source, in colours and in the details."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from jaxviz.notebook.display import MIME_TYPE

RUN = """\
import jax.numpy as jnp
%load_ext jaxviz
def slow(x):
    y = jnp.sort(x, axis=0)
    return jnp.tanh(y) + 1.0
%jaxviz --run 3 slow(jnp.ones((600, 600)))"""

NOT_RUN = """\
import jax.numpy as jnp
%load_ext jaxviz
def slow(x):
    return jnp.sort(x, axis=0)
%jaxviz slow(jnp.ones((6, 6)))"""


def test_a_run_is_told_and_opened_for_where_the_time_went(notebook):
    opened = notebook(RUN)
    graph = opened.explore(0)
    strip = graph.root.locator(".jv-run")
    expect(strip).to_contain_text(re.compile(r"run: median [\d.]+ (ms|µs|s) on CPU \(3 runs"))
    more = strip.locator(".jv-run-more")
    expect(more).to_be_hidden()
    strip.locator(".jv-finding-title").click()
    expect(more).to_contain_text("first run")
    expect(more).to_contain_text("100 % of those that are executed were seen")
    first = strip.locator(".jv-run-line").first
    expect(first).to_contain_text("y = jnp.sort(x, axis=0)")
    opened.shot("run", graph.root)
    first.click()

    # The lines of the source carry the time.
    graph.root.locator(".jv-stage", has_text="Python").click()
    row = graph.root.locator(".jv-line", has_text="jnp.sort")
    expect(row.locator(".jv-line-time")).to_have_text(re.compile(r"[\d.]+ (ms|µs|s)"))
    expect(row.locator(".jv-heat-time")).to_have_css("opacity", "1")


def test_colours_details_and_search_know_the_time(notebook):
    opened = notebook(RUN)
    graph = opened.explore(0)
    graph.wait_for_box("sort")
    graph.root.get_by_role("button", name="Colour the picture by the time of a run").click()
    legend = graph.root.locator(".jv-legend")
    expect(legend).to_contain_text("share of the time of a run")
    expect(legend).to_contain_text("40 % and more")
    opened.shot("run-colours", graph.root)

    graph.click("sort")
    details = graph.root.locator(".jv-inspector")
    expect(details.locator("dt", has_text="time")).to_be_visible()
    expect(details).to_contain_text(re.compile(r"% of a run"))

    graph.root.locator(".jv-button", has_text="search").click()
    graph.root.locator(".jv-search input").fill("time>1ns op:sort")
    expect(graph.root.locator(".jv-search")).not_to_contain_text("no times")


def test_without_a_run_nothing_is_said_of_one(notebook):
    graph = notebook(NOT_RUN).explore(0)
    expect(graph.root.locator(".jv-run")).to_be_hidden()


def test_memory_is_charted_and_leads_to_what_is_alive_beside_what_compiling_cost(notebook):
    opened = notebook(
        """\
import jax.numpy as jnp
import jaxviz as jv
def wide(x):
    y = jnp.sin(x)[:, None] * jnp.cos(x)[None, :]
    return jnp.sort(y @ y, axis=0).sum()
ex = jv.explore(wide, jnp.ones(300))
ex.memory()
ex.compile_cost()
ex"""
    )
    graph = opened.explore(0)
    cost = graph.root.locator(".jv-compiling")
    expect(cost).to_contain_text(re.compile(r"compile: [\d.]+ m?s before it can run: traced in"))
    cost.locator(".jv-finding-title").click()
    for name in ("trace", "lower", "compile", "optimize", "write code"):
        expect(cost.get_by_role("img", name=re.compile(rf"^{name}: [\d.]+ "))).to_have_count(1)
    cost.locator(".jv-finding-title").click()
    strip = graph.root.locator(".jv-memory")
    expect(strip).to_contain_text(re.compile(r"memory: needs [\d.]+ kB"))
    expect(graph.root.locator(".jv-run")).to_be_hidden()
    strip.locator(".jv-finding-title").click()
    expect(strip.locator(".jv-memory-chart svg").first).to_be_visible()
    first = strip.locator(".jv-run-line").first
    expect(first).to_contain_text("360 kB")
    opened.shot("memory", graph.root)
    graph.root.locator(".jv-stage", has_text="HLO").last.click()
    expect(graph.root.locator(".jv-stage.jv-on", has_text="kernel")).to_be_visible()
    first.click()
    graph.settle()


def test_the_first_bad_value_is_said_and_its_details_have_numbers(notebook):
    opened = notebook(
        """\
import jax.numpy as jnp
import jaxviz as jv
def loss(x):
    y = x - 1.0
    z = jnp.log(y)
    return jnp.sort(z) @ z
ex = jv.explore(loss, jnp.array([0.5, 2.0, 3.0]))
ex.values()
ex"""
    )
    graph = opened.explore(0)
    strip = graph.root.locator(".jv-values")
    expect(strip).to_contain_text("the first that holds a NaN is log in line 5")
    graph.wait_for_box("log")
    graph.click("log")
    expect(graph.root.locator(".jv-inspector")).to_contain_text("33.3 % NaN")
    opened.shot("values", graph.root)


def test_nothing_stays_of_the_line_that_told_how_far_a_run_is(notebook):
    setup = """import time
import jax, jax.numpy as jnp
import jaxviz as jv
from jaxviz.measure import progress

progress._SILENCE = 0.0

def slow(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda x: (time.sleep(0.5), x)[1], shape, x)
"""
    opened = notebook(setup, "%load_ext jaxviz\n%jaxviz --run 2 slow(jnp.ones(3))", "jv.explore(slow, 1.0).run(2)")
    opened.run(0)
    opened.explore(1)
    opened.run(2)
    saved = opened.save(lambda cells: all(cell["outputs"] for cell in cells["cells"][1:]))
    # That it calls back into Python is text that stays.
    [_, picture], [words, run] = (cell["outputs"] for cell in saved["cells"][1:])
    assert words["output_type"] == "stream"
    assert "calls back into Python" in "".join(words["text"])
    assert MIME_TYPE in picture["data"]
    assert run["output_type"] == "execute_result"
