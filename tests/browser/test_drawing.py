"""What is drawn in the browser: the same SVG as from Python, to the byte."""

from __future__ import annotations

import json
from importlib import resources

import jax
import jax.numpy as jnp
import pytest
from playwright.sync_api import expect

import jaxviz as jv
from jaxviz.export.svg import to_svg
from tests.programs import CORPUS


@pytest.mark.parametrize("name", ["scan_rnn", "mlp_train", "cond", "random_numbers"])
def test_the_browser_and_python_write_the_same_svg(open_page, name):
    function, arguments = CORPUS[name]()
    document = jv.explore(function, *arguments).document()
    page = open_page()
    page.goto("about:blank")
    page.add_script_tag(content=resources.files("jaxviz").joinpath("static", "headless.js").read_text("utf-8"))
    for theme, opened in (("light", "first"), ("auto", "all")):
        options = {"width": 760, "height": 560, "theme": theme} | ({"open": "all"} if opened == "all" else {})
        texts = [json.dumps(document.to_json(packed=False)), json.dumps(options)]
        drawn = page.evaluate("([document, options]) => jaxviz.svg(document, options)", texts)
        assert drawn == to_svg(document, theme=theme, open=opened)


CHAIN = """\
import jax.numpy as jnp
%load_ext jaxviz
def chain(x):
    a = jnp.sin(x)
    b = jnp.cos(a)
    c = jnp.exp(b) + jnp.flip(a)
    d = jnp.log(c) * jnp.flip(b)
    e = jnp.tanh(d) - jnp.flip(c)
    f = jnp.sqrt(e) / jnp.flip(d)
    return jnp.floor(f) + jnp.flip(e)
%jaxviz chain(jnp.ones(4))"""

COUNT_DRAWINGS = """() => {
  window.drawings = 0;
  const set = CanvasRenderingContext2D.prototype.setTransform;
  CanvasRenderingContext2D.prototype.setTransform = function (...values) {
    window.drawings++;
    return set.apply(this, values);
  };
}"""


def zoom_of(graph) -> float:
    graph.settle()
    return graph.root.evaluate("root => root.explorer.picture.zoom")


@pytest.fixture
def chain(notebook):
    """A picture that does not fit at a readable size once everything is open."""
    graph = notebook(CHAIN).explore(0)
    graph.page.evaluate("() => document.querySelector('.jp-toast-button')?.click()")
    graph.stage.focus()
    graph.settle()
    return graph


def on_screen(graph, label):
    place, stage = graph.place(label), graph.stage.bounding_box()
    return stage["x"] + place["x"], stage["y"] + place["y"]


def test_the_wheel_zooms_to_the_cursor_and_pans(chain):
    label = chain.labels[-2]
    x, y = on_screen(chain, label)
    before = zoom_of(chain)
    chain.page.mouse.move(x, y)
    chain.page.keyboard.down("Control")
    for _ in range(3):
        chain.page.mouse.wheel(0, -80)
    chain.page.keyboard.up("Control")
    assert zoom_of(chain) > 1.5 * before
    assert on_screen(chain, label) == pytest.approx((x, y), abs=1)
    # As a touchpad with two fingers: the picture follows them.
    chain.page.mouse.wheel(30, 20)
    assert on_screen(chain, label) == pytest.approx((x - 30, y - 20), abs=1)


def test_two_fingers_pinch_and_one_pans(chain):
    chain.stage.focus()
    stage = chain.stage.bounding_box()
    middle = (stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2)
    protocol = chain.page.context.new_cdp_session(chain.page)
    protocol.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})

    def touch(kind, *points):
        places = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        protocol.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    before = zoom_of(chain)
    touch("touchStart", (middle[0] - 40, middle[1]), (middle[0] + 40, middle[1]))
    for spread in range(50, 130, 10):
        touch("touchMove", (middle[0] - spread, middle[1]), (middle[0] + spread, middle[1]))
    touch("touchEnd")
    assert zoom_of(chain) == pytest.approx(3 * before, rel=0.15)
    x, y = on_screen(chain, chain.labels[-2])
    touch("touchStart", middle)
    for step in range(1, 6):
        touch("touchMove", (middle[0] + 8 * step, middle[1] + 4 * step))
    touch("touchEnd")
    assert on_screen(chain, chain.labels[-2]) == pytest.approx((x + 40, y + 20), abs=6)


def drawings_until_still(page) -> int:
    """How often something was drawn since this was asked last, and until nothing is for most of a second."""
    drawn = 0
    for _ in range(6):
        page.wait_for_timeout(800)
        more = page.evaluate("() => { const count = window.drawings; window.drawings = 0; return count; }")
        if not more:
            return drawn
        drawn += more
    raise AssertionError("the picture is drawn again and again")


def test_nothing_is_drawn_while_nothing_changes(chain):
    chain.page.evaluate(COUNT_DRAWINGS)
    drawings_until_still(chain.page)
    chain.page.keyboard.press("+")
    chain.settle()
    assert 0 < drawings_until_still(chain.page) < 200


def test_a_map_comes_when_the_picture_is_larger_than_its_window(chain):
    overview = chain.root.locator(".jv-minimap")
    chain.page.keyboard.press("e")
    chain.settle()
    chain.page.keyboard.press("f")
    expect(overview).to_be_hidden()
    assert len(chain.labels) >= 12
    for _ in range(9):
        chain.page.keyboard.press("+")
    overview.wait_for(state="visible")
    # A click at the upper left end brings what stands there into view.
    _, y = on_screen(chain, chain.labels[0])
    overview.click(position={"x": 4, "y": 4})
    clicked = on_screen(chain, chain.labels[0])
    assert clicked[1] > y + 100
    # Keys move on, once the map has the focus.
    overview.focus()
    chain.page.keyboard.press("ArrowDown")
    down = on_screen(chain, chain.labels[0])
    assert down[1] < clicked[1] - 40
    assert down[0] == pytest.approx(clicked[0], abs=1)
    # The mark is dragged as it is held.
    box = overview.bounding_box()
    chain.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 8)
    chain.page.mouse.down()
    chain.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 8, steps=5)
    chain.page.mouse.up()
    assert on_screen(chain, chain.labels[0])[1] < down[1] - 100


def test_pixels_are_those_of_the_screen(chain):
    protocol = chain.page.context.new_cdp_session(chain.page)
    metrics = {"width": 1280, "height": 800, "deviceScaleFactor": 2, "mobile": False}
    protocol.send("Emulation.setDeviceMetricsOverride", metrics)
    chain.page.keyboard.press("+")
    chain.settle()
    size = chain.root.locator(".jv-canvas").evaluate("c => [c.width / c.clientWidth, c.height / c.clientHeight]")
    assert size == pytest.approx([2, 2], abs=0.02)


def rate(x):
    with jax.named_scope("inner"):
        x = jnp.sin(x) * jnp.cos(x)
    return jnp.tanh(x) + 1


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_a_box_that_is_opened_glides_unless_the_system_asks_for_no_motion(open_page, graph_of, tmp_path, motion):
    path = tmp_path / "rate.html"
    jv.explore(rate, jnp.ones(4)).to_html(path)
    page = open_page(bypass_csp=True, reduced_motion=motion)
    page.clock.install()
    page.goto(path.as_uri())
    graph = graph_of(page.locator("#jv-page .jv-root"))
    page.keyboard.press("x")
    graph.click("inner")
    graph.settle()
    page.clock.pause_at(page.evaluate("Date.now() + 2000"))
    page.keyboard.press("Enter")
    graph.wait_for_box("cos")
    canvas = graph.root.locator(".jv-canvas").first
    page.clock.run_for(80)
    soon = canvas.evaluate("canvas => canvas.toDataURL()")
    page.clock.run_for(2000)
    assert (soon == canvas.evaluate("canvas => canvas.toDataURL()")) == (motion == "reduce")
