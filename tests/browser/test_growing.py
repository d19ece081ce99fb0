"""A picture that is there before the compiler is done, and takes in what comes."""

from __future__ import annotations

from playwright.sync_api import expect

# The compiler waits for a file, as it would for a large program.
SLOW = """\
import pathlib, time
import jax, jax.numpy as jnp
from jaxviz import capture
%load_ext jaxviz
optimize = capture.optimize
def slow(*args, **options):
    while not pathlib.Path("go").exists():
        time.sleep(0.05)
    return optimize(*args, **options)
capture.optimize = slow
def layer(w, x):
    return jnp.tanh(x @ w) + x
def network(w, x):
    for _ in range(2):
        x = jax.jit(layer)(w, x)
    return x.sum()
w, x = jnp.ones((8, 8)), jnp.ones((4, 8))"""


def test_the_jaxpr_can_be_explored_while_jax_compiles(notebook, graph_of):
    opened = notebook(SLOW, "%jaxviz network(w, x)")
    opened.run(0)
    page = opened.page
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    root = cell.locator(".jv-root:not(.jv-coming)")
    graph = graph_of(root, early=True)
    expect(root.locator(".jv-awaited")).to_have_text(["StableHLO…", "HLO…"])
    expect(cell.locator(".jp-InputArea-prompt")).to_have_text("[*]:")
    # All of it answers, though the kernel is at work.
    assert "tanh" in graph.labels
    graph.double_click("layer")
    graph.wait_without_box("tanh")
    graph.click("sum")
    expect(graph.pane).to_contain_text("reduce_sum")
    opened.shot("growing-early", root)
    labels = graph.labels
    (opened.path.parent / "go").touch()
    stages = root.locator(".jv-stage", has_text="HLO")
    expect(stages.last).to_contain_text("kernel")
    expect(root.locator(".jv-awaited")).to_have_count(0)
    # What was closed and selected is so still.
    graph = graph_of(root)
    assert graph.labels == labels
    expect(graph.pane).to_contain_text("reduce_sum")
    expect(cell.locator(".jp-InputArea-prompt")).to_have_text("[2]:")
    stages.last.click()
    expect(stages.last).to_have_attribute("aria-pressed", "true")
    opened.shot("growing-whole", root)
    # What is seen can be saved.
    page.keyboard.press("s")
    with page.expect_download() as download:
        root.locator(".jv-exports").get_by_text("PNG").click()
    assert download.value.suggested_filename == "network-hlo.png"
    assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    saved = opened.save(lambda cells: bool(cells["cells"][1]["outputs"]))
    (output,) = saved["cells"][1]["outputs"]
    assert "image/svg+xml" in output["data"]


def test_while_a_cell_is_run_again_its_picture_stays_and_the_page_keeps_its_place(notebook, graph_of):
    opened = notebook(SLOW + "\npathlib.Path('go').touch()", "import time; time.sleep(1.5)\n%jaxviz network(w, x)")
    opened.run(0)
    page = opened.page
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(1)
    graph = graph_of(opened.run(1).locator(".jv-root"))
    graph.double_click("layer")
    graph.wait_without_box("tanh")
    before = cell.bounding_box()["height"]
    page.evaluate("""() => {
      const cell = document.querySelectorAll('.jp-Notebook .jp-CodeCell')[1];
      window.least = Infinity;
      const look = () => { window.least = Math.min(window.least, cell.offsetHeight); requestAnimationFrame(look); };
      look();
    }""")
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    stays = cell.locator(".jv-staying")
    expect(stays).to_contain_text("running again")
    expect(cell.locator(".jp-InputArea-prompt")).to_have_text("[*]:")
    expect(stays.locator(".jv-root")).to_be_visible()
    opened.shot("running-again", cell)
    expect(cell.locator(".jp-InputArea-prompt")).to_have_text("[3]:")
    expect(stays).to_have_count(0)
    # What was closed is so in the next one.
    assert "tanh" not in graph_of(cell.locator(".jv-root")).labels
    assert page.evaluate("window.least") > before - 40
    # An error is there in its place, alone.
    opened.write(1, "import time; time.sleep(1)\nundefined")
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    expect(stays).to_be_visible()
    expect(cell.locator(".jp-OutputArea")).to_contain_text("NameError")
    expect(cell.locator(".jv-root")).to_have_count(0)
