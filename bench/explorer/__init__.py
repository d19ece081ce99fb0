"""The explorer in headless Chromium without a GPU: opening, other stages, everything open, search, heap, long tasks.

    python -m bench explorer [--quick]

Bars: a document of 12,000 equations is open and can be used in 1 s, all of its regions in 2 s; another stage 100 ms; a
keystroke of the search 50 ms; 300 MB of heap at 100,000 nodes; no task of the main thread above 200 ms; from the magic
to the picture 0.5 s more than JAX itself takes. Google's Model Explorer is measured beside it on the same StableHLO.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv
from bench.documents import browser_page
from bench.layout import BUILD, ROOT
from jaxviz.notebook.display import mime_bundle

# ms, by the name of what is measured.
BARS = {"open": 1_000.0, "open all": 2_000.0, "search": 50.0}
SWITCH, TASK, HEAP_MB, AFTER_JAX = 100.0, 200.0, 300.0, 500.0
RUNS = 3


def main() -> None:
    script, worker = _bundle("bench/explorer/page.ts"), _bundle("labextension/src/layout/worker.ts")
    styles = "\n".join(path.read_text() for path in sorted((ROOT / "labextension/style").glob("*.css")))
    quick = "--quick" in sys.argv

    def measured(document: jv.Document) -> tuple[list[dict[str, float]], float]:
        """What each run took, and the heap in MB after the last."""
        text = json.dumps(document.to_json(), separators=(",", ":"))
        runs, heap = [], 0.0
        for _ in range(1 if quick else RUNS):
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
        return runs, heap

    for name, document in documents(quick):
        nodes = sum(map(len, document.graphs))
        size = len(json.dumps(document.to_json(), separators=(",", ":")))
        print(f"{name}: {nodes:,} nodes, {size / 1000:,.0f} kB", flush=True)
        tell(*measured(document), nodes)
    after_jax(2, measured)
    beside(2 if quick else 8, measured)


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


Measured = Callable[[jv.Document], tuple[list[dict[str, float]], float]]


def after_jax(layers: int, measured: Measured) -> None:
    """From the magic to the picture: how much more than JAX itself takes to trace, lower and optimize.

    The picture can be used with the jaxpr alone; it takes in the other stages, and then the fates, as they are made.
    """
    fn, args = _step(layers)
    steps = ("the jaxpr", "all stages", "the fates and findings too")
    runs: list[list[float]] = []
    documents: list[jv.Document] = []
    for _ in range(RUNS):
        # Nothing that JAX kept from the last time.
        jax.clear_caches()
        start = perf_counter()
        exploration = jv.explore(fn, *args)
        documents, taken = [], []
        for step in exploration.growing_steps():
            mime_bundle(step.document, step.text, coming=step.coming)
            taken.append(perf_counter() - start)
            documents.append(step.document)
        (program,) = documents[-1].programs
        own = sum(stage.seconds.get(step, 0.0) for stage in program.stages for step in ("trace", "lower", "optimize"))
        runs.append([1_000 * (one - own) for one in taken])
    print(f"training step of {layers} layers, from the magic to the picture, beside what JAX itself takes:")
    for name, document, *after in zip(steps, documents, *runs, strict=True):
        python = statistics.median(after)
        opened = statistics.median(run["open"] for run in measured(document)[0])
        bar = _against(python + opened, AFTER_JAX if document is documents[0] else None, "ms")
        print(f"  {name:28} {python + opened:10,.1f} ms, {opened:,.0f} of it in the browser{bar}", flush=True)


def beside(layers: int, measured: Measured) -> None:
    """The same StableHLO in Google's Model Explorer, where that is installed."""
    from bench.explorer import model_explorer

    if not model_explorer.PROGRAM.exists():
        print("Model Explorer is not installed: bench/explorer/model_explorer.py says how")
        return
    fn, args = _step(layers)
    document = jv.explore(fn, *args).document()
    (program,) = document.programs
    graph = next(stage.graph for stage in program.stages if stage.kind == "stablehlo")
    runs, _ = measured(document.of_stage(graph))
    theirs = model_explorer.measure(fn, args)
    print(f"StableHLO of a training step of {layers} layers, {len(document.graphs[graph]):,} nodes:")
    for name in ("open", "open all"):
        ours = statistics.median(run[name] for run in runs)
        other = theirs.get(f"Model Explorer: {name}")
        told = f"{other:10,.1f} ms" if other is not None else f"above {model_explorer.PATIENCE / 1_000:.0f} s"
        print(f"  {name:28} {ours:10,.1f} ms   Model Explorer {told}", flush=True)


def _step(layers: int) -> tuple[Any, Any]:
    sys.path.insert(0, str(ROOT / "tests"))
    from programs import flax_block

    return flax_block(layers=layers)


def _against(value: float, bar: float | None, unit: str) -> str:
    return "" if bar is None else f"   bar {bar:,.0f} {unit}{'' if value <= bar else '   MISSED'}"


def documents(quick: bool) -> Iterator[tuple[str, jv.Document]]:
    """The training step of a transformer, with all its stages, and a jaxpr of 100,000 nodes."""
    fn, args = _step(2 if quick else 24)
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
