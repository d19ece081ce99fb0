"""The values of a program as it runs: their range, mean, and how many of them are NaN, infinite or zero.

The program is compiled once more with some of its values as further results: those that are written to memory anyway,
because kernels end there, which costs little more than the program itself. Statistics are made of them on the host.
Where one of them is bad, the equations before it are looked at one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.graph import ARGUMENT, OPERATION, Graph
from jaxviz.loops.names import variables_of
from jaxviz.measure.arguments import Fill, Inputs, check_closed, check_fill, made_up_bytes, make_inputs
from jaxviz.measure.borders import written_values
from jaxviz.measure.effects import effects_of
from jaxviz.measure.errors import RunError, check_memory, failed, free_bytes
from jaxviz.measure.interior import host_array, owner_of, values_inside
from jaxviz.measure.progress import waited_for
from jaxviz.measure.waiting import Work
from jaxviz.read.values import short_dtype
from jaxviz.units import bytes_text

if TYPE_CHECKING:
    from jaxviz.capture import Capture

#: What the values may take on the device and the host together.
MOST_BYTES = 1_000_000_000
# Above this a person is told before.
_TOLD_BYTES = 100_000_000
# On the device, on the host, and as numbers that statistics are made of.
_COPIES = 3
_BINS = 16


@dataclass(frozen=True, eq=False)
class Value:
    """The statistics of one value: `node` of the jaxpr makes it. Range, mean and histogram are of what is finite."""

    node: int
    name: str
    type: str
    #: The line of the person's source, or 0.
    line: int
    count: int
    least: float
    most: float
    mean: float
    deviation: float
    nan: int
    infinite: int
    zero: int
    denormal: int
    #: How many lie in each of equal parts of the range.
    histogram: tuple[int, ...]
    #: Inside of a loop, over how many turns it is told, and the first that is bad, from 0; -1 where none is.
    turns: int = 0
    bad_turn: int = -1
    #: Which of the results of its node it is, from 0.
    result: int = 0

    @property
    def bad(self) -> bool:
        """Whether any of it is no finite number."""
        return bool(self.nan or self.infinite)

    def __str__(self) -> str:
        parts = [f"{self.least:.4g} to {self.most:.4g}, mean {self.mean:.4g}"] if self.histogram else []
        for count, word in ((self.nan, "NaN"), (self.infinite, "infinite"), (self.zero, "zero")):
            if count:
                parts.append(f"{count:,} of {self.count:,} {word}")
        at = f" (line {self.line})" if self.line else ""
        if self.turns:
            parts.append(f"over {self.turns:,} turn{'s' * (self.turns != 1)}")
        if self.bad_turn >= 0:
            parts.append(f"bad from turn {self.bad_turn} on, counted from 0")
        return f"{self.name} {self.type}{at}: {'; '.join(parts) or 'empty'}"


@dataclass(frozen=True, eq=False)
class Values:
    """The values that were looked at, in the order of the program."""

    values: tuple[Value, ...]
    #: The first that holds a NaN, or, where none does, the first that holds an infinity.
    first_bad: Value | None
    #: What they took, in bytes.
    bytes: int
    #: So many operations outside of bodies were not looked at, because no kernel writes what they make.
    left_out: int = 0

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def with_others(self, others: Values) -> Values:
        """These, and others that were looked at later."""
        new = {value.node for value in others}
        kept = [value for value in self if value.node not in new]
        together = tuple(sorted([*kept, *others], key=lambda value: value.node))
        bad = others.first_bad or self.first_bad
        # An operation with a body is as bad as what is inside of it, which says more.
        if bad is not None and bad not in together:
            bad = next((value for value in together if value.node == bad.node), None)
        return Values(together, bad, max(self.bytes, others.bytes), self.left_out)

    def __repr__(self) -> str:
        bad = "all of them finite" if self.first_bad is None else f"the first that is bad: {self.first_bad}"
        looked = f"{len(self):,} value{'s' * (len(self) != 1)} looked at, {bytes_text(self.bytes)}"
        more = ""
        if self.left_out:
            one = self.left_out == 1
            more = (
                f"; {self.left_out:,} operation{'s' * (not one)} inside of kernels {'was' if one else 'were'} not "
                "looked at (every=True does)"
            )
        return f"<Values: {looked}; {bad}{more}>"


def left_out(graph: Graph, values: Iterable[Value]) -> int:
    """How many operations outside of bodies have a value that was not looked at."""
    looked_at = {value.node for value in values}
    made = np.diff(graph.first_value) > 0
    outside = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.region == 0) & made)
    return len(set(outside.tolist()) - looked_at)


def values_of(
    capture: Capture,
    *,
    every: bool = False,
    inside: int | str | None = None,
    most_bytes: int = MOST_BYTES,
    fill: Fill = "normal",
    tell: Callable[[str], None],
) -> Values:
    """Runs a program once for the statistics of its values: where kernels end, or of `every` equation of its own level,
    or of those `inside` of one operation.

    What they take is bounded by `most_bytes`, and told before where it is much.
    """
    most_bytes = _checked(most_bytes)
    effects = effects_of(capture.jaxpr)
    if effects:
        tell(f"{capture.program.call} {effects}, once more for each look at its values.")
    if inside is not None:
        owner = owner_of(capture.jaxpr, inside)
        return _values_inside(capture, owner, _inputs(capture, fill, tell), most_bytes, tell)
    program, graph = capture.program, capture.jaxpr
    equations = compat.open_jaxpr(program.jaxpr).eqns
    nodes = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.region == 0))
    if len(nodes) != len(equations):
        raise RunError(f"the equations of {program.call} cannot be told apart: there are no values")
    run = _Runner(capture, equations, nodes.tolist(), most_bytes, tell)
    chosen = run.results_of(range(len(equations)))
    if not every:
        linked = capture.hlo
        written = written_values(graph, linked.graph, linked.links, jax.device_count())
        numbers = [int(graph.first_value[nodes[one.equation]]) + one.result for one in chosen]
        chosen = [
            one._replace(shape=written[number])
            for number, one in zip(numbers, chosen, strict=True)
            if number in written
        ]
    # Arguments may take long to fill: that there is room is known before.
    run.check(chosen)
    run.inputs = inputs = _inputs(capture, fill, tell)
    found = run.of(chosen)
    arguments = _of_arguments(graph, inputs)
    bad = _first_bad([*arguments, *found])
    # What was looked at where the first bad one is.
    there = found
    if bad is not None and bad in found and not every:
        # What comes before it inside of kernels was not seen yet.
        place = nodes.tolist().index(bad.node)
        there = run.of(run.results_of(range(place + 1)))
        before = _first_bad(there)
        bad = bad if before is None or before.node == bad.node else before
    shown = [*arguments, *found]
    # What is bad after a loop or a call began in it.
    while bad is not None and bad.node in graph.owned_regions:
        try:
            inner = _values_inside(capture, bad.node, inputs, most_bytes, tell)
        except RunError:
            break
        if inner.first_bad is None:
            break
        bad, there = inner.first_bad, list(inner)
    if bad is not None:
        # What it reads tells why it is bad.
        read = set(_read_by(graph, bad.node)) - {value.node for value in shown}
        further = [value for value in there if value.node in read]
        shown = sorted([*shown, *further, *([] if bad in shown else [bad])], key=lambda value: value.node)
    return Values(tuple(shown), bad, run.bytes, left_out(graph, shown))


def _read_by(graph: Graph, node: int) -> list[int]:
    """The nodes that make what a node reads."""
    read = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]]
    return [int(graph.value_node[value]) for value in read if value >= 0]


def _checked(most_bytes: Any) -> int:
    if isinstance(most_bytes, bool) or not isinstance(most_bytes, int | float) or not most_bytes > 0:
        raise ValueError(f"most_bytes must be a number of bytes above 0, not {most_bytes!r}")
    return int(min(most_bytes, sys.maxsize))


def _inputs(capture: Capture, fill: Fill, tell: Callable[[str], None]) -> Inputs:
    program = capture.program
    if program.target is not None and program.target.limits:
        raise RunError(f"{program.call} is compiled for {program.target.label}, which is not here: nothing runs")
    check_fill(fill)
    args, kwargs = program.dynamic_arguments
    check_closed(program.traced, program.jaxpr)
    check_memory(program.call, made_up_bytes(args, kwargs), jax.devices()[0])
    about = program.traced.args_info
    inputs = waited_for(
        program.call,
        "filling arguments",
        lambda work: make_inputs(args, kwargs, about, None, fill, work.go_on, work.until_ready),
        tell,
    )
    # Nothing is donated here.
    return replace(inputs, donated=[False] * len(inputs.leaves))


def _values_inside(
    capture: Capture, owner: int, inputs: Inputs, most_bytes: int, tell: Callable[[str], None]
) -> Values:
    needed = 0

    def check(amount: int, count: int) -> None:
        nonlocal needed
        _check(capture.program.call, amount, count, most_bytes, tell if amount > 2 * needed else _silent)
        needed = max(needed, amount)

    graph = capture.jaxpr
    found = [
        _statistics(graph, one.node, one.array, one.turns, one.at)
        for one in values_inside(capture, owner, inputs, check, tell)
    ]
    bad = [value for value in found if value.bad]
    first = min(bad, key=lambda value: (value.bad_turn, not value.nan, value.node)) if bad else None
    return Values(tuple(sorted(found, key=lambda value: value.node)), first, needed)


def _silent(text: str) -> None:
    pass


def _check(call: str, needed: int, count: int, most_bytes: int, tell: Callable[[str], None]) -> None:
    """`RunError` for values that take too much; told where they take much."""
    free = free_bytes(jax.devices()[0])
    said = f"to look at {count:,} value{'s' * (count != 1)} of {call} needs {bytes_text(needed)} of memory"
    if needed > most_bytes:
        raise RunError(
            f"{said}, and only {bytes_text(most_bytes)} may be used: nothing was run. most_bytes={needed} allows it."
        )
    if free is not None and needed > free // _COPIES:
        raise RunError(
            f"{said}, up to {_COPIES} times as much for a moment, and {bytes_text(free)} are free: nothing was run. "
            "Look at fewer of them with inside=..., or at smaller arguments."
        )
    if needed > _TOLD_BYTES:
        tell(f"To look at {count:,} value{'s' * (count != 1)} of {call} needs {bytes_text(needed)} of memory.")


class _Result(NamedTuple):
    """One of the results of an equation, both by their numbers."""

    equation: int
    result: int
    variable: Any
    #: The shape in which it is asked for, where that is another than its own.
    shape: tuple[int, ...] | None = None


class _Runner:
    """Runs the program with the results of some equations as its own."""

    def __init__(
        self,
        capture: Capture,
        equations: Sequence[Any],
        nodes: Sequence[int],
        most_bytes: int,
        tell: Callable[[str], None],
    ) -> None:
        self.capture = capture
        self.equations = equations
        self.nodes = nodes
        self.most_bytes = most_bytes
        self.tell = tell
        self.bytes = 0
        self.inputs: Inputs | None = None

    def results_of(self, equations: Iterable[int]) -> list[_Result]:
        """What some equations make."""
        return [
            _Result(place, number, variable)
            for place in equations
            for number, variable in enumerate(self.equations[place].outvars)
            if _is_array(variable)
        ]

    def check(self, chosen: Sequence[_Result]) -> None:
        """`RunError` where they take too much."""
        needed = sum(_bytes(one.variable.aval) for one in chosen)
        if chosen:
            _check(self.capture.program.call, needed, len(chosen), self.most_bytes, self.tell)
        self.bytes = max(self.bytes, needed)

    def of(self, chosen: Sequence[_Result]) -> list[Value]:
        if not chosen or self.inputs is None:
            return []
        if sum(_bytes(one.variable.aval) for one in chosen) > self.bytes:
            self.check(chosen)
        call, leaves = self.capture.program.call, self.inputs.leaves

        def compute(work: Work[list[Any]]) -> list[Any]:
            results = work.until_ready(jax.jit(self._function(chosen))(*leaves))
            return [_as_it_is(one, host_array(result)) for one, result in zip(chosen, results, strict=True)]

        try:
            arrays = waited_for(call, "looking at its values", compute, self.tell)
        except Exception as error:
            raise failed(call, error) from error
        graph = self.capture.jaxpr
        return [
            _statistics(graph, self.nodes[one.equation], array, result=one.result)
            for one, array in zip(chosen, arrays, strict=True)
        ]

    def _function(self, chosen: Sequence[_Result]) -> Callable[..., list[Any]]:
        closed = self.capture.program.jaxpr
        inner = compat.open_jaxpr(closed)
        changed: dict[str, Any] = {"outvars": [one.variable for one in chosen]}
        if getattr(inner, "debug_info", None) is not None:
            # It names the results, which are others now.
            with_names = inner.debug_info
            if hasattr(with_names, "_replace"):
                names = tuple(f"value[{number}]" for number in range(len(chosen)))
                changed["debug_info"] = with_names._replace(result_paths=names)
        jaxpr = inner.replace(**changed)
        run = compat.jaxpr_as_fun(closed.replace(jaxpr=jaxpr) if inner is not closed else jaxpr)

        def looked_at(*leaves: Any) -> list[Any]:
            return [_as_written(one, value) for one, value in zip(chosen, run(*leaves), strict=True)]

        return looked_at


def _as_written(one: _Result, value: Any) -> Any:
    """A value in the shape that a kernel gives it."""
    if one.shape is None or one.shape == value.shape or jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended):
        return value
    return lax.reshape(value, one.shape)


def _as_it_is(one: _Result, array: NDArray[Any]) -> NDArray[Any]:
    """A value on the host in the shape that the program gives it."""
    shape = one.variable.aval.shape
    return array.reshape(shape) if array.size == np.prod(shape, dtype=np.int64) else array


def _is_array(variable: Any) -> bool:
    """Whether a variable is a value that is used, and one of numbers."""
    aval = variable.aval
    return type(variable).__name__ != "DropVar" and hasattr(aval, "shape") and hasattr(aval, "dtype")


def _bytes(aval: Any) -> int:
    return int(np.prod(aval.shape, dtype=np.int64)) * getattr(aval.dtype, "itemsize", 8)


def _of_arguments(graph: Graph, inputs: Inputs) -> list[Value]:
    nodes = np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist()
    if len(nodes) != len(inputs.leaves):
        return []
    return [
        _statistics(graph, node, host_array(leaf))
        for node, leaf in zip(nodes, inputs.leaves, strict=True)
        if hasattr(leaf, "dtype")
    ]


def _first_bad(values: Sequence[Value]) -> Value | None:
    ordered = sorted(values, key=lambda value: value.node)
    return next((value for value in ordered if value.nan), next((value for value in ordered if value.bad), None))


def value_name(graph: Graph, node: int, result: int) -> str:
    """What makes a value; of several results, which one, by the variable that it goes to where that is known."""
    shown = graph.node(node)
    name, count = shown.name or shown.op, len(shown.types)
    if count < 2:
        return name
    variable = variables_of(graph, node)[result]
    return f"{name}: {variable}" if variable else f"{name}: {result + 1} of {count}"


def _statistics(
    graph: Graph, node: int, array: NDArray[Any], turns: int = 0, at: Sequence[int] = (), result: int | None = None
) -> Value:
    shown = graph.node(node)
    numbers = np.abs(array) if np.iscomplexobj(array) else array
    numbers = numbers.astype(np.float64)
    bad_turn = -1
    if turns:
        bad = ~np.isfinite(numbers.reshape(turns, -1)).all(axis=1)
        bad_turn = int(bad.argmax()) if bad.any() else -1
        bad_turn = at[bad_turn] if bad_turn >= 0 and at else bad_turn
    numbers = numbers.ravel()
    nan, infinite = int(np.isnan(numbers).sum()), int(np.isinf(numbers).sum())
    finite = numbers[np.isfinite(numbers)]
    tiny = _smallest(array.dtype)
    size = np.abs(finite)
    empty = not len(finite)
    histogram: tuple[int, ...] = ()
    if not empty:
        histogram = _histogram(finite)
    return Value(
        node=node,
        name=shown.name or shown.op if result is None else value_name(graph, node, result),
        type=shown.types[0] if len(shown.types) == 1 else _type_text(array, turns),
        line=shown.line,
        count=int(array.size),
        least=0.0 if empty else float(finite.min()),
        most=0.0 if empty else float(finite.max()),
        mean=0.0 if empty else float((finite / len(finite)).sum()),
        deviation=0.0 if empty else float(np.std(finite)),
        nan=nan,
        infinite=infinite,
        zero=int((size == 0).sum()),
        denormal=int(((size > 0) & (size < tiny)).sum()) if tiny else 0,
        histogram=histogram,
        turns=turns,
        bad_turn=bad_turn,
        result=result or 0,
    )


def _histogram(finite: NDArray[np.float64]) -> tuple[int, ...]:
    """How many lie in each of equal parts of the range. The parts are counted as shares of it: borders between numbers
    that are next to each other, or so far apart that no number says how far, would not be numbers themselves."""
    with np.errstate(over="ignore", under="ignore"):
        least, most = finite.min(), finite.max()
        scale = 1.0 if np.isfinite(most - least) else 0.25
        width = scale * most - scale * least
        if not width:
            part = np.full(finite.shape, _BINS // 2)
        else:
            part = np.minimum(((scale * finite - scale * least) / width * _BINS).astype(np.int64), _BINS - 1)
    return tuple(np.bincount(part, minlength=_BINS).tolist())


def _type_text(array: NDArray[Any], turns: int) -> str:
    """Of one of several results; the turns of a loop are no axis of it."""
    return f"{short_dtype(array.dtype)}[{','.join(map(str, array.shape[1:] if turns else array.shape))}]"


def _smallest(dtype: Any) -> float:
    """The smallest normal number of a type; 0 for whole numbers."""
    try:
        return float(jax.numpy.finfo(dtype).tiny)
    except (ValueError, TypeError):
        return 0.0
