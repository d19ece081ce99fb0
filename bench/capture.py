"""What jaxviz adds to JAX's own trace, lower and optimize: tags, graphs, links, outlines and the document.

    python -m bench capture [--quick]

Passes and fates are a row of their own: they compile once more, and are asked for. flax's training step, so flax and
optax are needed.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

_OWN = ("trace", "lower", "optimize")


def main() -> None:
    import jax
    from programs import flax_block

    import jaxviz as jv

    layers = (1, 2) if "--quick" in sys.argv else (1, 2, 24, 64)
    print(f"jax {jax.__version__}")
    print(
        f"{'layers':>6} {'equations':>9} {'HLO':>8} {'JAX s':>8} {'added s':>8} {'ratio':>7} {'fates s':>8} {'kB':>7}"
    )
    fn, args = flax_block(True, 1)
    jv.explore(fn, *args).document()
    for count in layers:
        fn, args = flax_block(True, count)
        ex = jv.explore(fn, *args)
        graphs = [ex.jaxpr, ex.stablehlo, ex.hlo]
        ex._capture.outline  # noqa: B018
        costs = [cost for stage in ("jaxpr", "stablehlo", "hlo") for cost in ex._capture.costs(stage).items()]
        own = sum(seconds for step, seconds in costs if step in _OWN)
        added = sum(seconds for step, seconds in costs if step not in _OWN)
        start = perf_counter()
        ex.fates  # noqa: B018
        fates = perf_counter() - start
        start = perf_counter()
        size = len(json.dumps(ex.document().to_json()))
        added += perf_counter() - start
        print(
            f"{count:>6} {len(graphs[0]):>9,} {len(graphs[2]):>8,} {own:>8.2f} {added:>8.2f} {added / own:>7.1%}"
            f" {fates:>8.2f} {size / 1e3:>7.0f}",
            flush=True,
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
