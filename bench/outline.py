"""What making the outline of a jaxpr costs beside tracing it.

    python bench/outline.py [--quick]

It should stay below 2 % of tracing, at 1,000 and at 30,000 equations. The programs of `reading.py`, which cost JAX
less for each equation than any real one, and training steps of a transformer of 1, 2 and 12 layers. All in seconds of
a processor, so that other work on the machine disturbs them less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any

import jax
import jax.numpy as jnp

from bench.reading import called, flat, nested, straight
from jaxviz.outline import make_outline
from jaxviz.program.program import Program
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables


def measure(fn: Callable[..., Any], arguments: tuple[Any, ...], repeat: int) -> tuple[float, float, int, int]:
    """Median seconds on a processor of tracing and of the outline, and the numbers of operations and of rows."""
    traces, outlines, operations, rows = [], [], 0, 0
    for _ in range(repeat):
        # A new function object each time, or JAX answers from its cache.
        program = Program(lambda *arguments: fn(*arguments), arguments)
        start = thread_time()
        jaxpr = program.jaxpr
        traces.append(thread_time() - start)
        graph = read_jaxpr(jaxpr, Tables())
        start = thread_time()
        outline = make_outline(graph)
        outlines.append(thread_time() - start)
        operations, rows = int((graph.nodes.kind == 0).sum()), len(outline)
    return median(traces), median(outlines), operations, rows


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from programs import flax_block

    vector = (jax.ShapeDtypeStruct((16,), jnp.float32),)
    sizes = (1_000,) if "--quick" in sys.argv else (1_000, 30_000)
    cases: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
        (name, make(size), vector)
        for name, make in (("flat", flat), ("nested", nested), ("called", called), ("straight", straight))
        for size in sizes
    ]
    layers = (1, 2) if "--quick" in sys.argv else (1, 2, 12)
    cases += [(f"layers {count}", *flax_block(layers=count)) for count in layers]
    measure(flat(100), vector, 3)
    print(f"jax {jax.__version__}")
    print(f"{'program':10} {'operations':>10} {'rows':>7} {'trace ms':>10} {'outline ms':>11} {'ratio':>7}")
    for name, fn, arguments in cases:
        trace, outline, operations, rows = measure(fn, arguments, 3)
        cost = f"{trace * 1e3:>10.1f} {outline * 1e3:>11.2f} {outline / trace:>7.1%}"
        print(f"{name:10} {operations:>10,} {rows:>7,} {cost}")


if __name__ == "__main__":
    main()
