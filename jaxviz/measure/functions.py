"""The functions that are jitted inside of a program, and what each costs to compile by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import jax

from jaxviz import compat
from jaxviz.measure.waiting import Work
from jaxviz.program.program import Program
from jaxviz.read.bodies import bodies_of
from jaxviz.read.values import short_dtype
from jaxviz.units import seconds_text

# So many are compiled, those with most equations, and none that is smaller.
_MOST, _FEWEST = 8, 3


@dataclass(frozen=True)
class FunctionCost:
    """A function that is jitted inside of another: how often it is called, how many equations it has with those of
    its bodies, and what it costs by itself. `trace` is what was seen of it while the whole was traced, 0 where it was
    too quick to be seen."""

    name: str
    file: str
    line: int
    calls: int
    equations: int
    trace: float
    lower: float
    compile: float

    @property
    def seconds(self) -> float:
        return self.trace + self.lower + self.compile

    def __str__(self) -> str:
        return (
            f"{self.name}: called {self.calls} times, {self.equations:,} equations, "
            f"{seconds_text(self.lower)} to lower, {seconds_text(self.compile)} to compile"
        )


class _Found:
    def __init__(self, jaxpr: Any, name: str) -> None:
        self.jaxpr, self.name = jaxpr, name
        self.calls = 0
        self.equations = 0


def function_costs(program: Program, budget: float) -> tuple[FunctionCost, ...]:
    """Compiles the largest of them one by one, until so many seconds are spent."""
    inner = [one for one in _jitted(program.jaxpr) if one.equations >= _FEWEST]
    inner.sort(key=lambda one: -one.equations)
    started = perf_counter()
    found = []
    for one in inner[:_MOST]:
        if perf_counter() - started > budget:
            break
        try:
            lower, compiled = _alone(one.jaxpr)
        except Exception:
            # What reads values that only the whole program has, such as a mesh axis, is not compiled by itself.
            continue
        function = compat.function_of(one.jaxpr)
        place = (function.file, function.line, function.name) if function is not None else ("", 0, "")
        traced = program.traced_where.functions.get(place, 0.0)
        found.append(FunctionCost(one.name, place[0], place[1], one.calls, one.equations, traced, lower, compiled))
    return tuple(sorted(found, key=lambda one: -one.seconds))


def _jitted(jaxpr: Any) -> list[_Found]:
    """Every jitted body once, with how often it stands in the program."""
    known: dict[int, _Found] = {}
    counts: dict[int, int] = {}

    def count(body: Any) -> int:
        inner = compat.open_jaxpr(body)
        if id(inner) not in counts:
            total = 0
            for equation in inner.eqns:
                total += 1 + sum(count(one.jaxpr) for one in bodies_of(equation).bodies)
            counts[id(inner)] = total
        return counts[id(inner)]

    calls: dict[int, Counter[int]] = {}

    def calls_in(body: Any) -> Counter[int]:
        """How often each is called where a body runs once; in a loop, once for all its turns."""
        inner = compat.open_jaxpr(body)
        if id(inner) not in calls:
            found: Counter[int] = Counter()
            for equation in inner.eqns:
                for one in bodies_of(equation).bodies:
                    found += calls_in(one.jaxpr)
                    if equation.primitive.name in ("jit", "pjit"):
                        key = id(compat.open_jaxpr(one.jaxpr))
                        known.setdefault(key, _Found(one.jaxpr, f"{one.name}({_types(one.jaxpr)})"))
                        found[key] += 1
            calls[id(inner)] = found
        return calls[id(inner)]

    for key, times in calls_in(jaxpr).items():
        known[key].calls = times
        known[key].equations = count(known[key].jaxpr)
    return list(known.values())


def _types(jaxpr: Any) -> str:
    avals = [variable.aval for variable in compat.open_jaxpr(jaxpr).invars]
    texts = [
        f"{short_dtype(aval.dtype)}[{','.join(map(str, aval.shape))}]" if hasattr(aval, "dtype") else str(aval)
        for aval in avals[:3]
    ]
    return ", ".join(texts) + (", ..." if len(avals) > 3 else "")


def _alone(jaxpr: Any) -> tuple[float, float]:
    """Seconds to lower and to compile a function by itself, without any cache."""
    run = compat.jaxpr_as_fun(jaxpr)
    shapes = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in compat.open_jaxpr(jaxpr).invars]
    traced = jax.jit(lambda *arguments: run(*arguments)).trace(*shapes)
    start = perf_counter()
    lowered = traced.lower()
    lower = perf_counter() - start
    start = perf_counter()
    Work(lambda _: lowered.compile()).wait()
    return lower, perf_counter() - start
