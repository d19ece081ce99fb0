"""Google's Model Explorer beside the explorer: the same StableHLO of a training step, opened and opened wholly by both.

    python -m venv build/model-explorer
    build/model-explorer/bin/pip install ai-edge-model-explorer
    python -m bench explorer

It is only measured where it is installed there. Its pictures are there when its worker has answered and the next frame
is drawn; ours when everything that was asked for is on the screen.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax

from bench.documents import browser_page
from bench.layout import BUILD

PROGRAM = BUILD.parent / "model-explorer/bin/model-explorer"
# ms. More are not waited for.
PATIENCE = 110_000
# It draws with WebGL, which takes no GPU so.
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
# Keeps what the worker says and when, in ms since the page began.
LISTEN = """() => {
  const Real = Worker;
  globalThis.answers = [];
  globalThis.Worker = class extends Real {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => answers.push([String(data?.eventType), performance.now()]));
    }
  };
}"""
# Resolves two frames after the worker has fallen silent, with the time of its last answer.
SILENT = """count => new Promise(done => {
  const look = () => {
    const last = answers.at(-1);
    if (answers.length > count && performance.now() - last[1] > 400) {
      done(last[1]);
    } else {
      setTimeout(look, 20);
    }
  };
  look();
})"""


def measure(fn: Any, args: Any) -> dict[str, float]:
    """ms until the first picture, and until everything is open; without those that took too long."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "step.mlir"
        file.write_text(jax.jit(fn).lower(*args).as_text(debug_info=True))
        with served() as url, browser_page(SOFTWARE) as page:
            page.set_viewport_size({"width": 1280, "height": 800})
            page.set_default_timeout(PATIENCE)
            page.add_init_script(f"({LISTEN})()")
            data = urllib.parse.quote(json.dumps({"models": [{"url": str(file)}]}))
            page.goto(f"{url}/?data={data}")
            figures["Model Explorer: open"] = page.evaluate(SILENT, 0)
            before = page.evaluate("answers.length")
            button = page.locator("mat-icon", has_text="unfold_more").first
            # Its own clock: a click of the driver takes as long as its frames do.
            start = page.evaluate("performance.now()")
            button.dispatch_event("click")
            with contextlib.suppress(Exception):
                figures["Model Explorer: open all"] = page.evaluate(SILENT, before) - start
    return figures


@contextlib.contextmanager
def served() -> Iterator[str]:
    """Its server, on a free port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [PROGRAM, "--no_open_in_browser", "--skip_health_check", "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                urllib.request.urlopen(url).close()
                break
            time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(20)
