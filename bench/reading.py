"""What reading a jaxpr costs beside tracing it, and how large a document becomes.

    python bench/reading.py [--quick]

Reading should stay below 10 % of tracing. Flat programs repeat `x = x * 1.01 + 0.1`. Nested ones are loops in loops,
each with a body of its own. Jits call a new jitted function in each turn. Two rows are the hardest there are for a
reader: called ones call one inner jitted function again and again, whose trace JAX keeps, so that JAX pays only for the
call while the graph holds a body more; straight ones have a line of their own for each statement, so that no two call
stacks are equal. All run in one process, so the figures of one row vary by some ten per cent; they are in seconds of a
processor, so that other work on the machine disturbs them less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median
from time import thread_time
from typing import Any

import jax
import jax.numpy as jnp

from jaxviz.document import Document, ProgramEntry, StageEntry
from jaxviz.program.program import Program
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables


def flat(equations: int) -> Callable[[jax.Array], jax.Array]:
    def loop(x: jax.Array) -> jax.Array:
        for _ in range(equations // 2):
            x = x * 1.01 + 0.1
        return x

    return loop


def nested(equations: int) -> Callable[[jax.Array], jax.Array]:
    """Loops with a body of twenty-two operations, ten of them in a loop inside it."""

    def inner(x: jax.Array, _: None) -> tuple[jax.Array, None]:
        for _ in range(5):
            x = x * 1.01 + 0.1
        return x, None

    def loop(x: jax.Array) -> jax.Array:
        for _ in range(equations // 22):

            def outer(x: jax.Array, _: None) -> tuple[jax.Array, None]:
                for _ in range(5):
                    x = x * 1.01 + 0.1
                # A function of its own each time, or JAX would keep its trace.
                return jax.lax.scan(lambda *carry: inner(*carry), x, None, length=2)[0], None

            x = jax.lax.scan(outer, x, None, length=2)[0]
        return x

    return loop


def called(equations: int) -> Callable[[jax.Array], jax.Array]:
    """An equation for each call and two inside it."""

    @jax.jit
    def step(x: jax.Array) -> jax.Array:
        return x * 1.01 + 0.1

    def loop(x: jax.Array) -> jax.Array:
        for _ in range(equations // 3):
            x = step(x)
        return x

    return loop


def jits(equations: int) -> Callable[[jax.Array], jax.Array]:
    """An equation for each call and two inside it, each call one of a new function."""

    def loop(x: jax.Array) -> jax.Array:
        for _ in range(equations // 3):
            x = jax.jit(lambda x: x * 1.01 + 0.1)(x)
        return x

    return loop


def straight(equations: int) -> Callable[[jax.Array], jax.Array]:
    """Two equations on each line of a long function."""
    source = "def run(x):\n" + "    x = x * 1.01 + 0.1\n" * (equations // 2) + "    return x\n"
    names: dict[str, Any] = {}
    exec(compile(source, f"<straight {equations}>", "exec"), names)
    return names["run"]


def measure(fn: Callable[..., Any], repeat: int) -> tuple[float, float, int]:
    """Median seconds on a processor of tracing and of reading, and the number of operations."""
    traces, reads, operations = [], [], 0
    for _ in range(repeat):
        # A new function object each time, or JAX answers from its cache.
        program = Program(lambda x: fn(x), (jax.ShapeDtypeStruct((16,), jnp.float32),))
        start = thread_time()
        jaxpr = program.jaxpr
        traces.append(thread_time() - start)
        start = thread_time()
        graph = read_jaxpr(jaxpr, Tables())
        reads.append(thread_time() - start)
        operations = int((graph.nodes.kind == 0).sum())
    return median(traces), median(reads), operations


def document_size(equations: int) -> int:
    """Bytes on disk of a document of a flat program."""
    tables = Tables()
    program = Program(flat(equations), (jax.ShapeDtypeStruct((16,), jnp.float32),))
    graph = read_jaxpr(program.jaxpr, tables)
    entry = ProgramEntry(program.name, program.call, tables.file(program.file), program.line, (StageEntry("jaxpr", 0),))
    import json

    return len(json.dumps(Document(tables, (graph,), (entry,)).to_json()))


def main() -> None:
    sizes = (1_000, 10_000) if "--quick" in sys.argv else (1_000, 10_000, 100_000)
    programs = (flat, nested, jits, called, straight)
    for make in programs:
        measure(make(100), 1)
    print(f"jax {jax.__version__}")
    print(f"{'program':8} {'operations':>10} {'trace ms':>10} {'read ms':>9} {'ratio':>7}")
    for make in programs:
        for size in sizes:
            trace, read, operations = measure(make(size), 5 if size < 100_000 else 1)
            print(f"{make.__name__:8} {operations:>10,} {trace * 1e3:>10.1f} {read * 1e3:>9.2f} {read / trace:>7.1%}")
    print(f"document of 10,000 nodes: {document_size(10_000) / 1e3:.1f} kB")


if __name__ == "__main__":
    main()
