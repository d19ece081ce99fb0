"""Search: what one keystroke costs on 100,000 nodes, from the words to the boxes that stay bright."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / "search.json"
    path.write_text(json.dumps(jv.explore(layers, *arguments()).document().to_json(packed=False)))
    script = BUILD / "search.cjs"
    bundle = ["--bundle", "--platform=node", "--log-level=warning", f"--outfile={script}"]
    subprocess.run([ROOT / "node_modules/.bin/esbuild", "bench/search.ts", *bundle], cwd=ROOT, check=True)
    subprocess.run(["node", script, path], cwd=ROOT, check=True)


def layers(weights: list[Any], x: Any) -> Any:
    for w in weights:
        x = jnp.tanh(x @ w) * 0.5 + x
    return jnp.sum(jnp.sin(x))


def arguments() -> tuple[list[Any], Any]:
    square = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    return [square] * 20_000, jax.ShapeDtypeStruct((8, 64), jnp.float32)


if __name__ == "__main__":
    main()
