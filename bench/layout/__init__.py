"""Layout: time, crossings, edge length, bends and area against dot, dagre and elkjs; see `layout/README.md`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv
from jaxviz.document import Document

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "bench"
QUICK = ("--sizes", "100,500", "--graphs", "3", "--only", "generated")
# Layers of a training step, and the milliseconds in which it is to be laid out.
STEPS = ((6, "150"), (7, "150"), (24, "1000"), (25, "1000"))
ENGINES = ("@dagrejs/dagre@3", "elkjs@0.12")


def main() -> None:
    if "--steps" in sys.argv:
        time_steps()
        return
    if not shutil.which("dot"):
        sys.exit("no `dot` on this machine: apt-get install graphviz")
    if not (BUILD / "node_modules").is_dir():
        BUILD.mkdir(parents=True, exist_ok=True)
        (BUILD / "package.json").write_text("{}")
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", *ENGINES], cwd=BUILD, check=True)
    documents = BUILD / "documents"
    documents.mkdir(exist_ok=True)
    options = [word for i, word in enumerate(sys.argv) if any(one.startswith("-") for one in sys.argv[1 : i + 1])]
    if "--quick" in options:
        options.remove("--quick")
        options = [*QUICK, *options]
    if "--only" not in options or "real" in options:
        for name, exploration in programs():
            write(documents / f"{name}.json", exploration.document())
        module = BUILD / "flat_5000.hlo"
        module.write_text(flat_hlo(5_000))
        write(documents / "flat_hlo_5000.json", jv.open(module).document())
    run("run", "--documents", documents, *options)


def time_steps() -> None:
    """Training steps of about 1,130 and 4,500 nodes, and what each stage of the layout costs; no other engine."""
    folder = BUILD / "steps"
    folder.mkdir(parents=True, exist_ok=True)
    words: list[Path | str] = []
    for layers, bar in STEPS:
        path = folder / f"train_{layers}.json"
        write(path, jv.explore(train, *arrays(layers)).document())
        words += [path, bar]
    run("steps", *words)


def run(name: str, *words: Path | str) -> None:
    # As one script, as it ships: imports between modules cost time that no user sees. esbuild comes with tsx.
    script = BUILD / f"{name}.cjs"
    bundle = ["--bundle", "--platform=node", "--log-level=warning", f"--outfile={script}"]
    subprocess.run([ROOT / "node_modules/.bin/esbuild", f"bench/layout/{name}.ts", *bundle], cwd=ROOT, check=True)
    subprocess.run(["node", script, *words], cwd=ROOT, check=True)


def write(path: Path, document: Document) -> None:
    path.write_text(json.dumps(document.to_json(packed=False)))


def programs() -> Iterator[tuple[str, jv.Exploration]]:
    """The programs of the tests, and training steps of more and more layers."""
    sys.path.insert(0, str(ROOT))
    from tests.programs import CORPUS

    for name, case in CORPUS.items():
        function, arguments = case()
        yield name, jv.explore(function, *arguments)
    for layers in (2, 8, 32, 64):
        yield f"forward_{layers}", jv.explore(forward, *arrays(layers))
        yield f"train_{layers}", jv.explore(train, *arrays(layers))
    yield "unrolled_10000", jv.explore(unrolled, jax.ShapeDtypeStruct((4,), jnp.float32))


def unrolled(x: Any) -> Any:
    """10,000 equations in a row."""
    for _ in range(5_000):
        x = x * 1.01 + 0.1
    return x


def flat_hlo(count: int) -> str:
    """An entry computation of `count` instructions, each of which reads two of the last few."""
    lines = ["HloModule flat, entry_computation_layout={(f32[8]{0})->f32[8]{0}}", "", "ENTRY main {"]
    lines.append("  v0 = f32[8]{0} parameter(0)")
    for i in range(1, count):
        op = ("add", "multiply", "maximum", "subtract")[i % 4]
        root = "ROOT " if i == count - 1 else ""
        lines.append(f"  {root}v{i} = f32[8]{{0}} {op}(v{i - 1}, v{max(0, i - 2 - (7 * i) % 5)})")
    return "\n".join([*lines, "}", ""])


def arrays(layers: int) -> tuple[Any, Any]:
    layer = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((64, 192), (64, 64), (64, 256), (256, 64))]
    return [layer] * layers, jax.ShapeDtypeStruct((16, 64), jnp.float32)


def forward(params: Any, x: Any) -> Any:
    """A small transformer: attention and two dense layers, each with a residual."""
    for into, out, up, down in params:
        q, k, v = jnp.split(normalized(x) @ into, 3, axis=-1)
        x = x + jax.nn.softmax(q @ k.T / 8.0) @ v @ out
        x = x + jnp.tanh(normalized(x) @ up) @ down
    return jnp.mean(x**2)


def normalized(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)


def train(params: Any, x: Any) -> Any:
    loss, slopes = jax.value_and_grad(forward)(params, x)
    return loss, jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes)
