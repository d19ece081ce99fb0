"""What a loop costs over its number of turns: as a loop of JAX, and with its body written out again and again.

The loop is taken by itself, out of the program around it, and run on made-up numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxviz import compat
from jaxviz.compat.threads import outside_the_cache
from jaxviz.loops.cost import Cost, measured_cost, random_value
from jaxviz.read.bodies import bodies_of
from jaxviz.units import plural, seconds_text

#: The numbers of turns that are tried, up to that of the program.
TURNS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)
# Seconds after which no longer loop is tried, and the most equations that are written out.
_SECONDS, _MOST_EQUATIONS = 20.0, 6000
# A point is compiled only if the one before says that it takes no longer.
_ONE_POINT = 8.0
# What runs in a time that differs by less runs as fast.
_FASTER, _NOTHING = 1.5, 2e-5


@dataclass(frozen=True)
class Point:
    """What a loop of so many turns costs; `unrolled` is None where writing it out takes too long to be tried."""

    turns: int
    loop: Cost
    unrolled: Cost | None


@dataclass(frozen=True, eq=False)
class Curve:
    """What one loop costs over its number of turns. `name` says which it is, `own` how many it has in the program."""

    name: str
    own: int
    points: tuple[Point, ...]

    @property
    def crossing(self) -> int | None:
        """From so many turns on, the loop is ready sooner than its body written out; None where it never was."""
        later = None
        for point in reversed(self.points):
            if point.unrolled is None:
                continue
            if point.loop.ready >= point.unrolled.ready:
                break
            later = point.turns
        return later

    def lines(self) -> list[str]:
        """What was found, in words."""
        both = [point for point in self.points if point.unrolled is not None]
        if not both:
            return []
        last = both[-1]
        assert last.unrolled is not None
        lines = [
            f"{self.name}: with {plural(last.turns, 'turn')} it is ready in {seconds_text(last.loop.ready)} as a "
            f"loop, and in {seconds_text(last.unrolled.ready)} unrolled"
        ]
        if self.crossing is not None and self.crossing > both[0].turns:
            lines.append(f"up to {plural(_before(both, self.crossing), 'turn')}, unrolled is ready as soon")
        faster = [point.turns for point in both if _faster(point)]
        if faster:
            lines.append(f"unrolled, it runs faster with {', '.join(f'{turns:,}' for turns in faster)} of them")
        return lines

    def __repr__(self) -> str:
        rows = [("turns", "loop: ready", "runs", "unrolled: ready", "runs")]
        for point in self.points:
            other = point.unrolled
            rows.append(
                (
                    f"{point.turns:,}",
                    seconds_text(point.loop.ready),
                    _time(point.loop.run),
                    seconds_text(other.ready) if other else "not tried",
                    _time(other.run) if other else "",
                )
            )
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        table = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"{self.name}, by itself", *table, *self.lines()])


def _before(points: Sequence[Point], crossing: int) -> int:
    return max((point.turns for point in points if point.turns < crossing), default=crossing)


def _faster(point: Point) -> bool:
    """Whether a loop runs clearly faster where it is written out."""
    if point.unrolled is None or point.loop.run is None or point.unrolled.run is None:
        return False
    return point.loop.run > max(_FASTER * point.unrolled.run, point.unrolled.run + _NOTHING)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else seconds_text(seconds)


def curve_of(jaxpr: Any, go_on: Callable[[], None] = lambda: None, seconds: float = _SECONDS, name: str = "") -> Curve:
    """The curve of the loop of a jaxpr that would be longest if it were written out; `name` says which that is.

    Raises `ValueError` where there is no loop with a fixed number of turns.
    """
    equation = _largest_loop(jaxpr)
    if equation is None:
        raise ValueError("there is no loop with a fixed number of turns: no scan, and no fori_loop with fixed bounds")
    loop = _Loop(equation)
    turns = sorted({*(count for count in TURNS if count < loop.length), loop.length})
    points: list[Point] = []
    with outside_the_cache():
        _add_points(points, loop, turns, seconds, go_on)
    return Curve(name or loop.name, loop.length, tuple(points))


def _add_points(
    points: list[Point], loop: _Loop, turns: Sequence[int], seconds: float, go_on: Callable[[], None]
) -> None:
    started = perf_counter()
    last: Cost | None = None
    for count in turns:
        go_on()
        if points and perf_counter() - started > seconds:
            break
        shapes = loop.shapes(count)
        arguments = [random_value(shape) for shape in shapes]
        as_loop = measured_cost(jax.make_jaxpr(loop.as_loop(count))(*shapes), shapes, arguments).cost
        go_on()
        unrolled = None
        growth = count / points[-1].turns if points else 1.0
        if loop.equations * count <= _MOST_EQUATIONS and (last is None or growth * last.ready < _ONE_POINT):
            start = perf_counter()
            written = jax.make_jaxpr(loop.unrolled(count))(*shapes)
            traced = perf_counter() - start
            found = measured_cost(written, shapes, arguments).cost
            unrolled = Cost(found.equations, traced, found.compile, found.run)
        last = unrolled
        points.append(Point(count, as_loop, unrolled))


class _Loop:
    """A scan out of a program."""

    def __init__(self, equation: Any) -> None:
        params = equation.params
        self._body = compat.jaxpr_as_fun(params["jaxpr"])
        self.length = int(params["length"])
        self._reverse = bool(params["reverse"])
        self._constants, self._carried = compat.scan_counts(params)
        self._avals = [variable.aval for variable in equation.invars]
        self.equations = _count(params["jaxpr"])
        function = compat.function_of(params["jaxpr"])
        self.name = f"scan over {function.name}" if function is not None and function.name.isidentifier() else "scan"

    def shapes(self, turns: int) -> list[jax.ShapeDtypeStruct]:
        """What the loop of so many turns is given."""
        before = self._constants + self._carried
        return [
            jax.ShapeDtypeStruct(aval.shape if place < before else (turns, *aval.shape[1:]), aval.dtype)
            for place, aval in enumerate(self._avals)
        ]

    def as_loop(self, turns: int) -> Callable[..., Any]:
        """The loop as JAX has it."""

        def run(*arguments: Any) -> Any:
            constants, carry, given = self._apart(arguments)

            def turn(carry: Any, pieces: Any) -> Any:
                made = self._body(*constants, *carry, *pieces)
                return tuple(made[: self._carried]), tuple(made[self._carried :])

            return lax.scan(turn, carry, given, length=turns, reverse=self._reverse)

        return run

    def unrolled(self, turns: int) -> Callable[..., Any]:
        """The same as a loop of Python."""

        def run(*arguments: Any) -> Any:
            constants, carry, given = self._apart(arguments)
            rows: list[Any] = []
            for turn in reversed(range(turns)) if self._reverse else range(turns):
                made = self._body(*constants, *carry, *(piece[turn] for piece in given))
                carry = tuple(made[: self._carried])
                rows.append(tuple(made[self._carried :]))
            if self._reverse:
                rows.reverse()
            return carry, tuple(jnp.stack(column) for column in zip(*rows, strict=True))

        return run

    def _apart(self, arguments: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        first, second = self._constants, self._constants + self._carried
        return tuple(arguments[:first]), tuple(arguments[first:second]), tuple(arguments[second:])


def _largest_loop(jaxpr: Any) -> Any:
    """The scan of which most equations would be written out, inside of bodies too."""
    found: list[tuple[int, Any]] = []
    seen: set[int] = set()

    def visit(body: Any) -> None:
        inner = compat.open_jaxpr(body)
        if id(inner) in seen:
            return
        seen.add(id(inner))
        for equation in inner.eqns:
            if equation.primitive.name == "scan" and int(equation.params["length"]) > 1:
                found.append((int(equation.params["length"]) * _count(equation.params["jaxpr"]), equation))
            for one in bodies_of(equation).bodies:
                visit(one.jaxpr)

    visit(jaxpr)
    return max(found, key=lambda one: one[0])[1] if found else None


def _count(jaxpr: Any) -> int:
    """Equations, with those of bodies."""
    return sum(
        1 + sum(_count(inner.jaxpr) for inner in bodies_of(equation).bodies)
        for equation in compat.open_jaxpr(jaxpr).eqns
    )
