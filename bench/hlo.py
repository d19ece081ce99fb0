"""What reading optimized HLO costs beside compiling it; 10,000 damaged modules are read or refused.

    python -m bench hlo
    python -m bench.hlo --damaged 10000

Text should take at most 5 microseconds of a processor an instruction. The modules are training steps of transformers,
compiled for this machine; their frames are long and their names many, as in a person's own.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import jax

from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.tables import Tables

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs import CORPUS, flax_block
from read.hlo_mutations import changed_bytes, changed_text


def compiled(case: Any) -> tuple[Any, float]:
    fn, arguments = case
    lowered = jax.jit(fn).lower(*arguments)
    start = perf_counter()
    module = lowered.compile().runtime_executable().hlo_modules()[0]
    return module, perf_counter() - start


def seconds(read: Any, source: Any, repeat: int = 7) -> float:
    """The fastest of several runs, in seconds of a processor: what else the machine does comes on top."""
    times = []
    for _ in range(repeat):
        start = thread_time()
        read(source)
        times.append(thread_time() - start)
    return min(times)


def speed() -> None:
    print(f"jax {jax.__version__}; microseconds an instruction, and seconds to compile and to read text into a graph")
    print(f"{'layers':>6} {'instructions':>12} {'text':>6} {'proto':>6} {'graph':>6} {'compile s':>10} {'read s':>7}")
    for layers in (1, 4, 12):
        module, compile_seconds = compiled(flax_block(layers=layers))
        text, data = module.to_string(), module.as_serialized_hlo_module_proto()
        parsed = parse_hlo_text(text)
        of_text, of_proto = seconds(parse_hlo_text, text), seconds(parse_hlo_proto, data)
        of_graph = seconds(lambda parsed: read_hlo(parsed, Tables()), parsed)
        each = [1e6 * time / len(parsed) for time in (of_text, of_proto, of_graph)]
        columns = " ".join(f"{time:6.2f}" for time in each)
        print(f"{layers:6} {len(parsed):12,} {columns} {compile_seconds:10.2f} {of_text + of_graph:7.3f}", flush=True)


def damaged(count: int) -> None:
    """Half of them texts, half protocol buffers; anything but a graph that checks or an `HloError` ends the run."""
    modules = [compiled(CORPUS[name]())[0] for name in ("fori", "while_loop", "cond", "scan_rnn", "linear_algebra")]
    sources = [(module.to_string(), module.as_serialized_hlo_module_proto()) for module in modules]
    read = refused = 0
    longest = 0.0
    for number in range(count):
        chance = random.Random(number)
        text, data = chance.choice(sources)
        start = perf_counter()
        try:
            if number % 2:
                module = parse_hlo_text(changed_text(text, chance))
            else:
                module = parse_hlo_proto(changed_bytes(data, chance))
            read_hlo(module).graph.check()
            read += 1
        except HloError:
            refused += 1
        longest = max(longest, perf_counter() - start)
    print(f"{count:,} damaged modules: {read:,} read, {refused:,} refused, the slowest in {longest * 1e3:.0f} ms")


def main() -> None:
    if "--damaged" in sys.argv:
        damaged(int(sys.argv[sys.argv.index("--damaged") + 1]))
        return
    speed()
    damaged(10_000)


if __name__ == "__main__":
    main()
