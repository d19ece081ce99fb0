"""The same layouts in QuickJS, as Python exports them, and in Chromium, as the page draws them.

    python -m bench quickjs

Each graph is laid out in a fresh page, as the first picture of a page is, and again when the browser's compiler has had
time to work. QuickJS has none, so both of its times are alike.
"""

from __future__ import annotations

import statistics
import subprocess
import time

import quickjs

from bench.documents import browser_page
from bench.layout import BUILD, ROOT

SIZES = (20, 100, 500, 1_000, 2_000)
GRAPHS = 4


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    script = BUILD / "once.js"
    esbuild = [ROOT / "node_modules/.bin/esbuild", "bench/layout/once.ts", "--bundle", "--target=es2020"]
    subprocess.run([*esbuild, "--log-level=warning", f"--outfile={script}"], cwd=ROOT, check=True)
    print(
        f"{'graph':14}{'QuickJS':>10}{'page: first':>13}{'warm':>8}{'ratio: first':>14}{'warm':>8}"
        f"   ms, medians of {GRAPHS}"
    )
    for kind in ("flow", "region"):
        for size in SIZES:
            calls = [f"lay('{kind}', {size}, {seed})" for seed in range(1, GRAPHS + 1)]
            slow = [in_quickjs(script.read_text(), call) for call in calls]
            first, warm = zip(*[in_page(script.read_text(), call) for call in calls], strict=True)
            assert [place for _, place in slow] == [place for _, place in first], "the engines do not agree"
            a, b, c = (statistics.median(time for time, _ in one) for one in (slow, first, warm))
            print(f"{kind} {size:<8}{a:11.0f}{b:13.0f}{c:8.0f}{a / b:14.1f}{a / c:8.1f}", flush=True)


def in_quickjs(script: str, call: str) -> tuple[float, float]:
    """Milliseconds, and what came out."""
    context = quickjs.Context()
    context.eval(script)
    began = time.perf_counter()
    place = context.eval(call)
    return 1000 * (time.perf_counter() - began), place


def in_page(script: str, call: str) -> tuple[tuple[float, float], tuple[float, float]]:
    timed = (
        f"() => {{ const began = performance.now(); const place = {call}; return [performance.now() - began, place]; }}"
    )
    with browser_page() as page:
        page.add_script_tag(content=script)
        first = tuple(page.evaluate(timed))
        warm = [tuple(page.evaluate(timed)) for _ in range(5)][-1]
    return first, warm


if __name__ == "__main__":
    main()
