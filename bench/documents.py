"""Documents: their size, and how long a browser takes to decode them.

Nodes are those of the jaxpr, and those of all stages together: a document holds three graphs, their links, fates and
outlines.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv

ROOT = Path(__file__).parents[1]
# Decodes a packed document as the cell output does; the first runs warm the engine up, as the page itself does.
DECODE = """async text => {
  const times = [];
  for (let i = 0; i < 9; i++) {
    const start = performance.now();
    await jaxviz.decode(JSON.parse(text));
    times.push(performance.now() - start);
  }
  return times;
}"""


def main() -> None:
    print(f"{'program':34} {'jaxpr':>8} {'nodes':>8} {'file kB':>8} {'decode ms: first':>17} {'median':>7}")
    with browser_page() as page:
        for name, exploration in programs():
            document = exploration.document()
            text = json.dumps(document.to_json(), separators=(",", ":"))
            times = page.evaluate(DECODE, text)
            size = len(text.encode()) / 1000
            nodes = f"{len(document.graphs[0]):8} {sum(map(len, document.graphs)):8}"
            print(f"{name:34} {nodes} {size:8.1f} {times[0]:17.1f} {statistics.median(times):7.1f}", flush=True)


def programs() -> Iterator[tuple[str, jv.Exploration]]:
    """Documents of about 10,000 nodes of different kinds, and the first cell of the tour."""

    def affine(w: Any, b: Any, x: Any) -> Any:
        return jnp.tanh(w @ x + b)

    yield "affine, the tour's first cell", jv.explore(affine, jnp.ones((4, 8)), jnp.ones(4), jnp.ones(8))

    def unrolled(turns: int) -> Any:
        def loop(x: Any) -> Any:
            for _ in range(turns):
                x = x * 1.01 + 0.1
            return x

        return loop

    yield "10,000 equations in a row", jv.explore(unrolled(5_000), jnp.ones(4))
    yield "2,000 equations in a row", jv.explore(unrolled(1_000), jnp.ones(4))

    def layers(params: Any, x: Any) -> Any:
        for w, b in params:
            x = jax.nn.relu(x @ w + b)
        return x.sum()

    layer = (jax.ShapeDtypeStruct((64, 64), jnp.float32), jax.ShapeDtypeStruct((64,), jnp.float32))
    for count in (110, 500):
        x = jax.ShapeDtypeStruct((8, 64), jnp.float32)
        yield f"gradient of {count} layers", jv.explore(jax.grad(layers), [layer] * count, x)


@contextmanager
def browser_page(graphics: tuple[str, ...] = ("--disable-gpu",)) -> Iterator[Any]:
    """A blank page in Chromium with the drawing code in it; `graphics` are its flags for how it draws."""
    from playwright.sync_api import sync_playwright

    spec = importlib.util.spec_from_file_location("browser_finder", ROOT / "tools" / "browser.py")
    assert spec is not None
    assert spec.loader is not None
    finder = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(finder)
    found = finder.find()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", *graphics])
        page = chromium.new_page()
        page.add_script_tag(path=ROOT / "jaxviz" / "static" / "headless.js")
        yield page
        chromium.close()


if __name__ == "__main__":
    main()
