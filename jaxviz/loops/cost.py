"""What one way to write a program costs: to trace, to compile and to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxviz import compat
from jaxviz.measure.waiting import Work
from jaxviz.read.bodies import bodies_of
from jaxviz.units import plural

#: More equations than this are not compiled just to be compared: XLA would take minutes.
MOST_COMPILED = 20_000
# Runs that are timed, and after how many seconds no other is begun.
_RUNS, _SECONDS = 20, 0.5


@dataclass(frozen=True)
class Cost:
    """What one way to write a program costs: equations with those of bodies, seconds; None where not measured.

    `trace` of what the person wrote is what it cost when it was explored.
    """

    equations: int
    trace: float
    compile: float | None
    run: float | None

    @property
    def ready(self) -> float:
        """Seconds until it can run."""
        return self.trace + (self.compile or 0.0)


class Measured(NamedTuple):
    """What a program costs; and where it was run, its results, and what gives those of other arguments."""

    cost: Cost
    results: Sequence[np.ndarray] | None = None
    again: Callable[[Sequence[Any]], Sequence[np.ndarray]] = lambda arguments: ()


def measured_cost(
    jaxpr: Any,
    shapes: Sequence[Any],
    arguments: Sequence[Any] | None,
    begin: Callable[[str], None] = lambda step: None,
    name: str = "it",
) -> Measured:
    """What a jaxpr costs: traced again from its equations, compiled, and run on the arguments, where there are any.

    `begin` hears of each step, in which the program goes by `name`.
    """
    run = compat.jaxpr_as_fun(jaxpr)
    equations = _equations(jaxpr)
    begin(f"tracing {name}")
    start = perf_counter()
    traced = jax.jit(lambda *arguments: run(*arguments)).trace(*shapes)
    trace = perf_counter() - start
    if equations > MOST_COMPILED:
        return Measured(Cost(equations, trace, None, None))
    begin(f"compiling {name}, {plural(equations, 'equation')}")
    start = perf_counter()
    lowered = traced.lower()
    compiled: Any = Work(lambda _: lowered.compile()).wait()
    compile_seconds = perf_counter() - start
    if arguments is None:
        return Measured(Cost(equations, trace, compile_seconds, None))
    begin(f"running {name}")
    seconds: list[float] = []

    def timed(work: Work[Any]) -> Any:
        results = work.until_ready(compiled(*arguments))
        while len(seconds) < _RUNS and sum(seconds) < _SECONDS:
            work.go_on()
            start = perf_counter()
            work.until_ready(compiled(*arguments))
            seconds.append(perf_counter() - start)
        return results

    def again(others: Sequence[Any]) -> list[np.ndarray]:
        results = Work(lambda work: work.until_ready(compiled(*others))).wait()
        return [_numbers(result) for result in results]

    results = [_numbers(result) for result in Work(timed).wait()]
    return Measured(Cost(equations, trace, compile_seconds, median(seconds)), results, again)


def _equations(jaxpr: Any) -> int:
    known: dict[int, int] = {}

    def count(body: Any) -> int:
        body = compat.open_jaxpr(body)
        if id(body) not in known:
            known[id(body)] = sum(
                1 + sum(count(inner.jaxpr) for inner in bodies_of(equation).bodies) for equation in body.eqns
            )
        return known[id(body)]

    return count(jaxpr)


def random_value(shape: Any, random: np.random.Generator | None = None) -> Any:
    """Numbers for an argument of which the shape is known."""
    random = np.random.default_rng(0) if random is None else random
    if jax.dtypes.issubdtype(shape.dtype, jax.dtypes.prng_key):
        keys = jax.random.split(jax.random.key(0), int(np.prod(shape.shape)))
        return keys.reshape(shape.shape)
    if jax.dtypes.issubdtype(shape.dtype, np.inexact):
        return jax.numpy.asarray(random.normal(size=shape.shape), shape.dtype)
    return jax.numpy.ones(shape.shape, shape.dtype)


def _numbers(result: Any) -> np.ndarray:
    if jax.dtypes.issubdtype(result.dtype, jax.dtypes.extended):
        result = jax.random.key_data(result)
    return np.asarray(result)
