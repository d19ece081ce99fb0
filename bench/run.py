"""What measuring costs, and how far measured figures agree with each other and with XLA's own.

    python -m bench run [--quick]

The flax train step with the profiler takes at most 1.3 times as long as without; a run takes at most 5 % more than a
plain timed loop; the lines' times add up to the operations' within 3 %; what is seen is at least 99 % of what is
executed; the peak of memory is what XLA sets aside.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from time import perf_counter

import jax

import jaxviz as jv

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs import CORPUS

_NAMES = ("mlp_grad", "scan_rnn", "convolution", "flax_block_forward", "flax_block_train")


def main() -> None:
    quick = "--quick" in sys.argv
    repeat = 20 if quick else 200
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}; medians of {repeat} runs, in ms")
    print(
        f"{'program':>20} {'plain':>8} {'run':>8} {'ratio':>6} {'profiled':>9} {'ratio':>6} {'seen':>6} "
        f"{'lines':>7} {'operations':>11} {'with all':>9}"
    )
    for name in _NAMES:
        timed(name, repeat)
    print("\nmemory in bytes: what XLA sets aside for temporary values, and the most that is alive at once")
    for name in CORPUS:
        memory(name)


def timed(name: str, repeat: int) -> None:
    function, arguments = CORPUS[name]()
    exploration = jv.explore(function, *arguments)
    compiled = jax.jit(function).lower(*arguments).compile()
    jax.block_until_ready(compiled(*arguments))
    plain = []
    for _ in range(repeat):
        start = perf_counter()
        jax.block_until_ready(compiled(*arguments))
        plain.append(perf_counter() - start)
    start = perf_counter()
    run = exploration.run(repeat=repeat)
    whole = perf_counter() - start
    profile = run.profile
    assert profile is not None, run.notes
    without = statistics.median(plain)
    lines = sum(each.seconds for each in profile.source_lines())
    print(
        f"{name:>20} {1e3 * without:8.3f} {1e3 * run.median:8.3f} {run.median / without:6.2f} "
        f"{1e3 * profile.wall:9.3f} {profile.wall / run.median:6.2f} {profile.coverage:6.1%} "
        f"{1e3 * lines:7.3f} {1e3 * profile.times.total:11.3f} {1e3 * whole:9.0f}",
        flush=True,
    )


def memory(name: str) -> None:
    function, arguments = CORPUS[name]()
    found = jv.explore(function, *arguments).memory()
    most = int(found.live.max()) if len(found.live) else 0
    share = most / found.temporary if found.temporary else 1.0
    print(f"{name:>20} {found.temporary:>10,} {most:>10,} {share:7.1%} of {found.total:>10,} in all", flush=True)


if __name__ == "__main__":
    main()
