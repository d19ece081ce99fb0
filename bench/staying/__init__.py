"""How much moves when one region of a real program, or of a generated graph of some 300 boxes, opens or closes.

    python -m bench staying [--quick] [--seed N]

Every region of a picture in which everything is open is closed and opened again, with the layout that the explorer
uses; and it is opened for the first time, in a picture that begins with all else open. Told are the pairs of boxes
outside it that keep their order from left to right, and how far boxes move beyond the space that the region takes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import dropwhile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import jaxviz as jv

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "bench" / "staying"

# Functions with their arguments, by name.
Programs = Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.programs import CORPUS

    quick = "--quick" in sys.argv
    options = [word for word in dropwhile(lambda word: not word.startswith("-"), sys.argv[1:]) if word != "--quick"]
    names = ("mlp_train", "hessian") if quick else (*FROM_CORPUS, *OWN)
    programs = {name: OWN[name] if name in OWN else CORPUS[name]() for name in names}
    run(programs, BUILD, "--graphs", "2" if quick else "10", *options)


def figures(programs: Programs, folder: Path, *options: str) -> list[dict[str, Any]]:
    """What `run` tells, as data: for each graph what every move keeps of the pairs, and how far boxes move beyond."""
    return json.loads(run(programs, folder, "--json", *options, capture=True))


def run(programs: Programs, folder: Path, *options: str, capture: bool = False) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    for name, (function, arguments) in programs.items():
        document = jv.explore(function, *arguments).document()
        (folder / f"{name}.json").write_text(json.dumps(document.to_json(packed=False)))
    script = folder / "run.cjs"
    bundle = ["--bundle", "--platform=node", "--log-level=warning", f"--outfile={script}"]
    subprocess.run([ROOT / "node_modules/.bin/esbuild", "bench/staying/run.ts", *bundle], cwd=ROOT, check=True)
    done = subprocess.run(["node", script, folder, *options], cwd=ROOT, check=True, text=True, capture_output=capture)
    return done.stdout


def network(params: Any, x: Any) -> Any:
    for w, b in params:
        x = jnp.tanh(x @ w + b)
    return jnp.sum(x**2)


def hessian(params: Any, x: Any) -> Any:
    return jax.hessian(network)(params, x)


@jax.jit
def attend(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.softmax(q @ k.T / 8.0) @ v


@jax.jit
def block(x: Any, w: Any) -> Any:
    q, k, v = jnp.split(normal(x) @ w, 3, axis=-1)
    return x + attend(q, k, v)


@jax.jit
def normal(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6)


def nested(xs: Any, w: Any) -> Any:
    """A loop in a loop in a branch, each with calls of calls."""

    def inner(x: Any, row: Any) -> Any:
        y = jax.lax.cond(row.sum() > 0, lambda v: block(v, w), lambda v: normal(jnp.sin(v)), x)
        return y, attend(y, x, y).sum()

    def outer(x: Any, rows: Any) -> Any:
        y, sums = jax.lax.scan(inner, x, rows)
        return jax.lax.while_loop(lambda v: v.max() > 1, lambda v: normal(block(v, w)) * 0.5, y), sums.mean()

    return jax.lax.scan(outer, xs[0, 0], xs)


def remat_of_nested(xs: Any, w: Any) -> Any:
    @jax.checkpoint
    def step(x: Any, rows: Any) -> Any:
        return block(block(x, w), w) * jnp.cos(rows[0]), normal(x).sum()

    return jax.grad(lambda w: jax.lax.scan(step, xs[0, 0] @ w[:, :8], xs)[1].sum())(w)


def heads(x: Any, ws: Any) -> Any:
    """Many results that have nothing to do with each other: parts that no edge joins."""
    return [block(x[i] * 2.0, w) if i % 3 else normal(x[i] + 1.0).sum() for i, w in enumerate(ws)]


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    return [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]


FROM_CORPUS = (
    "mlp_train",
    "scan_rnn",
    "flax_block_train",
    "remat",
    "custom_vjp",
    "linear_algebra",
    "random_numbers",
    "redundant",
)
OWN: dict[str, Any] = {
    "hessian": (hessian, ([tuple(arrays((8, 8), (8,)))] * 3, *arrays((8,)))),
    "nested": (nested, tuple(arrays((4, 3, 8, 8), (8, 24)))),
    "remat_of_nested": (remat_of_nested, tuple(arrays((4, 3, 8, 8), (8, 24)))),
    "heads": (heads, (*arrays((12, 8, 8)), arrays(*[(8, 24)] * 12))),
}
