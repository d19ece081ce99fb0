"""What a picture has its kernel do: a run, and a loop of JAX in place of an unrolled one."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from jaxviz.notebook.display import MIME_TYPE

# It is stopped before the first of its runs is over.
SLOW = """\
import time, jax, jax.numpy as jnp
%load_ext jaxviz
def nap(x):
    while True:
        time.sleep(0.1)
def patient(x):
    return jax.pure_callback(nap, x, x) + 1.0
%jaxviz patient(jnp.ones(3))"""

UNROLLED = """\
x = jnp.ones(16)
def settle(x):
    for _ in range(40):
        x = x * 1.01 + 0.1
    return x
%jaxviz settle(x)"""


def test_buttons_have_the_kernel_run_the_program_and_rebuild_its_loop(notebook):
    opened = notebook(SLOW, UNROLLED)
    # One that takes long is stopped: the picture stays, and the kernel does what it is asked next.
    slow = opened.explore(0).root
    slow.locator(".jv-run-stage").click()
    working = slow.locator(".jv-working:not(.jv-exports)")
    expect(working).to_contain_text("of 20 runs")
    expect(working).to_contain_text("calls back into Python (line 7)")
    opened.shot("asked-running", slow)
    working.get_by_text("stop", exact=True).click()
    expect(working).to_contain_text("Stopped: the picture is as it was.")
    expect(slow.locator(".jv-run-stage")).to_have_text("run")
    expect(slow.locator(".jv-run")).to_be_hidden()
    opened.shot("asked-stopped", slow)
    working.get_by_text("close", exact=True).click()
    expect(working).to_be_hidden()
    root = opened.explore(1).root
    finding = root.locator(".jv-finding", has_text="unrolled").first
    finding.locator(".jv-finding-title").click()
    finding.get_by_text("compare with a loop of JAX").click()
    table = finding.locator(".jv-rebuilt")
    expect(table).to_contain_text("fori_loop")
    expect(table.locator("tr")).to_have_count(5)
    expect(finding).to_contain_text("The results are equal")
    expect(root.locator(".jv-working:not(.jv-exports)")).to_be_hidden()
    opened.shot("asked-rebuilt", root)
    # A run: what was measured is there, seen by the time it takes, and the notebook keeps it.
    root.locator(".jv-run-stage").click()
    expect(root.locator(".jv-run")).to_contain_text("run:")
    assert root.evaluate("root => root.explorer.view.colour") == "time"
    expect(root.locator(".jv-run-stage")).to_have_text(re.compile(r"^run [\d.]+ .?s$"))
    opened.shot("asked-run", root)

    def is_kept(saved):
        output = next(one for one in saved["cells"][1]["outputs"] if MIME_TYPE in one.get("data", {}))
        return output["metadata"].get(MIME_TYPE, {}).get("view", {}).get("colour") == "time"

    opened.save(is_kept)
    # Both programs side by side, in a tab of their own.
    finding.locator(".jv-finding-title").click()
    finding.get_by_text("compare with a loop of JAX").click()
    finding.get_by_text("side by side").click()
    tab = opened.page.locator(".jv-tab .jv-root")
    expect(tab.locator(".jv-pane-head")).to_have_count(2)
    opened.page.wait_for_function("root => root.explorer.atRest", arg=tab.element_handle())
    opened.shot("asked-side-by-side")
