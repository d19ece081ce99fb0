"""What measuring costs, and how far measured figures agree with each other and with XLA's own.

    python -m bench run [--quick] [--runs]

The flax train step with the profiler takes at most 1.3 times as long as without; a run takes at most 5 % more than a
plain timed loop; the lines' times add up to the operations' within 3 %; what is seen is at least 99 % of what is
executed; the peak of memory is what XLA sets aside; to look at values takes the compiler at most 1.2 times as long as
the program alone.

What is compared is run in turns, so that another load of the machine meets both alike. Of the turns of a round the
median counts, and of the rounds too, which lie apart: what slows a machine down often lasts longer than a round of
runs of a tenth of a millisecond. `noise` is the same comparison of the plain loop with itself. With `--runs`, only runs
are measured.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import jax

import jaxviz as jv
from jaxviz.measure.profile import tracing
from jaxviz.measure.run import Executable
from jaxviz.measure.waiting import Work

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs import CORPUS

_NAMES = ("mlp_grad", "scan_rnn", "convolution", "flax_block_forward", "flax_block_train")
_VALUES = ("mlp_grad", "mlp_train", "scan_rnn", "flax_block_forward", "flax_block_train")
# How often runs and the plain loop are compared.
_ROUNDS = 7
_QUICK_MEMORY = ("mlp_grad", "scan_rnn", "convolution", "flax_block_train")


def main() -> None:
    quick = "--quick" in sys.argv
    turns = 60 if quick else 200
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}; medians of {turns} runs in turns, in ms")
    print(
        f"{'program':>20} {'plain':>8} {'run':>8} {'ratio':>6} {'noise':>6} {'plain':>8} {'profiled':>9} {'ratio':>6} "
        f"{'seen':>6} {'lines':>8} {'operations':>11} {'apart':>6}"
    )
    for name in _NAMES:
        timed(name, turns, rounds=6 if quick else 12)
    if "--runs" in sys.argv:
        return
    print("\nvalues: how many are looked at, and seconds of the compiler for the program alone and with them")
    heard: list[float] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: heard.append(seconds) if event.endswith("backend_compile_duration") else None
    )
    for name in _VALUES[:2] if quick else _VALUES:
        values(name, heard, rounds=3 if quick else 5)
    print("\nmemory in bytes: alive at the peak of the schedule, gaps between values there, both, what XLA sets aside")
    names = _QUICK_MEMORY if quick else tuple(CORPUS)
    print(f"the peak equals XLA's figure on {sum(map(memory, names))} of {len(names)} programs")


def timed(name: str, turns: int, rounds: int) -> None:
    function, arguments = CORPUS[name]()
    exploration = jv.explore(function, *arguments)
    executable = Executable(exploration.program)
    args, kwargs = executable.inputs.fresh()

    def plain() -> float:
        start = perf_counter()
        jax.block_until_ready(executable.compiled(*args, **kwargs))
        return perf_counter() - start

    def once() -> float:
        return executable.once()[1]

    def compared(work: Work[Any]) -> Any:
        # In a thread of its own and waited for as a run is.
        executable.until_ready = work.until_ready
        once()
        both = [(in_turns(plain, once, turns), in_turns(plain, plain, turns)[2]) for _ in range(_ROUNDS)]
        return (
            *(statistics.median(one[place] for one, _ in both) for place in range(3)),
            statistics.median(n for _, n in both),
        )

    without, ours, ratio, noise = Work(compared).wait()
    quiet, profiled, times = Work(lambda _: with_profiler(once, rounds)).wait()
    profile = exploration.run(repeat=3).profile
    assert profile is not None
    lines = sum(each.seconds for each in profile.source_lines())
    total = profile.times.total
    apart = abs(lines - total) / total
    print(
        f"{name:>20} {1e3 * without:8.3f} {1e3 * ours:8.3f} {ratio:6.3f} {noise:6.3f} {1e3 * quiet:8.3f} "
        f"{1e3 * profiled:9.3f} {times:6.3f} {profile.coverage:6.1%} {1e3 * lines:8.4f} {1e3 * total:11.4f} "
        f"{apart:6.2%}",
        flush=True,
    )


def in_turns(one: Callable[[], float], other: Callable[[], float], turns: int) -> tuple[float, float, float]:
    """The medians of both, and of their ratio; each goes first as often as the other."""
    for _ in range(5):
        one(), other()
    pairs = []
    for turn in range(turns):
        if turn % 2:
            second = other()
            pairs.append((one(), second))
        else:
            pairs.append((one(), other()))
    first, second = (statistics.median(column) for column in zip(*pairs, strict=True))
    return first, second, statistics.median(b / a for a, b in pairs)


def with_profiler(once: Callable[[], float], rounds: int, runs: int = 10) -> tuple[float, float, float]:
    """The medians of runs without and with the profiler, and of their ratio over the rounds."""
    without, profiled = [], []
    for _ in range(rounds):
        without.append(statistics.median(once() for _ in range(runs)))
        with tempfile.TemporaryDirectory() as folder, tracing(folder):
            # The first is slower, and left out of a profile too.
            once()
            profiled.append(statistics.median(once() for _ in range(runs)))
    ratio = statistics.median(b / a for a, b in zip(without, profiled, strict=True))
    return statistics.median(without), statistics.median(profiled), ratio


def values(name: str, heard: list[float], rounds: int) -> None:
    function, arguments = CORPUS[name]()
    plain, looking, count = [], [], 0
    for _ in range(rounds):
        jax.clear_caches()
        exploration = jv.explore(function, *arguments)
        exploration.hlo  # noqa: B018  # its compiling is none of it
        lowered = jax.jit(function).lower(*arguments)
        heard.clear()
        lowered.compile()
        plain.append(sum(heard))
        heard.clear()
        count = len(exploration.values())
        looking.append(sum(heard))
    ratio = statistics.median(b / a for a, b in zip(plain, looking, strict=True))
    print(
        f"{name:>20} {count:>5} {statistics.median(plain):8.2f} {statistics.median(looking):8.2f} {ratio:6.2f}",
        flush=True,
    )


def memory(name: str) -> bool:
    """Whether the peak and the gaps between values are what XLA sets aside, to the byte."""
    function, arguments = CORPUS[name]()
    found = jv.explore(function, *arguments).memory()
    stats = jax.jit(function).lower(*arguments).compile().memory_analysis()
    aside = stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes
    aside += stats.temp_size_in_bytes
    equal = found.peak + found.gaps == found.total == aside
    print(
        f"{name:>20} {found.peak:>10,} {found.gaps:>6,} {found.total:>10,} {aside:>10,} {'yes' if equal else 'NO':>6}",
        flush=True,
    )
    return equal


if __name__ == "__main__":
    main()
