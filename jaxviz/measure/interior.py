"""The values inside of one operation that has a body: a loop, a branch, a jitted function.

What comes before it is computed as it was traced, then its body with all of its values as further results. Those of a
`scan` come stacked, of all its turns; a `while` is run turn by turn from here, because it says only then when it ends,
and so is every loop around a `while` or a branch; of branches, the one that is taken is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from jax import lax
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.graph import OPERATION, Graph
from jaxviz.measure.errors import RunError, failed
from jaxviz.measure.progress import waited_for
from jaxviz.measure.waiting import Work
from jaxviz.read.bodies import bodies_of

if TYPE_CHECKING:
    from jaxviz.capture import Capture
    from jaxviz.measure.arguments import Inputs

#: More turns of a loop without a fixed number of them are not looked at.
MOST_TURNS = 1000


class _NotTaken(RunError):
    """A branch that is not taken, in this turn or at all."""


class _NotStacked(Exception):
    """What is inside of a loop cannot be computed with it, for all of its turns."""


class Inside(NamedTuple):
    """The values of one equation in a body: an array for each of its results, of all turns where `turns` is above 0."""

    node: int
    array: NDArray[Any]
    turns: int
    #: The number of each turn, where not all turns of the loop are told: of a branch, those in which it is taken.
    at: Sequence[int] = ()


def owner_of(graph: Graph, inside: int | str) -> int:
    """The node that a person means: its number, or the operation or the name of a body, of which the first is meant."""
    owned = graph.owned_regions
    if isinstance(inside, str):
        strings = graph.tables.strings
        for node, regions in owned.items():
            names = {strings[graph.nodes.op[node]], *(strings[graph.regions.name[region]] for region in regions)}
            if inside in names:
                return node
        raise ValueError(f"no operation with a body is called {inside!r}; there are: {_known(graph)}")
    if isinstance(inside, bool) or not isinstance(inside, int | np.integer):
        raise ValueError(f"inside is the name of an operation or the number of its node, not {inside!r}")
    if inside not in owned:
        raise ValueError(f"node {inside} of the jaxpr has no body; those that have one: {_known(graph)}")
    return int(inside)


def _known(graph: Graph) -> str:
    strings = graph.tables.strings
    found = [f"{strings[graph.nodes.op[node]]} (node {node})" for node in graph.owned_regions]
    return ", ".join(found[:8]) + (", ..." if len(found) > 8 else "") if found else "none"


def values_inside(
    capture: Capture, owner: int, inputs: Inputs, check: Callable[[int, int], None], tell: Callable[[str], None]
) -> list[Inside]:
    """The values in the bodies of a node. `check` is given bytes and a number of values before anything is run."""
    reader = _Reader(capture.jaxpr, capture.program.call, check, tell)
    path = [owner]
    while (region := int(capture.jaxpr.nodes.region[path[0]])) > 0:
        path.insert(0, int(capture.jaxpr.regions.owner[region]))

    def compute(work: Work[list[Inside]]) -> list[Inside]:
        reader.go_on, reader.until_ready = work.go_on, work.until_ready
        return reader.concrete(capture.program.jaxpr, list(inputs.leaves), 0, path)

    try:
        return waited_for(capture.program.call, "looking at its values", compute, tell)
    except RunError:
        raise
    except Exception as error:
        raise failed(capture.program.call, error) from error


class _Reader:
    def __init__(self, graph: Graph, call: str, check: Callable[[int, int], None], tell: Callable[[str], None]) -> None:
        self._graph, self._call = graph, call
        self._check, self._tell = check, tell
        self.go_on: Callable[[], None] = lambda: None
        self.until_ready: Callable[[Any], Any] = jax.block_until_ready
        # What is compiled for a part of the program, which may be asked for in each turn, with what tells it apart.
        self._compiled: dict[tuple[Any, ...], tuple[Any, Any]] = {}

    def _jit(self, what: str, part: Any, function: Callable[..., Any], *more: Any) -> Any:
        """A compiled function, the same for the same part: `what` it gives of it, and what `more` it depends on."""
        key = (what, id(part), *more)
        if key not in self._compiled:
            # The part is kept, so that no other takes its number.
            self._compiled[key] = jax.jit(function), part
        return self._compiled[key][0]

    def concrete(self, jaxpr: Any, arguments: Sequence[Any], region: int, path: Sequence[int]) -> list[Inside]:
        """The values of a body whose arguments are known."""
        if not path:
            nodes = self._nodes(jaxpr, region)
            run = self._jit("all", jaxpr, lambda *given: _with_all(jaxpr, given)[1])
            arrays = self._run(run, arguments, jaxpr, 1)
            return [Inside(nodes[place], array, 0) for place, array in arrays]
        equation = self._equation(jaxpr, region, path[0])
        operands = self._jit("operands", equation, lambda *given: _operands(jaxpr, equation, given))(*arguments)
        return self._enter(equation, list(operands), path[0], path[1:])

    def _enter(self, equation: Any, operands: list[Any], owner: int, rest: Sequence[int]) -> list[Inside]:
        """The values inside of an equation whose operands are known."""
        op = equation.primitive.name
        bodies = [body.jaxpr for body in bodies_of(equation).bodies]
        regions = self._graph.owned_regions[owner]
        if op == "scan":
            length = int(equation.params["length"])
            try:
                inner = self._traced(bodies[0], regions[0], rest)
            except _NotStacked:
                return self._scan_turns(equation, bodies[0], operands, regions[0], rest)
            run = self._jit("scan", equation, lambda *given: _scanned(equation, given, inner.run), *rest)
            arrays = self._run(run, operands, inner.jaxpr, length * inner.times)
            if equation.params["reverse"]:
                arrays = [(place, array[::-1]) for place, array in arrays]
            return [
                Inside(inner.nodes[place], _one_axis(array, inner.depth), length * inner.times)
                for place, array in arrays
            ]
        if op == "while":
            return self._turns(equation, bodies[1], operands, regions[1], rest)
        if op == "cond":
            chosen = min(max(int(operands[0]), 0), len(bodies) - 1)
            wanted = self._wanted(regions, rest, chosen)
            if wanted != chosen:
                raise _NotTaken(f"branch {wanted} of {self._call} is not taken with these arguments: it has no values")
            return self.concrete(bodies[chosen], operands[1:], regions[chosen], rest)
        if _is_call(equation, bodies):
            return self.concrete(bodies[0], operands, regions[0], rest)
        raise RunError(f"the values inside of {op} cannot be looked at: what happens there is not known here")

    def _wanted(self, regions: Sequence[int], rest: Sequence[int], otherwise: int) -> int:
        """Which of several bodies the rest of the path leads into."""
        if not rest:
            return otherwise
        return regions.index(int(self._graph.nodes.region[rest[0]]))

    def _turns(self, equation: Any, body: Any, operands: list[Any], region: int, rest: Sequence[int]) -> list[Inside]:
        """A loop that ends when it ends, turn by turn."""
        params = equation.params
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        asks, constants, carry = operands[:first], operands[first:second], operands[second:]
        goes_on = self._jit("goes on", equation, compat.jaxpr_as_fun(params["cond_jaxpr"]))
        try:
            inner = self._traced(body, region, rest)
        except _NotStacked:

            def turns() -> Iterator[list[Any]]:
                carried = carry
                while bool(np.asarray(goes_on(*asks, *carried)[0])):
                    yield [*constants, *carried]
                    carried = self._results(body, [*constants, *carried])

            return self._one_by_one(turns(), body, region, rest)
        turn = self._jit("turn", equation, lambda *given: inner.run(*given), *rest)
        seen: list[list[tuple[int, NDArray[Any]]]] = []
        rows = _rows_of(inner.jaxpr)
        size = sum(_bytes(variable.aval) for _, variable in rows) * inner.times
        self._check(size, len(rows))
        while bool(np.asarray(goes_on(*asks, *carry)[0])):
            self.go_on()
            if len(seen) == MOST_TURNS:
                self._tell(f"only the first {MOST_TURNS:,} turns were looked at.")
                break
            try:
                self._check(size * (len(seen) + 1), len(rows))
            except RunError:
                self._tell(f"only the first {len(seen):,} turns were looked at: more would take too much memory.")
                break
            outs, extras = turn(*constants, *carry)
            carry = list(outs)
            seen.append([(place, host_array(value)) for place, value in zip(inner.places, extras, strict=True)])
        if not seen:
            return []
        stacked = [(column[0][0], np.stack([array for _, array in column])) for column in zip(*seen, strict=True)]
        return [
            Inside(inner.nodes[place], _one_axis(array, inner.depth), len(seen) * inner.times)
            for place, array in stacked
        ]

    def _scan_turns(
        self, equation: Any, body: Any, operands: list[Any], region: int, rest: Sequence[int]
    ) -> list[Inside]:
        """A loop with a fixed number of turns, turn by turn."""
        params = equation.params
        constants, carried = compat.scan_counts(params)
        length = int(params["length"])
        order = range(length - 1, -1, -1) if params["reverse"] else range(length)

        def turns() -> Iterator[list[Any]]:
            carry = operands[constants : constants + carried]
            for place in order:
                given = [*operands[:constants], *carry, *(piece[place] for piece in operands[constants + carried :])]
                yield given
                carry = self._results(body, given)[:carried]

        return self._one_by_one(turns(), body, region, rest)

    def _results(self, body: Any, given: Sequence[Any]) -> list[Any]:
        return list(self._jit("results", body, compat.jaxpr_as_fun(_closed(body)))(*given))

    def _one_by_one(self, turns: Iterator[list[Any]], body: Any, region: int, path: Sequence[int]) -> list[Inside]:
        """The values at the end of a path in each turn of a loop; of a branch, in those in which it is taken."""
        seen: dict[tuple[int, int], list[NDArray[Any]]] = {}
        at: dict[tuple[int, int], list[int]] = {}
        size, count, not_taken = 0, 0, None
        for given in turns:
            self.go_on()
            if count == MOST_TURNS:
                self._tell(f"only the first {MOST_TURNS:,} turns were looked at.")
                break
            count += 1
            try:
                found = self.concrete(body, given, region, path)
            except _NotTaken as error:
                not_taken = error
                continue
            times: dict[int, int] = {}
            for one in found:
                # A node may have several values.
                times[one.node] = times.get(one.node, 0) + 1
                array = one.array if one.turns else one.array[None]
                seen.setdefault((one.node, times[one.node]), []).append(array)
                # Of a loop in this loop, all turns are counted on.
                at.setdefault((one.node, times[one.node]), []).extend([count - 1] if not one.turns else [])
                size += array.nbytes
            try:
                self._check(size, len(seen))
            except RunError:
                self._tell(f"only the first {count:,} turns were looked at: more would take too much memory.")
                break
        if not seen and not_taken is not None:
            raise not_taken
        stacked = {key: np.concatenate(arrays) for key, arrays in seen.items()}
        return [Inside(key[0], array, len(array), at[key]) for key, array in stacked.items()]

    def _traced(self, jaxpr: Any, region: int, path: Sequence[int]) -> _Inner:
        """A body that runs in turns, and what it gives besides its results: the values at the end of the path."""
        if not path:
            nodes = self._nodes(jaxpr, region)
            rows = _rows_of(jaxpr)
            return _Inner(lambda *given: _with_all(jaxpr, given), jaxpr, nodes, [place for place, _ in rows], 1, 1)
        equation = self._equation(jaxpr, region, path[0])
        op = equation.primitive.name
        bodies = [body.jaxpr for body in bodies_of(equation).bodies]
        regions = self._graph.owned_regions[path[0]]
        if op == "scan":
            inner = self._traced(bodies[0], regions[0], path[1:])

            def inside(operands: Sequence[Any]) -> Any:
                return _scanned(equation, operands, inner.run)

            times, depth = inner.times * int(equation.params["length"]), inner.depth + 1
        elif _is_call(equation, bodies):
            inner = self._traced(bodies[0], regions[0], path[1:])

            def inside(operands: Sequence[Any]) -> Any:
                return inner.run(*operands)[1]

            times, depth = inner.times, inner.depth
        elif op in ("while", "cond"):
            raise _NotStacked
        else:
            raise RunError(f"the values inside of {op} cannot be looked at: what happens there is not known here")

        def run(*given: Any) -> Any:
            return compat.jaxpr_as_fun(_closed(jaxpr))(*given), inside(_operands(jaxpr, equation, given))

        return _Inner(run, inner.jaxpr, inner.nodes, inner.places, times, depth)

    def _run(
        self, run: Callable[..., Any], arguments: Sequence[Any], jaxpr: Any, times: int
    ) -> list[tuple[int, NDArray[Any]]]:
        rows = _rows_of(jaxpr)
        self._check(times * sum(_bytes(variable.aval) for _, variable in rows), len(rows))
        if not rows:
            return []
        results = self.until_ready(run(*arguments))
        return [(place, host_array(value)) for (place, _), value in zip(rows, results, strict=True)]

    def _nodes(self, jaxpr: Any, region: int) -> list[int]:
        """The nodes of the equations of a body."""
        nodes = self._graph.nodes
        found = np.flatnonzero((nodes.kind == OPERATION) & (nodes.region == region)).tolist()
        if len(found) != len(compat.open_jaxpr(jaxpr).eqns):
            raise RunError(f"the equations of {self._call} cannot be told apart: there are no values")
        return found

    def _equation(self, jaxpr: Any, region: int, node: int) -> Any:
        return compat.open_jaxpr(jaxpr).eqns[self._nodes(jaxpr, region).index(node)]


class _Inner(NamedTuple):
    """What runs in each turn of a loop: gives its results, and the values of `jaxpr`, which runs so many `times`."""

    run: Callable[..., Any]
    jaxpr: Any
    nodes: list[int]
    #: The equation of each value.
    places: list[int]
    times: int
    #: How many axes in front of a value are turns.
    depth: int


def _rows_of(jaxpr: Any) -> list[tuple[int, Any]]:
    """The results of the equations of a body, each with the number of its equation."""
    return [
        (place, variable)
        for place, equation in enumerate(compat.open_jaxpr(jaxpr).eqns)
        for variable in equation.outvars
        if not compat.is_dropped(variable) and hasattr(variable.aval, "shape") and hasattr(variable.aval, "dtype")
    ]


def _with_all(jaxpr: Any, given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The results of a body, and the values of all its equations."""
    inner = compat.open_jaxpr(jaxpr)
    count = len(inner.outvars)
    made = _giving(jaxpr, [*inner.outvars, *(variable for _, variable in _rows_of(jaxpr))], given)
    return made[:count], made[count:]


def _operands(jaxpr: Any, equation: Any, given: Sequence[Any]) -> list[Any]:
    """What an equation of a body reads."""
    variables = [variable for variable in equation.invars if not isinstance(variable, compat.Literal)]
    inner = compat.open_jaxpr(jaxpr)
    # What comes later is not run: it may print, or never end.
    place = next(place for place, one in enumerate(inner.eqns) if one is equation)
    made = iter(_giving(jaxpr, variables, given, inner.eqns[:place]))
    return [variable.val if isinstance(variable, compat.Literal) else next(made) for variable in equation.invars]


def _giving(
    jaxpr: Any, variables: Sequence[Any], given: Sequence[Any], equations: Sequence[Any] | None = None
) -> list[Any]:
    """A body with other results, or with fewer equations."""
    closed = _closed(jaxpr)
    inner = compat.open_jaxpr(closed)
    changed: dict[str, Any] = {"outvars": list(variables)}
    if equations is not None:
        changed |= {"eqns": list(equations), "effects": frozenset().union(*(one.effects for one in equations))}
    if getattr(inner, "debug_info", None) is not None and hasattr(inner.debug_info, "_replace"):
        # It names the results, which are others now.
        names = tuple(f"value[{number}]" for number in range(len(variables)))
        changed["debug_info"] = inner.debug_info._replace(result_paths=names)
    jaxpr = inner.replace(**changed)
    run = compat.jaxpr_as_fun(closed.replace(jaxpr=jaxpr) if inner is not closed else jaxpr)
    return list(run(*given))


def _closed(jaxpr: Any) -> Any:
    """A body as one with its constants; bodies have none, and some are open."""
    return jaxpr if isinstance(jaxpr, compat.ClosedJaxpr) else compat.ClosedJaxpr(jaxpr, ())


def _scanned(equation: Any, operands: Sequence[Any], run: Callable[..., Any]) -> Any:
    """The further results of all turns of a scan, stacked."""
    params = equation.params
    constants, carried = compat.scan_counts(params)
    carry = tuple(_strong(value) for value in operands[constants : constants + carried])

    def turn(carry: Any, pieces: Any) -> Any:
        outs, extras = run(*operands[:constants], *carry, *pieces)
        return tuple(_strong(value) for value in outs[:carried]), tuple(extras)

    pieces = tuple(operands[constants + carried :])
    return lax.scan(turn, carry, pieces, length=int(params["length"]), reverse=bool(params["reverse"]))[1]


def _strong(value: Any) -> Any:
    """Without a weak type: what is handed on has one type."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        return value
    return lax.convert_element_type(value, jax.numpy.result_type(value) if dtype is None else dtype)


def _is_call(equation: Any, bodies: Sequence[Any]) -> bool:
    """Whether an equation runs one body on its operands."""
    if len(bodies) != 1 or equation.primitive.name in ("pallas_call", "shard_map", "custom_linear_solve"):
        return False
    inner = compat.open_jaxpr(bodies[0]).invars
    return len(inner) == len(equation.invars) and all(
        getattr(one.aval, "shape", None) == getattr(other.aval, "shape", None)
        for one, other in zip(inner, equation.invars, strict=True)
    )


def _one_axis(array: NDArray[Any], depth: int) -> NDArray[Any]:
    """All turns along one axis."""
    return array.reshape(prod(array.shape[:depth]), *array.shape[depth:]) if depth > 1 else array


def _bytes(aval: Any) -> int:
    return int(np.prod(aval.shape, dtype=np.int64)) * getattr(aval.dtype, "itemsize", 8)


def host_array(value: Any) -> NDArray[Any]:
    """A value on the host; keys as the numbers behind them."""
    if not getattr(value, "is_fully_addressable", True):
        if not value.is_fully_replicated:
            raise RunError(
                "values that lie on devices of several processes cannot be looked at from one of them: explore the "
                "program with arguments of one process"
            )
        value = value.addressable_data(0)
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)
