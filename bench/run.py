"""What measuring costs, and how far measured figures agree with each other and with XLA's own.

    python -m bench run [--quick]

The flax train step with the profiler takes at most 1.3 times as long as without; a run takes at most 5 % more than a
plain timed loop; the lines' times add up to the operations' within 3 %; what is seen is at least 99 % of what is
executed; the peak of memory is what XLA sets aside; to look at values takes the compiler at most 1.2 times as long as
the program alone.

What is compared is run in turns, so that another load of the machine meets both alike; of the turns the median counts.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import jax

import jaxviz as jv
from jaxviz.measure.profile import tracing
from jaxviz.measure.run import Executable
from jaxviz.measure.waiting import Work

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs import CORPUS

_NAMES = ("mlp_grad", "scan_rnn", "convolution", "flax_block_forward", "flax_block_train")
_VALUES = ("mlp_grad", "mlp_train", "scan_rnn", "flax_block_forward", "flax_block_train")
_QUICK_MEMORY = ("mlp_grad", "scan_rnn", "convolution", "flax_block_train")


def main() -> None:
    quick = "--quick" in sys.argv
    turns = 60 if quick else 200
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}; medians of {turns} runs in turns, in ms")
    print(
        f"{'program':>20} {'plain':>8} {'run':>8} {'ratio':>6} {'plain':>8} {'profiled':>9} {'ratio':>6} {'seen':>6} "
        f"{'lines':>8} {'operations':>11} {'apart':>6}"
    )
    for name in _NAMES:
        timed(name, turns, rounds=6 if quick else 12)
    print("\nvalues: how many are looked at, and seconds of the compiler for the program alone and with them")
    heard: list[float] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **_: heard.append(seconds) if event.endswith("backend_compile_duration") else None
    )
    for name in _VALUES[:2] if quick else _VALUES:
        values(name, heard, rounds=3 if quick else 5)
    print("\nmemory in bytes: what XLA sets aside for temporary values, and the most that is alive at once")
    for name in _QUICK_MEMORY if quick else CORPUS:
        memory(name)


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

    # In a thread of its own, as a run is.
    without, ours, ratio = Work(lambda _: in_turns(plain, once, turns)).wait()
    quiet, profiled, times = Work(lambda _: with_profiler(once, rounds)).wait()
    profile = exploration.run(repeat=3).profile
    assert profile is not None
    lines = sum(each.seconds for each in profile.source_lines())
    total = profile.times.total
    apart = abs(lines - total) / total
    print(
        f"{name:>20} {1e3 * without:8.3f} {1e3 * ours:8.3f} {ratio:6.3f} {1e3 * quiet:8.3f} {1e3 * profiled:9.3f} "
        f"{times:6.3f} {profile.coverage:6.1%} {1e3 * lines:8.4f} {1e3 * total:11.4f} {apart:6.2%}",
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


def memory(name: str) -> None:
    function, arguments = CORPUS[name]()
    found = jv.explore(function, *arguments).memory()
    most = int(found.live.max()) if len(found.live) else 0
    share = most / found.temporary if found.temporary else 1.0
    peak = "" if found.xla_peak is None else f", XLA's peak {found.xla_peak:,}"
    print(f"{name:>20} {found.temporary:>10,} {most:>10,} {share:7.1%}; {found.total:>10,} in all{peak}", flush=True)


if __name__ == "__main__":
    main()
