"""A jaxpr whose unrolled loops are loops of JAX, as a function that JAX can trace.

Between loops the equations run as they were traced. A loop is a `lax.scan` over one copy of its body: `fori_loop` with
a fixed number of turns is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxviz import compat
from jaxviz.loops.names import each_once
from jaxviz.loops.steps import Copies, Handed, Key, Number, Step, aval_of, key_of, literal_of, steps_of
from jaxviz.loops.turns import CannotRebuild, Turns, read_turns
from jaxviz.read.bodies import PLAIN_CALLS, bodies_of

#: The loops of each body, by the path to it: number of the equation and of its body, from the whole program on.
Path = tuple[tuple[int, int], ...]
#: Arguments of the program that the turns of a loop read one after the other, by their places.
Group = tuple[int, ...]
#: Calls whose bodies are the same where they stand.
_TRANSPARENT = PLAIN_CALLS | {"remat", "checkpoint", "custom_jvp_call"}


@dataclass(frozen=True)
class _Row:
    """One turn's value, in an array of those of all turns."""

    stacked: Any
    turn: int


def _row(value: Any) -> Any:
    """The value itself, where it is a row of those of all turns."""
    return lax.index_in_dim(value.stacked, value.turn, keepdims=False) if isinstance(value, _Row) else value


class Values:
    """What is known by key: in a turn, also what is known around the loop."""

    def __init__(self, around: Values | None = None) -> None:
        self._own: dict[Key, Any] = {}
        self._around = around

    def __setitem__(self, key: Key, value: Any) -> None:
        self._own[key] = value

    def held(self, key: Key) -> Any:
        known = self._own.get(key)
        if known is None and self._around is not None and key not in self._own:
            return self._around.held(key)
        if known is None:
            raise KeyError(key)
        return known

    def __getitem__(self, key: Key) -> Any:
        if isinstance(key, Number):
            literal = literal_of(key)
            return np.asarray(literal.val, literal.aval.dtype)
        known = self.held(key)
        if isinstance(known, _Row):
            known = self[key] = _row(known)
        return known


class Rebuilding:
    """Runs a jaxpr with the loops at `loops` rebuilt. `turns` are those that were, once it has run."""

    def __init__(self, jaxpr: Any, loops: Mapping[Path, Sequence[Copies]], together: Sequence[Group] = ()) -> None:
        """`together` are arguments that are given once more, as one array for each group, behind all others."""
        self._jaxpr, self.loops, self._together = jaxpr, loops, tuple(together)
        self._number = 0
        self.turns: list[Turns] = []
        #: Why others were left as they are.
        self.left: list[str] = []
        #: Arguments that loops read as one array, each group by its places.
        self.groups: dict[Group, None] = {}
        #: Of each result, which of the arrays that `apart` gives it is, and the turn whose row it is there, or -1.
        self.rows: list[tuple[int, int]] = []
        self._place: dict[int, int] = {}
        self._stacks: dict[Group, Any] = {}

    def __call__(self, *arguments: Any) -> list[Any]:
        return [_row(value) for value in self._results(arguments)]

    def apart(self, *arguments: Any) -> list[Any]:
        """The results, those that are rows of one array being given as that array, once."""
        count = len(arguments) - len(self._together)
        self._stacks = dict(zip(self._together, arguments[count:], strict=True))
        found: dict[int, Any] = {}
        results = self._results(arguments[:count])
        whole = [(value.stacked, value.turn) if isinstance(value, _Row) else (value, -1) for value in results]
        for array, _ in whole:
            found.setdefault(id(array), array)
        places = {key: place for place, key in enumerate(found)}
        self.rows = [(places[id(array)], turn) for array, turn in whole]
        return list(found.values())

    def _results(self, arguments: Sequence[Any]) -> list[Any]:
        self._place = {id(argument): place for place, argument in enumerate(arguments)}
        return self._body(self._jaxpr, arguments, ())

    def _body(self, jaxpr: Any, arguments: Sequence[Any], path: Path) -> list[Any]:
        inner = compat.open_jaxpr(jaxpr)
        values = Values()
        for variable, value in zip(inner.constvars, compat.constants_of(jaxpr), strict=True):
            values[variable] = value
        for variable, value in zip(inner.invars, arguments, strict=True):
            values[variable] = value
        results = [key_of(variable) for variable in inner.outvars]
        steps = steps_of(inner.eqns)
        # Calls on the way to a loop further in are run apart from others.
        apart = {at[len(path)][0] for at in self.loops if len(at) > len(path) and at[: len(path)] == path}
        self._run(steps, self.loops.get(path, ()), values, set(results), apart, path)
        return [values[key] if isinstance(key, Number) else values.held(key) for key in results]

    def _run(
        self,
        steps: Sequence[Step],
        loops: Sequence[Copies],
        values: Values,
        wanted: Set[Key],
        apart: Set[int] = frozenset(),
        path: Path = (),
    ) -> None:
        done = 0
        turns = []
        for copies in loops:
            self._number += 1
            try:
                turns.append(read_turns(steps, copies, wanted, self._number))
            except CannotRebuild as error:
                self.left.append(str(error))
        self.turns += turns
        for loop in sorted(turns, key=lambda loop: loop.first):
            self._straight(steps, done, loop.first, values, apart, path)
            self._loop(loop, values)
            done = loop.end
        self._straight(steps, done, len(steps), values, apart, path)

    def _straight(
        self, steps: Sequence[Step], first: int, end: int, values: Values, apart: Set[int], path: Path
    ) -> None:
        for place in sorted(place for place in apart if first <= place < end):
            _run_steps(steps[first:place], values)
            self._call(steps[place], place, values, path)
            first = place + 1
        _run_steps(steps[first:end], values)

    def _call(self, step: Step, place: int, values: Values, path: Path) -> None:
        """An equation that has a loop to be rebuilt in a body of its own."""
        equation = step.equation
        bodies = [body.jaxpr for body in bodies_of(equation).bodies]
        inner = {
            at[len(path)][1]
            for at in self.loops
            if at[: len(path)] == path and at[len(path) :][:1] and at[len(path)][0] == place
        }
        if equation.primitive.name in _TRANSPARENT and len(bodies) == 1:
            results = self._body(bodies[0], [values[key] for key in step.operands], (*path, (place, 0)))
            for variable, value in zip(equation.outvars, results, strict=True):
                values[variable] = value
            return
        exchanged: dict[int, Any] = {}
        for number in inner:
            body = bodies[number]

            def run(*arguments: Any, body: Any = body, number: int = number) -> list[Any]:
                results = [_row(value) for value in self._body(body, arguments, (*path, (place, number)))]
                avals = [variable.aval for variable in compat.open_jaxpr(body).outvars]
                return [
                    lax.convert_element_type(value, aval.dtype) if hasattr(aval, "dtype") else value
                    for value, aval in zip(results, avals, strict=True)
                ]

            exchanged[id(body)] = jax.make_jaxpr(run)(*map(_shape_of, compat.open_jaxpr(body).invars))
        params = {name: _exchanged(value, exchanged) for name, value in equation.params.items()}
        _run_steps([Step(equation.replace(params=params), step.operands)], values)

    def _given(self, values: Values, keys: Sequence[Any]) -> Any:
        """What each turn is given, as one array: of arguments, the array in which they were given together."""
        variables = [key for key in keys if not isinstance(key, (tuple, Number))]
        places = [self._place.get(id(values.held(key)), -1) for key in variables]
        if len(places) < len(keys) or min(places, default=-1) < 0:
            return _stacked(values, keys)
        group = tuple(places)
        self.groups[group] = None
        return self._stacks[group] if group in self._stacks else _stacked(values, keys)

    def _loop(self, loop: Turns, values: Values) -> None:
        given = [self._given(values, keys) for keys in loop.given]
        starts = tuple(tuple(_strong(values[key]) for key in carried.starts) for carried in loop.carried)
        shift = len(loop.carried)
        # What is handed on is there after the last turn as well.
        handed = {carried.made: number for number, carried in enumerate(loop.carried)}
        alone = [place for place in loop.last if place not in handed]
        # Of values that cannot be made of nothing, such as random keys, those of all turns are kept.
        kept = [place for place in alone if not _is_plain(loop.made[0][place].aval)]
        last = [place for place in alone if place not in kept]
        wanted = {loop.made[0][place] for place in (*loop.every, *loop.last, *handed)}

        # By their names, JAX names what goes into the body.
        names = each_once([*(loop.names[carried.made] for carried in loop.carried), *map(loop.names.__getitem__, last)])

        def turn(carry: dict[str, Any], pieces: Any) -> Any:
            chains = [carry[name] for name in names[:shift]]
            inside = Values(values)
            for number, chain in enumerate(chains):
                inside[Handed(loop.number, number)] = chain[0] if isinstance(chain, tuple) else chain
            for number, piece in enumerate(pieces):
                inside[Handed(loop.number, shift + number)] = piece
            self._run(loop.steps, loop.inner, inside, wanted)
            made = loop.made[0]
            new = [_strong(inside[made[carried.made]]) for carried in loop.carried]
            handed_on = [
                (*chain[1:], value) if isinstance(chain, tuple) else value
                for chain, value in zip(chains, new, strict=True)
            ]
            finals = [_strong(inside[made[place]]) for place in last]
            carry = dict(zip(names, [*handed_on, *finals], strict=True))
            return carry, tuple(inside[made[place]] for place in (*loop.every, *kept))

        # What is read in the very next turn stands alone.
        begun = [chain if len(chain) > 1 else chain[0] for chain in starts]
        empty = [jnp.zeros(aval.shape, aval.dtype) for aval in (loop.made[0][place].aval for place in last)]
        after, stacked = lax.scan(
            turn, dict(zip(names, [*begun, *empty], strict=True)), tuple(given), length=loop.count
        )
        for place in loop.last:
            if place in handed:
                chain = after[names[handed[place]]]
                values[loop.made[-1][place]] = chain[-1] if isinstance(chain, tuple) else chain
        for place, name in zip(last, names[shift:], strict=True):
            values[loop.made[-1][place]] = after[name]
        for place, rows in zip((*loop.every, *kept), stacked, strict=True):
            for number, made in enumerate(loop.made):
                values[made[place]] = _Row(rows, number)


def _run_steps(steps: Sequence[Step], values: Values) -> None:
    """Runs equations as they were traced, so that they keep the lines that they come from."""
    straight: list[Step] = []
    for step in steps:
        if step.starts is None:
            straight.append(step)
            continue
        _run_segment(straight, values)
        straight = []
        result = step.equation.outvars[0]
        starts = [values[step.starts][axis] for axis in range(result.aval.ndim)]
        whole = values[step.operands[0]]
        if step.equation.primitive.name == "pad":
            around = jnp.full(result.aval.shape, values[step.operands[1]], result.aval.dtype)
            values[result] = lax.dynamic_update_slice(around, whole, starts)
        else:
            values[result] = lax.dynamic_slice(whole, starts, result.aval.shape)
    _run_segment(straight, values)


def _run_segment(steps: Sequence[Step], values: Values) -> None:
    if not steps:
        return
    made: set[Any] = set()
    read: dict[Key, Any] = {}
    for step in steps:
        read.update((key, None) for key in step.operands if not isinstance(key, Number) and key not in made)
        made.update(step.makes)
    arguments = [values[key] for key in read]
    handed = [key for key in read if isinstance(key, Handed)]
    variables = dict(zip(handed, _variables([values[key] for key in handed]), strict=True))
    equations = []
    for step in steps:
        operands = [literal_of(key) if isinstance(key, Number) else variables.get(key, key) for key in step.operands]
        changed = any(one is not other for one, other in zip(operands, step.equation.invars, strict=True))
        equations.append(step.equation.replace(invars=operands) if changed else step.equation)
    results = [variable for step in steps for variable in step.makes if not compat.is_dropped(variable)]
    body = compat.body_of(equations, [variables.get(key, key) for key in read], results)
    for variable, value in zip(results, compat.jaxpr_as_fun(body)(*arguments), strict=True):
        values[variable] = value


def _variables(values: Sequence[Any]) -> list[Any]:
    """A new variable for each value."""
    if not values:
        return []
    shapes = [jax.ShapeDtypeStruct(np.shape(value), value.dtype) for value in values]
    return list(compat.open_jaxpr(jax.make_jaxpr(lambda *arguments: arguments)(*shapes)).invars)


def _stacked(values: Values, keys: Sequence[Any]) -> Any:
    """What each turn is given, as one array: of numbers, or the very array in which an earlier loop gave them."""
    if all(isinstance(key, tuple) and not isinstance(key, (Number, Handed)) for key in keys):
        return np.array(keys, np.int32)
    if all(isinstance(key, Number) for key in keys):
        return np.stack([values[key] for key in keys])
    held = [values.held(key) for key in keys if not isinstance(key, Number)]
    stacked = held[0].stacked if isinstance(held[0], _Row) else None
    turns = [row.turn for row in held if isinstance(row, _Row) and row.stacked is stacked]
    if stacked is not None and len(turns) == len(keys):
        low, high = min(turns), max(turns) + 1
        for step in (1, -1):
            if turns == list(range(turns[0], turns[0] + step * len(turns), step)):
                rows = stacked if (low, high) == (0, stacked.shape[0]) else stacked[low:high]
                return rows if step > 0 else jnp.flip(rows, 0)
    return jnp.stack([values[key] for key in keys])


def _strong(value: Any) -> Any:
    """A value whose type is no longer weak: a loop hands on what has one type."""
    return lax.convert_element_type(value, value.dtype) if _is_plain(value) else value


def _is_plain(aval: Any) -> bool:
    return hasattr(aval, "dtype") and not jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended)


def _shape_of(variable: Any) -> Any:
    aval = aval_of(variable)
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


def _exchanged(value: Any, bodies: Mapping[int, Any]) -> Any:
    if id(value) in bodies:
        return bodies[id(value)]
    if isinstance(value, (tuple, list)) and not hasattr(value, "_make"):
        return type(value)(_exchanged(item, bodies) for item in value)
    return value
