"""Which parameters of an equation hold bodies, and how values cross the border of each.

One function for each kind of operation that has bodies; any other that has one falls to `_call` or `_closed_off`.
A new operation with a body of its own is one entry in `_KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from jaxviz import compat
from jaxviz.compat import high as compat_high
from jaxviz.graph import CARRY, ENTER, INIT, LEAVE, SLICE, STACK

#: How operations begin that apply a body to two elements at a time.
APPLYING = ("scatter", "reduce", "select_and_", "argre")
#: Operations that run their one body on their operands, and do nothing else.
PLAIN_CALLS = frozenset({"jit", "pjit", "closed_call", "core_call", "eval_jaxpr", compat_high.HIGH})
#: What computes on the way back what it holds once more, and differentiates it then.
CHECKPOINTS = frozenset({"checkpoint", "remat", "remat2"})
#: Calls of functions whose derivative the person says. The last is of 0.6.
CUSTOM_DERIVATIVES = frozenset({"custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr"})


class Join(NamedTuple):
    """A binding, in places of an equation: `body` is the body of the argument or result, by its number.

    Kinds enter, init, slice: operand `start` to argument `end`; leave, stack: result `start` to output `end`;
    carry: result `start` to argument `end`, which may be in another body, `to_body`.
    """

    kind: int
    body: int
    start: int
    end: int
    to_body: int = -1


@dataclass(frozen=True, slots=True)
class Body:
    """A jaxpr in a parameter: what kind of region it fills and the name for people.

    `references` are the arguments whose content at the end is a result too: the outputs of a kernel.
    """

    jaxpr: Any
    kind: str
    name: str
    references: tuple[int, ...] = ()


class Bodies(NamedTuple):
    bodies: list[Body]
    joins: Sequence[Join]


def bodies_of(equation: Any) -> Bodies:
    """The bodies of an equation in the order in which they are shown, and what they exchange with the outside."""
    if equation.__class__ is compat.UnfinishedEquation:
        return _unfinished(equation)
    op = equation.primitive.name
    read = _KINDS.get(op)
    if op in _CALLS and equation.params.get("jaxpr").__class__ in compat.BODY_CLASSES:
        called = _called(equation, equation.params["jaxpr"])
        if called is not None:
            return called
    if read is None and op.startswith(APPLYING):
        read = _closed_off
    try:
        return _within(equation, (read or _call)(equation))
    except (KeyError, AttributeError, TypeError, ValueError):
        # Parameters of another JAX version: its bodies are still shown.
        return _closed_off(equation)


def jaxprs_in(value: Any) -> list[Any]:
    """The jaxprs that a parameter holds, alone or in a tuple."""
    if value.__class__ in compat.BODY_CLASSES:
        return [value]
    if isinstance(value, (tuple, list)):
        return [item for item in value if item.__class__ in compat.BODY_CLASSES]
    return []


def _name_of(jaxpr: Any) -> str:
    function = compat.function_of(jaxpr)
    return function.name if function is not None else ""


def _sizes(jaxpr: Any) -> tuple[int, int]:
    jaxpr = compat.open_jaxpr(jaxpr)
    return len(jaxpr.invars), len(jaxpr.outvars)


def _within(equation: Any, found: Bodies) -> Bodies:
    """Without the joins that name places that are not there, should a version of JAX count differently."""
    sizes = [_sizes(body.jaxpr) for body in found.bodies]
    arguments = tuple(size[0] for size in sizes)
    results = tuple(size[1] + len(body.references) for size, body in zip(sizes, found.bodies, strict=True))
    joins = _fitting(tuple(found.joins), len(equation.invars), len(equation.outvars), arguments, results)
    return Bodies(found.bodies, joins)


@lru_cache(1024)
def _fitting(
    joins: tuple[Join, ...], operands: int, outputs: int, arguments: tuple[int, ...], results: tuple[int, ...]
) -> tuple[Join, ...]:
    def fits(join: Join) -> bool:
        if join.start < 0 or join.end < 0:
            return False
        if join.kind in (ENTER, INIT, SLICE):
            return join.start < operands and join.end < arguments[join.body]
        if join.kind == CARRY:
            return join.start < results[join.body] and join.end < arguments[join.to_body]
        return join.start < results[join.body] and join.end < outputs

    return tuple(join for join in joins if fits(join))


def enter(body: int, count: int, start: int = 0, end: int = 0, kind: int = ENTER) -> Iterable[Join]:
    return (Join(kind, body, start + i, end + i) for i in range(count))


def leave(body: int, count: int, start: int = 0, end: int = 0, kind: int = LEAVE) -> Iterable[Join]:
    return (Join(kind, body, start + i, end + i) for i in range(count))


def _call(equation: Any) -> Bodies:
    """A body that is called once with the operands and gives the outputs; closed off if its types say otherwise."""
    found = _closed_off(equation)
    return (_called(equation, found.bodies[0].jaxpr) if len(found.bodies) == 1 else None) or found


def _called(equation: Any, closed: Any) -> Bodies | None:
    jaxpr = compat.open_jaxpr(closed)
    arguments, results = jaxpr.invars, jaxpr.outvars
    if not (_same_shapes(arguments, equation.invars) and _same_shapes(results, equation.outvars)):
        return None
    op = equation.primitive.name
    body = Body(closed, _CALLS.get(op, op), str(equation.params.get("name") or _name_of(closed)))
    return Bodies([body], _call_joins(len(arguments), len(results)))


@lru_cache(1024)
def _call_joins(arguments: int, results: int) -> tuple[Join, ...]:
    return (*enter(0, arguments), *leave(0, results))


def _same_shapes(inside: Sequence[Any], outside: Sequence[Any]) -> bool:
    if len(inside) != len(outside):
        return False
    for one, other in zip(inside, outside, strict=True):
        # Mostly they are one object.
        if one.aval is not other.aval and getattr(one.aval, "shape", None) != getattr(other.aval, "shape", None):
            return False
    return True


def _closed_off(equation: Any) -> Bodies:
    """All bodies, in the order of the parameters, without a word on what they exchange."""
    bodies = []
    for key, value in equation.params.items():
        jaxprs = jaxprs_in(value)
        kind = key.removesuffix("jaxpr").removesuffix("jaxprs").removesuffix("_")
        for number, jaxpr in enumerate(jaxprs):
            name = _name_of(jaxpr) or (f"{number}" if len(jaxprs) > 1 else "")
            bodies.append(Body(jaxpr, kind or equation.primitive.name, name))
    return Bodies(bodies, [])


def _unfinished(equation: Any) -> Bodies:
    """A body that an error ended: what went in is known as far as it was found, and nothing came out."""
    whole = INIT if equation.primitive.name in _LOOPS else ENTER
    joins = [
        Join(SLICE if operand.sliced else whole, 0, start, operand.argument)
        for start, operand in enumerate(equation.operands)
    ]
    return Bodies(_closed_off(equation).bodies, joins)


def _primal(equation: Any) -> Bodies:
    """custom_jvp and custom_vjp: the function as it is without differentiation; its rules are attributes."""
    kind = "custom_jvp" if "jvp" in equation.primitive.name else "custom_vjp"
    params = equation.params
    jaxpr = next(params[key] for key in ("call_jaxpr", "fun_jaxpr", "jaxpr") if key in params)
    arguments, results = _sizes(jaxpr)
    body = Body(jaxpr, kind, _name_of(jaxpr))
    return Bodies([body], [*enter(0, arguments), *leave(0, results)])


def _scan(equation: Any) -> Bodies:
    """Constants enter, the carry goes round, one slice of each sequence a turn, one slice of each stacked result."""
    jaxpr = equation.params["jaxpr"]
    joins = _scan_joins(*compat.scan_counts(equation.params), *_sizes(jaxpr))
    return Bodies([Body(jaxpr, "scan", _name_of(jaxpr))], joins)


@lru_cache(1024)
def _scan_joins(constants: int, carried: int, arguments: int, results: int) -> tuple[Join, ...]:
    first_sequence = constants + carried
    return (
        *enter(0, constants),
        *enter(0, carried, constants, constants, INIT),
        *enter(0, arguments - first_sequence, first_sequence, first_sequence, SLICE),
        *(Join(CARRY, 0, i, constants + i, 0) for i in range(carried)),
        *leave(0, carried),
        *leave(0, results - carried, carried, carried, STACK),
    )


def _while(equation: Any) -> Bodies:
    """The condition and the body see the same carry; what the body makes goes to the next turn of both."""
    params = equation.params
    condition, body = params["cond_jaxpr"], params["body_jaxpr"]
    condition_constants, body_constants = params["cond_nconsts"], params["body_nconsts"]
    constants = condition_constants + body_constants
    carried = len(equation.outvars)
    joins = [
        *enter(0, condition_constants),
        *enter(1, body_constants, condition_constants),
        *enter(0, carried, constants, condition_constants, INIT),
        *enter(1, carried, constants, body_constants, INIT),
        *(Join(CARRY, 1, i, condition_constants + i, 0) for i in range(carried)),
        *(Join(CARRY, 1, i, body_constants + i, 1) for i in range(carried)),
        *leave(1, carried),
    ]
    bodies = [
        Body(condition, "while cond", _name_of(condition)),
        Body(body, "while body", _name_of(body)),
    ]
    return Bodies(bodies, joins)


def _branches(equation: Any) -> Bodies:
    """One of several bodies, by the first operand."""
    branches = equation.params["branches"]
    names = ["if false", "if true"] if len(branches) == 2 else [f"case {i}" for i in range(len(branches))]
    bodies, joins = [], []
    for number, (jaxpr, name) in enumerate(zip(branches, names, strict=True)):
        arguments, results = _sizes(jaxpr)
        bodies.append(Body(jaxpr, "branch", name))
        joins += [*enter(number, arguments, start=1), *leave(number, results)]
    return Bodies(bodies, joins)


def _shard_map(equation: Any) -> Bodies:
    """One instance on each device: what is split over devices is sliced and stacked, the rest enters and leaves."""
    jaxpr = equation.params["jaxpr"]
    inner = compat.open_jaxpr(jaxpr)
    joins = []
    for i, (outside, inside) in enumerate(zip(equation.invars, inner.invars, strict=True)):
        joins.append(Join(ENTER if outside.aval.shape == inside.aval.shape else SLICE, 0, i, i))
    for i, (outside, inside) in enumerate(zip(equation.outvars, inner.outvars, strict=True)):
        joins.append(Join(LEAVE if outside.aval.shape == inside.aval.shape else STACK, 0, i, i))
    return Bodies([Body(jaxpr, "shard_map", _name_of(jaxpr))], joins)


def _linear_solve(equation: Any) -> Bodies:
    """The matrix as functions of what they close over; only the solver's right side and solution cross the border."""
    params = equation.params
    lengths = params["const_lengths"]
    bodies: list[Body] = []
    joins: list[Join] = []
    taken = 0
    total = sum(lengths)
    for name in ("matvec", "vecmat", "solve", "transpose_solve"):
        jaxpr, constants = getattr(params["jaxprs"], name), getattr(lengths, name)
        if jaxpr is not None:
            number = len(bodies)
            arguments, results = _sizes(jaxpr)
            bodies.append(Body(jaxpr, "linear_solve", name))
            joins += enter(number, constants, start=taken)
            if name == "solve":
                joins += enter(number, arguments - constants, start=total, end=constants)
                joins += leave(number, results)
        taken += constants
    return Bodies(bodies, joins)


def _high(equation: Any) -> Bodies:
    """What JAX takes apart only when it lowers it: a call of what that gives, where this can be traced."""
    try:
        jaxpr = compat_high.body_of_high(equation)
    except Exception:
        return Bodies([], [])
    arguments, results = _sizes(jaxpr)
    body = Body(jaxpr, "call", compat_high.name_of_high(equation))
    return Bodies([body], _call_joins(arguments, results))


def _pallas_call(equation: Any) -> Bodies:
    """A kernel reads and writes references: a block of each operand enters, what its outputs hold at the end leaves.

    The arguments of the kernel are index operands, inputs, outputs and scratch, in this order.
    """
    params = equation.params
    jaxpr = params["jaxpr"]
    inner = compat.open_jaxpr(jaxpr)
    mapping = params["grid_mapping"]
    dynamic = getattr(mapping, "num_dynamic_grid_bounds", 0)
    inputs = getattr(mapping, "num_index_operands", 0) + mapping.num_inputs
    outputs = mapping.num_outputs
    joins = []
    for i in range(inputs):
        outside = equation.invars[dynamic + i].aval.shape
        inside = inner.invars[i].aval.shape
        joins.append(Join(ENTER if outside == inside else SLICE, 0, dynamic + i, i))
    for i in range(outputs):
        outside = equation.outvars[i].aval.shape
        inside = inner.invars[inputs + i].aval.shape
        joins.append(Join(LEAVE if outside == inside else STACK, 0, len(inner.outvars) + i, i))
    name = str(params.get("name") or getattr(params.get("name_and_src_info"), "name", "") or _name_of(jaxpr))
    references = tuple(range(inputs, inputs + outputs))
    # Which block of an operand a turn of the grid works on: on numbers of the grid, which are values of nobody.
    maps = [
        Body(block.index_map_jaxpr, "index map", str(getattr(block, "origin", "")))
        for block in getattr(mapping, "block_mappings", ())
        if getattr(block, "index_map_jaxpr", None) is not None
    ]
    return Bodies([Body(jaxpr, "pallas_call", name, references), *maps], joins)


_KINDS: dict[str, Callable[[Any], Bodies]] = {
    "scan": _scan,
    "while": _while,
    "cond": _branches,
    "custom_jvp_call": _primal,
    "custom_vjp_call": _primal,
    "custom_vjp_call_jaxpr": _primal,  # until 0.6
    "shard_map": _shard_map,
    "custom_linear_solve": _linear_solve,
    "linear_solve": _linear_solve,
    "pallas_call": _pallas_call,
    compat_high.HIGH: _high,
}

# Loops that were not finished, as JAX names what it traces for them.
_LOOPS = ("scan", "while", "fori_loop")

# Regions of calls whose kind is not the name of the operation. `pjit` became `jit` in 0.7.
_CALLS = {"jit": "jit", "pjit": "jit", "checkpoint": "remat", "remat": "remat", "remat2": "remat"}
