"""Two programs, or two stages of one, side by side: what a person sees and does."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from jaxviz.notebook.display import MIME_TYPE

PROGRAMS = """\
import jax, jax.numpy as jnp
from jax import lax
%load_ext jaxviz
x = jnp.arange(8.0)
def unrolled(x):
    for _ in range(24):
        x = jnp.tanh(x * 1.01) + 0.1
    return jnp.sum(x)
def looped(x):
    return jnp.sum(lax.fori_loop(0, 24, lambda _, x: jnp.tanh(x * 1.01) + 0.1, x)) * 2"""
BESIDE = PROGRAMS + "\n%jaxviz --vs 'looped(x)' unrolled(x)"
ALONE = PROGRAMS + "\n%jaxviz looped(x)"


def wait_for_beside(root: Locator, label: str) -> None:
    """Until the picture at the right is there, with a box of this label."""
    root.page.wait_for_function(
        "([root, label]) => root.explorer.panes[1]?.scene?.visible.label.includes(label)",
        arg=[root.element_handle(), label],
    )


def place_beside(root: Locator, label: str) -> dict[str, float]:
    """Where a box of the picture at the right stands, from its corner."""
    root.page.wait_for_function("root => root.explorer.atRest", arg=root.element_handle())
    script = """(root, label) => {
      const { picture, scene } = root.explorer.panes[1];
      return picture.locate(scene.visible.label.indexOf(label));
    }"""
    return dict(root.evaluate(script, label))


def test_both_pictures_are_sharp_whatever_the_width_is_that_they_share(notebook):
    graph = notebook(BESIDE).explore(0)
    wait_for_beside(graph.root, "tanh")
    stretched = """canvas => {
      const { width, height } = canvas.getBoundingClientRect();
      const ratio = window.devicePixelRatio;
      return Math.abs(width * ratio - canvas.width) + Math.abs(height * ratio - canvas.height);
    }"""
    for width in (1280, 1281, 1283):
        graph.page.set_viewport_size({"width": width, "height": 800})
        graph.settle()
        for side in (0, 1):
            assert graph.root.locator(".jv-canvas").nth(side).evaluate(stretched) < 0.01


def test_two_programs_stand_side_by_side_with_what_differs(notebook):
    opened = notebook(BESIDE)
    graph = opened.explore(0)
    root = graph.root
    wait_for_beside(root, "tanh")
    heads = root.locator(".jv-pane-head")
    expect(heads).to_have_count(2)
    expect(heads.nth(0)).to_contain_text("69 folded")
    expect(heads.nth(1)).to_contain_text("3 folded")
    expect(heads.nth(1)).to_contain_text("only here")
    expect(heads.nth(0).locator("select")).to_have_value("0")
    assert root.evaluate("root => root.explorer.panes[0].marked.length") >= 3
    # What only the right has is painted in the colour of what is new.
    opened.shot("compare-cell", root)
    graph.click("tanh")
    expect(graph.pane.locator("h4")).to_have_text("tanh")
    expect(root.locator(".jv-pane").nth(1).locator(".jv-words")).to_contain_text("1 operation lit")
    # Its counterpart is a link that leads to the other side.
    graph.pane.locator("dt:text-is('in looped') + dd button").click()
    right = root.locator(".jv-pane").nth(1)
    # Below both pictures, neither of which has room for it at its side.
    expect(root.locator(".jv-below h4")).to_have_text("tanh")
    expect(right.locator(".jv-stage-area")).to_be_focused()
    expect(root.locator(".jv-pane").nth(0).locator(".jv-words")).to_contain_text("lit")
    opened.shot("compare-linked", root)
    root.page.keyboard.press("Escape")
    heads.nth(1).get_by_role("button", name="One picture again").click()
    expect(heads).to_have_count(0)
    expect(root.locator(".jv-stage-area")).to_have_count(1)


def test_differences_are_stepped_through_with_a_key(notebook):
    graph = notebook(BESIDE).explore(0)
    wait_for_beside(graph.root, "tanh")
    graph.stage.focus()
    seen = []
    for _ in range(3):
        graph.page.keyboard.press("n")
        expect(graph.pane.locator("h4")).not_to_have_text(seen[-1] if seen else "")
        seen.append(graph.pane.locator("h4").text_content())
    assert "tanh" in seen
    graph.page.keyboard.press("Shift+N")
    expect(graph.pane.locator("h4")).to_have_text(seen[1])


def test_two_stages_stand_side_by_side_and_the_notebook_remembers_it(notebook):
    opened = notebook(ALONE)
    graph = opened.explore(0)
    root = graph.root
    graph.stage.focus()
    graph.page.keyboard.press("d")
    wait_for_beside(root, "x")
    assert root.evaluate("root => root.explorer.panes[1].viewing.stage.kind") == "hlo"
    divider = root.get_by_role("separator", name="width of the left picture")
    before = int(divider.get_attribute("aria-valuenow"))
    divider.focus()
    for _ in range(3):
        graph.page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", str(before - 9))
    left, right = (root.locator(".jv-pane").nth(number).bounding_box() for number in (0, 1))
    assert left["width"] < right["width"]
    # Another stage of the second picture, by its own list.
    root.get_by_label("stage of the second picture").select_option("StableHLO")
    root.page.wait_for_function(
        "root => root.explorer.panes[1].viewing.stage?.kind === 'stablehlo'", arg=root.element_handle()
    )
    # A view is kept once the person rests.
    root.page.wait_for_function("root => root.explorer.view.beside?.stage === 'stablehlo'", arg=root.element_handle())
    beside = {"stage": "stablehlo", "place": round((before - 9) / 100, 3)}

    def is_kept(saved):
        kept = saved["cells"][0]["outputs"][0]["metadata"].get(MIME_TYPE, {})
        return kept.get("view", {}).get("beside") == beside

    opened.save(is_kept)
    opened.page.reload()
    again = opened.graph_of(opened.page.locator(".jv-root"))
    wait_for_beside(again.root, "x")
    expect(again.root.get_by_role("separator", name="width of the left picture")).to_have_attribute(
        "aria-valuenow", str(before - 9)
    )


def test_what_is_opened_at_one_side_is_opened_at_the_other(notebook):
    root = notebook(BESIDE).explore(0).root
    wait_for_beside(root, "tanh")
    page = root.page
    right = root.locator(".jv-stage-area").nth(1)
    right.focus()
    page.keyboard.press("x")
    page.wait_for_function(
        "root => root.explorer.panes.every(pane => !pane.scene.visible.label.includes('tanh'))",
        arg=root.element_handle(),
    )
    page.keyboard.press("e")
    page.wait_for_function(
        "root => root.explorer.panes.every(pane => pane.scene.visible.label.includes('tanh'))",
        arg=root.element_handle(),
    )
    # The bar tells of the side that has the keys.
    expect(root.locator("select.jv-program")).to_have_value("1")
    root.locator("select.jv-program").select_option("0")
    page.wait_for_function("root => root.explorer.panes[1].viewing.program === 0", arg=root.element_handle())


VERSIONS = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
x, w = jnp.ones((8, 16)), jnp.ones((16, 16))
def attend(x, w):
    q, k, v = x @ w, jnp.tanh(x @ w), jnp.sin(x @ w)
    scores = jax.nn.softmax(q @ k.T / 4.0)
    return scores @ v @ w + jnp.cos(x)
def scaled(x):
    return (x - x.mean()) / jnp.sqrt(x.var() + 1e-6)
def before(x, w):
    return attend(scaled(x), w) * 2.0
def after(x, w):
    x = attend(scaled(x), w) * 2.0
    for f in (jnp.sin, jnp.cos, jnp.tan, jnp.exp, jnp.tanh, jnp.sinh, jnp.cosh):
        x = f(scaled(x)) @ w
    return x
def after_all(x, w):
    x = attend(scaled(x), w) * 2.0
    x = x + scaled(jax.nn.gelu(scaled(x) @ w) @ w)
    return x + scaled(jax.nn.silu(scaled(x) @ w) @ w)"""


def test_two_versions_are_open_alike_as_long_as_nobody_chose_what_to_see(notebook):
    first = VERSIONS + "\n%jaxviz --vs 'before(x, w)' after(x, w)"
    opened = notebook(first, "%jaxviz --vs 'after_all(x, w)' before(x, w)")
    is_open = """root => root.explorer.panes.map(({ viewing: { rows, openings } }) =>
      ['attend', 'scaled'].map(name => rows.name.some((one, row) => one === name && openings.open.has(row))))"""
    for cell in (0, 1):
        root = opened.explore(cell).root
        root.page.wait_for_function(
            "root => root.explorer.panes.length > 1 && root.explorer.panes[1].scene && root.explorer.atRest",
            arg=root.element_handle(),
        )
        one, other = root.evaluate(is_open)
        assert one == other
