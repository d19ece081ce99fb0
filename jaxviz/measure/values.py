"""The values of a program as it runs: their range, mean, and how many of them are NaN, infinite or zero.

The program is compiled once more with some of its values as further results: those that are written to memory anyway,
because kernels end there, which costs little more than the program itself. Statistics are made of them on the host.
Where one of them is bad, the equations before it are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend import core as jax_core
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.find.finding import bytes_text
from jaxviz.graph import ARGUMENT, OPERATION, RESULT, Graph
from jaxviz.measure.arguments import Fill, Inputs, check_closed, check_fill, make_inputs
from jaxviz.measure.cost import cost_of
from jaxviz.measure.effects import effects_of
from jaxviz.measure.errors import RunError, failed, free_bytes
from jaxviz.measure.interior import host_array, owner_of, values_inside
from jaxviz.measure.progress import waited_for
from jaxviz.measure.waiting import Work
from jaxviz.read.values import short_dtype

if TYPE_CHECKING:
    from jaxviz.capture import Capture

#: What the values may take on the device and the host together.
MOST_BYTES = 1_000_000_000
# Above this a person is told before.
_TOLD_BYTES = 100_000_000
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
            parts.append(f"over {self.turns:,} turns")
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
        return Values(together, bad, max(self.bytes, others.bytes))

    def __repr__(self) -> str:
        if self.first_bad is None:
            return f"<Values: {len(self)}, {bytes_text(self.bytes)}; all of them finite>"
        return f"<Values: {len(self)}, {bytes_text(self.bytes)}; the first that is bad: {self.first_bad}>"


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
    effects = effects_of(capture.jaxpr)
    if effects:
        tell(f"{capture.program.call} {effects}, once more for each look at its values.")
    if inside is not None:
        return _values_inside(capture, owner_of(capture.jaxpr, inside), _inputs(capture, fill, tell), most_bytes, tell)
    program, graph = capture.program, capture.jaxpr
    equations = compat.open_jaxpr(program.jaxpr).eqns
    nodes = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.region == 0))
    if len(nodes) != len(equations):
        raise RunError(f"the equations of {program.call} cannot be told apart: there are no values")
    inputs = _inputs(capture, fill, tell)
    chosen = list(range(len(equations))) if every else _at_borders(capture, nodes)
    run = _Runner(capture, inputs, equations, nodes.tolist(), most_bytes, tell)
    found = run.of(chosen)
    arguments = _of_arguments(graph, inputs)
    bad = _first_bad([*arguments, *found])
    if bad is not None and bad in found and not every:
        # What comes before it inside of kernels was not seen yet.
        place = nodes.tolist().index(bad.node)
        bad = _first_bad(run.of(range(place + 1))) or bad
    shown = [*arguments, *found]
    # What is bad after a loop or a call began in it.
    while bad is not None and bad.node in graph.owned_regions:
        try:
            inner = _values_inside(capture, bad.node, inputs, most_bytes, tell)
        except RunError:
            break
        if inner.first_bad is None:
            break
        bad = inner.first_bad
    if bad is not None and bad not in shown:
        shown = sorted([*shown, bad], key=lambda value: value.node)
    return Values(tuple(shown), bad, run.bytes)


def _inputs(capture: Capture, fill: Fill, tell: Callable[[str], None]) -> Inputs:
    program = capture.program
    if program.target is not None and program.target.limits:
        raise RunError(f"{program.call} is compiled for {program.target.label}, which is not here: nothing runs")
    check_fill(fill)
    args, kwargs = program.dynamic_arguments
    check_closed(program.traced, program.jaxpr)
    about = program.traced.args_info
    inputs = waited_for(
        program.call,
        "filling arguments",
        lambda work: make_inputs(args, kwargs, about, None, fill, work.go_on),
        tell,
    )
    # Nothing is donated here.
    return replace(inputs, donated=[False] * len(inputs.leaves))


def _at_borders(capture: Capture, nodes: NDArray[np.int64]) -> list[int]:
    """The equations whose results are written to memory: what they became is no inner part of a kernel."""
    linked = capture.hlo
    graph = linked.graph
    cost = cost_of(graph)
    written = ~cost.fused
    # Of a kernel, what its inner parts end in.
    written[cost.kernel_of[cost.fused]] = False
    ends = np.flatnonzero(graph.nodes.kind == RESULT)
    sources = graph.operands.source[graph.first_operand[ends]]
    written[graph.value_node[sources[sources >= 0]]] = True
    rows = written[linked.links.target] & (graph.nodes.kind[linked.links.target] == OPERATION)
    at = set(linked.links.source[rows].tolist())
    _, end = capture.jaxpr.region_intervals
    owned = capture.jaxpr.owned_regions
    found = []
    for place, node in enumerate(nodes.tolist()):
        inside = range(node, int(end[owned[node][-1]])) if node in owned else (node,)
        if any(one in at for one in inside):
            found.append(place)
    return found


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
        _statistics(graph, one.node, one.array, one.turns) for one in values_inside(capture, owner, inputs, check, tell)
    ]
    bad = [value for value in found if value.bad]
    first = min(bad, key=lambda value: (value.bad_turn, not value.nan, value.node)) if bad else None
    return Values(tuple(sorted(found, key=lambda value: value.node)), first, needed)


def _silent(text: str) -> None:
    pass


def _check(call: str, needed: int, count: int, most_bytes: int, tell: Callable[[str], None]) -> None:
    """`RunError` for values that take too much; told where they take much."""
    free = free_bytes(jax.devices()[0])
    limit = min(most_bytes, free // 3 if free is not None else most_bytes)
    if needed > limit:
        raise RunError(
            f"the {count:,} values of {call} take {bytes_text(needed)}, and {bytes_text(limit)} are allowed: nothing "
            f"was run. More are allowed by most_bytes={needed}"
        )
    if needed > _TOLD_BYTES:
        tell(f"{count:,} values are kept for their statistics: {bytes_text(needed)}.")


class _Runner:
    """Runs the program with the results of some equations as its own."""

    def __init__(
        self,
        capture: Capture,
        inputs: Inputs,
        equations: Sequence[Any],
        nodes: Sequence[int],
        most_bytes: int,
        tell: Callable[[str], None],
    ) -> None:
        self.capture = capture
        self.inputs = inputs
        self.equations = equations
        self.nodes = nodes
        self.most_bytes = most_bytes
        self.tell = tell
        self.bytes = 0

    def of(self, chosen: Sequence[int]) -> list[Value]:
        rows = [
            (place, variable) for place in chosen for variable in self.equations[place].outvars if _is_array(variable)
        ]
        if not rows:
            return []
        call = self.capture.program.call
        needed = sum(_bytes(variable.aval) for _, variable in rows)
        _check(call, needed, len(rows), self.most_bytes, self.tell)
        self.bytes = max(self.bytes, needed)

        def compute(work: Work[list[Any]]) -> list[Any]:
            results = jax.jit(self._function([variable for _, variable in rows]))(*self.inputs.leaves)
            return [host_array(result) for result in work.until_ready(results)]

        try:
            arrays = waited_for(call, "looking at its values", compute, self.tell)
        except Exception as error:
            raise failed(call, error) from error
        graph = self.capture.jaxpr
        return [_statistics(graph, self.nodes[place], array) for (place, _), array in zip(rows, arrays, strict=True)]

    def _function(self, variables: Sequence[Any]) -> Any:
        closed = self.capture.program.jaxpr
        inner = compat.open_jaxpr(closed)
        changed: dict[str, Any] = {"outvars": list(variables)}
        if getattr(inner, "debug_info", None) is not None:
            # It names the results, which are others now.
            with_names = inner.debug_info
            if hasattr(with_names, "_replace"):
                names = tuple(f"value[{number}]" for number in range(len(variables)))
                changed["debug_info"] = with_names._replace(result_paths=names)
        jaxpr = inner.replace(**changed)
        return jax_core.jaxpr_as_fun(closed.replace(jaxpr=jaxpr) if inner is not closed else jaxpr)


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


def _statistics(graph: Graph, node: int, array: NDArray[Any], turns: int = 0) -> Value:
    shown = graph.node(node)
    numbers = np.abs(array) if np.iscomplexobj(array) else array
    numbers = numbers.astype(np.float64)
    bad_turn = -1
    if turns:
        bad = ~np.isfinite(numbers.reshape(turns, -1)).all(axis=1)
        bad_turn = int(bad.argmax()) if bad.any() else -1
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
        name=shown.name or shown.op,
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
