"""What jaxviz adds to JAX's own trace, lower and optimize: tags, graphs, links, outlines, fates and the document.

    python -m bench capture [--quick]
    python -m bench.capture --layers 2 24
    python -m bench.capture --parts 24
    python -m bench.capture --first 2

The training step of flax's transformer block is traced, lowered and optimized by JAX alone, then explored to the text
of its document, in turns; of each the fastest counts. `wall` are seconds of the clock: those of JAX alone, those of an
exploration with its findings, and what a person so waits longer, which means something only where two cores are free.
`CPU` are seconds of a processor, which other work on the machine disturbs less: those of JAX alone, and as shares of
them what an exploration takes more, with its findings and with what tags cost JAX itself; what jaxviz computes without
these, step by step; and what of that cannot be done while XLA optimizes. The passes of the compiler are asked for
apart, so they are not in it, nor is what only they can say of fates. Peaks of memory are those of processes of their
own, in which nothing else was done. `--parts` says what each step costs; `--first`, what is waited for in processes of
their own, where nothing is imported or known, and once more.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

_OWN = ("trace", "lower", "optimize")
_STAGES = ("jaxpr", "stablehlo", "hlo")


def _case(layers: int) -> Any:
    """The training step for shapes alone: to compile what fills its parameters takes longer than all else."""
    from programs import flax_block

    return flax_block(True, layers, shapes=True)


def _alone(fn: Callable[..., Any], args: Any) -> None:
    """By JAX alone: what runs, before code is generated for it."""
    import jax

    from jaxviz.program.optimize import optimize

    # The name of the module tells the compiler where to stop, as a tag does else.
    optimize(jax.jit(fn).trace(*args).lower(), mark=f"jit_{fn.__name__}".encode())


def _explored(fn: Callable[..., Any], args: Any) -> dict[str, float]:
    """Explore to the text of a document; the seconds of each step, those of jaxviz on a processor."""
    import jaxviz as jv

    ex = jv.explore(fn, *args)
    # No passes.
    ex._capture.__dict__["snapshots"] = ()
    sizes = {"nodes": len(ex.hlo), "equations": len(ex.jaxpr), "operations": len(ex.stablehlo)}
    costs = {f"{stage} {step}": cost for stage in _STAGES for step, cost in ex._capture.costs(stage).items()}
    start = thread_time()
    ex._capture.fates  # noqa: B018
    costs["fates"] = thread_time() - start
    ex.findings  # noqa: B018
    start = thread_time()
    size = len(json.dumps(ex.document().to_json()))
    costs["document"] = thread_time() - start
    # They were found ahead, where nobody counted.
    residuals = replace(ex.residuals)
    start = thread_time()
    residuals.policies  # noqa: B018
    costs["jaxpr residuals"] = thread_time() - start
    return costs | sizes | {"kB": size / 1e3}


_COUNTS = ("nodes", "equations", "operations", "kB")
# What is done while XLA optimizes.
_MEANWHILE = ("jaxpr read", "jaxpr outline", "jaxpr residuals", "stablehlo read", "stablehlo link")


def _added(costs: dict[str, float], without: tuple[str, ...] = ()) -> float:
    own = (name.split()[-1] in (*_OWN, *_COUNTS) for name in costs)
    return sum(cost for (name, cost), skip in zip(costs.items(), own, strict=True) if not skip and name not in without)


class _Timed(NamedTuple):
    wall: float
    processor: float
    result: Any


def _timed(work: Callable[..., Any], case: Any) -> _Timed:
    start, processor = perf_counter(), process_time()
    result = work(*case)
    return _Timed(perf_counter() - start, process_time() - processor, result)


def _row(layers: int, turns: int) -> str:
    alone, explored = [], []
    for _ in range(turns):
        alone.append(_timed(_alone, _case(layers)))
        explored.append(_timed(_explored, _case(layers)))
    own, total = (min(each.wall for each in runs) for runs in (alone, explored))
    processor, whole = (min(each.processor for each in runs) for runs in (alone, explored))
    costs = explored[0].result
    added = min(_added(each.result) for each in explored)
    after = min(_added(each.result, _MEANWHILE) for each in explored)
    memory = [_peak(mode, layers) for mode in ("jax", "jaxviz")]
    return (
        f"{layers:>6} {costs['equations']:>9,} {costs['nodes']:>8,} {own:>6.2f} {total:>9.2f} {total / own - 1:>10.1%}"
        f" {processor:>6.2f} {whole / processor - 1:>7.1%} {added / processor:>9.1%} {after / processor:>11.1%}"
        f" {costs['kB']:>6.0f} {memory[0]:>7.2f} {memory[1] / memory[0]:>6.2f}"
    )


def _peak(mode: str, layers: int) -> float:
    """The peak of the memory of a process that does this alone, in GB."""
    return float(_in_own_process("--peak", mode, layers)[0])


def _in_own_process(option: str, mode: str, layers: int) -> list[str]:
    command = [sys.executable, "-m", "bench.capture", option, mode, str(layers)]
    # What is installed has its byte code beside it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    options: dict[str, Any] = {"cwd": Path(__file__).parents[1], "env": environment, "timeout": 600}
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.split()


def _print_peak(mode: str, layers: int) -> None:
    (_alone if mode == "jax" else _explored)(*_case(layers))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def _print_turns(mode: str, layers: int) -> None:
    """Seconds of the clock and of the processor of the first and of the second time in this process."""
    for _ in range(2):
        timed = _timed(_alone if mode == "jax" else _explored, _case(layers))
        print(timed.wall, timed.processor)


def _print_first(layers: int) -> None:
    """The first and the second time in a process; JAX's own first time is longer too."""
    print(f"{'':>8} {'wall: JAX s':>12} {'jaxviz s':>9} {'longer':>7} {'CPU: JAX s':>11} {'jaxviz s':>9} {'longer':>7}")
    runs = {mode: [_in_own_process("--turns", mode, layers) for _ in range(3)] for mode in ("jax", "jaxviz")}
    for turn, name in enumerate(("first", "second")):
        cells = []
        for kind in range(2):
            own, total = (min(float(run[2 * turn + kind]) for run in runs[mode]) for mode in ("jax", "jaxviz"))
            cells.append(f"{own:>{12 - kind}.2f} {total:>9.2f} {total - own:>7.2f}")
        print(f"{name:>8} {' '.join(cells)}")


def _print_parts(layers: int) -> None:
    _explored(*_case(1))
    own = min(_timed(_alone, _case(layers)).processor for _ in range(2))
    costs = [_explored(*_case(layers)) for _ in range(3)]
    print(f"{'JAX alone':>20} {own:>10,.3f}")
    for name in costs[0]:
        if name.split()[-1] in (*_OWN, *_COUNTS):
            continue
        least = min(each[name] for each in costs)
        print(f"{name:>20} {least:>10,.3f} {least / own:>7.1%}")


def main() -> None:
    if "--peak" in sys.argv:
        _print_peak(sys.argv[-2], int(sys.argv[-1]))
        return
    if "--turns" in sys.argv:
        _print_turns(sys.argv[-2], int(sys.argv[-1]))
        return
    if "--first" in sys.argv:
        _print_first(int(sys.argv[-1]))
        return
    if "--parts" in sys.argv:
        _print_parts(int(sys.argv[-1]))
        return
    import jax

    print(f"jax {jax.__version__}")
    print(
        f"{'':25} {'wall':-^27} {'CPU':-^36}\n"
        f"{'layers':>6} {'equations':>9} {'HLO':>8} {'JAX s':>6} {'jaxviz s':>9} {'longer':>10} {'JAX s':>6}"
        f" {'more':>7} {'added':>9} {'after XLA':>11} {'kB':>6} {'JAX GB':>7} {'times':>6}"
    )
    _explored(*_case(1))
    for layers in _layers():
        print(_row(layers, 5 if layers < 10 else 3 if layers < 50 else 2), flush=True)


def _layers() -> list[int]:
    if "--layers" in sys.argv:
        return list(map(int, sys.argv[sys.argv.index("--layers") + 1 :]))
    return [1, 2] if "--quick" in sys.argv else [1, 2, 24, 64]


if __name__ == "__main__":
    main()
