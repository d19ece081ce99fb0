"""The explorer in headless Chromium without a GPU: opening, other stages, everything open, search, heap, long tasks.

    python -m bench explorer [--quick]

Bars: a document of 12,000 equations is open and can be used in 1 s, all of its regions in 2 s; another stage 100 ms; a
keystroke of the search 50 ms; 300 MB of heap at 100,000 nodes; no task of the main thread above 200 ms.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv
from bench.documents import browser_page
from bench.layout import BUILD, ROOT

# ms, by the name of what is measured.
BARS = {"open": 1_000.0, "open all": 2_000.0, "search": 50.0}
SWITCH, TASK, HEAP_MB = 100.0, 200.0, 300.0
RUNS = 3


def main() -> None:
    script, worker = _bundle("bench/explorer/page.ts"), _bundle("labextension/src/layout/worker.ts")
    styles = "\n".join(path.read_text() for path in sorted((ROOT / "labextension/style").glob("*.css")))
    for name, document in documents("--quick" in sys.argv):
        text = json.dumps(document.to_json(), separators=(",", ":"))
        nodes = sum(map(len, document.graphs))
        print(f"{name}: {nodes:,} nodes, {len(text) / 1000:,.0f} kB", flush=True)
        runs, heap = [], 0.0
        for _ in range(1 if "--quick" in sys.argv else RUNS):
            with browser_page() as page:
                page.set_viewport_size({"width": 1280, "height": 800})
                page.add_script_tag(path=script)
                source = "code => URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))"
                address = page.evaluate(source, worker.read_text())
                measure = "([text, url, css]) => measureExplorer(text, url, css)"
                runs.append(page.evaluate(measure, [text, address, styles]))
                session = page.context.new_cdp_session(page)
                session.send("HeapProfiler.collectGarbage")
                heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        tell(runs, heap, nodes)


def tell(runs: list[dict[str, float]], heap: float, nodes: int) -> None:
    """The median of each figure over the runs, beside its bar."""
    for name in dict.fromkeys(name for run in runs for name in run):
        value = statistics.median(run.get(name, 0.0) for run in runs)
        if name.endswith("boxes"):
            print(f"  {name:28} {value:10,.0f}")
            continue
        bar = TASK if name.startswith("task") else BARS.get(name, SWITCH if name.startswith("to ") else None)
        print(f"  {name:28} {value:10,.1f} ms{_against(value, bar, 'ms')}")
    print(f"  {'heap':28} {heap:10,.1f} MB{_against(heap, HEAP_MB if nodes >= 100_000 else None, 'MB')}", flush=True)


def _against(value: float, bar: float | None, unit: str) -> str:
    return "" if bar is None else f"   bar {bar:,.0f} {unit}{'' if value <= bar else '   MISSED'}"


def documents(quick: bool) -> Iterator[tuple[str, jv.Document]]:
    """The training step of a transformer, with all its stages, and a jaxpr of 100,000 nodes."""
    sys.path.insert(0, str(ROOT / "tests"))
    from programs import flax_block

    fn, args = flax_block(layers=2 if quick else 24)
    yield f"train step of {2 if quick else 24} layers", jv.explore(fn, *args).document()
    if not quick:

        def layers(weights: list[Any], x: Any) -> Any:
            for w in weights:
                x = jnp.tanh(x @ w) * 0.5 + x
            return jnp.sum(jnp.sin(x))

        square = jax.ShapeDtypeStruct((64, 64), jnp.float32)
        given = [square] * 20_000, jax.ShapeDtypeStruct((8, 64), jnp.float32)
        yield "20,000 layers, the jaxpr alone", jv.explore(layers, *given).document(stages=())


def _bundle(source: str) -> Path:
    BUILD.mkdir(parents=True, exist_ok=True)
    made = BUILD / f"explorer-{Path(source).stem}.js"
    esbuild = [ROOT / "node_modules/.bin/esbuild", source, "--bundle", "--log-level=warning"]
    # The layout client asks for its own address, for a worker that is given to it here.
    subprocess.run([*esbuild, "--define:import.meta.url='file:///'", f"--outfile={made}"], cwd=ROOT, check=True)
    return made
