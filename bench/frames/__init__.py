"""Drawing: time between frames, first paint and long tasks in headless Chromium without a GPU.

    python -m bench frames [--boxes 1000,50000]

The whole graph is in view: it is panned, then zoomed in and out, 120 frames each, through the same events as a wheel.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from bench.documents import browser_page
from bench.layout import BUILD, ROOT

SIZES = (1_000, 10_000, 50_000)


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    script = BUILD / "frames.js"
    esbuild = [ROOT / "node_modules/.bin/esbuild", "bench/frames/page.ts", "--bundle", "--log-level=warning"]
    # The layout client, which the picture does not use, asks for its own address.
    subprocess.run([*esbuild, "--define:import.meta.url=''", f"--outfile={script}"], cwd=ROOT, check=True)
    sizes = SIZES
    if "--boxes" in sys.argv:
        sizes = tuple(map(int, sys.argv[sys.argv.index("--boxes") + 1].split(",")))
    head = ("layout", "first paint", "pan p50", "p95", "zoom p50", "p95", "script p50", "p95", "longest task", "idle")
    print(f"{'boxes':>8}" + "".join(f"{name:>13}" for name in head))
    with browser_page() as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.add_script_tag(path=script)
        for size in sizes:
            print(
                f"{size:8}"
                + "".join(f"{value:13.1f}" for value in figures(page.evaluate("n => measureFrames(n)", size)))
            )


def figures(found: dict[str, Any]) -> list[float]:
    spreads = [found[name][part] for name in ("pan", "zoom", "script") for part in ("median", "p95")]
    return [found["layoutMs"], found["firstPaintMs"], *spreads, found["longestTask"], found["idle"]]
