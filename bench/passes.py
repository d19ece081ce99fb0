"""What the passes of the compiler cost: seconds that they add, and how much they add to a document.

    python -m bench passes [--quick]

A transformer block's train step should take at most 2 s more and 1 MB; larger ones show fewer passes and say so. The
fastest of several runs is told, and the seconds of the processor beside those of the clock: on a machine that does
other things too, they say what is the work of jaxviz. flax and optax are needed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

_OWN = ("trace", "lower", "optimize")
RUNS = 3


def main() -> None:
    import jax
    from programs import CORPUS, flax_block

    cases: dict[str, Any] = {"mlp_train": CORPUS["mlp_train"], "block_train": flax_block}
    if "--quick" not in sys.argv:
        cases |= {f"{layers} layers": lambda layers=layers: flax_block(True, layers) for layers in (4, 12)}
    print(f"jax {jax.__version__}; the fastest of {RUNS}")
    print(
        f"{'program':>12} {'HLO nodes':>9} {'passes':>6} {'JAX s':>6} {'fates s':>8} {'added s':>8} {'(cpu)':>6}"
        f" {'plain kB':>8} {'added kB':>8}  left out"
    )
    for name, case in cases.items():
        rows = [_measure(*case()) for _ in range(RUNS)]
        best = min(rows, key=lambda row: row["cpu"])
        print(
            f"{name:>12} {best['nodes']:>9,} {best['passes']:>6} {best['jax']:>6.2f} {best['fates']:>8.2f}"
            f" {best['added']:>8.2f} {best['cpu']:>6.2f} {best['plain'] / 1e3:>8.0f} {best['more'] / 1e3:>8.0f}"
            f"  {best['note']}",
            flush=True,
        )


def _measure(fn: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    import jaxviz as jv

    ex = jv.explore(fn, *args)
    nodes = len(ex.hlo)
    costs = [cost for stage in ("jaxpr", "stablehlo", "hlo") for cost in ex._capture.costs(stage).items()]
    # Fates are read from the same snapshots, whether passes are shown or not.
    start = perf_counter()
    ex.fates  # noqa: B018
    fates = perf_counter() - start
    plain = len(json.dumps(ex.document().to_json()))
    start, start_cpu = perf_counter(), process_time()
    passes = ex.passes
    added, cpu = perf_counter() - start, process_time() - start_cpu
    with_passes = len(json.dumps(ex.document(passes=True).to_json()))
    return {
        "nodes": nodes,
        "passes": len(passes),
        "jax": sum(seconds for step, seconds in costs if step in _OWN),
        "fates": fates,
        "added": added,
        "cpu": cpu,
        "plain": plain,
        "more": with_passes - plain,
        "note": passes.note,
    }


if __name__ == "__main__":
    main()
