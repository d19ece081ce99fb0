"""The arguments of a run: those of the person, on the device, and made up where only shapes were given.

An argument that is donated is gone after one run, so each run gets a copy of it, and the person's own stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from jaxviz import compat
from jaxviz.measure.errors import RunError
from jaxviz.read.values import short_dtype

#: What arguments of which only the shape is known are filled with.
Fill = Literal["normal", "uniform", "zeros", "ones"] | Callable[[Any], Any]
FILLS = ("normal", "uniform", "zeros", "ones")

# Whole numbers that are made up are often indices or classes: small ones fit more often.
_INTEGERS = 8
_SEED = 0
# So many numbers are drawn at a time: some 10 ms.
_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a compiled program is called with, ready on its device."""

    leaves: Sequence[Any]
    tree: Any
    #: For each leaf whether a run takes it away.
    donated: Sequence[bool]
    #: How many leaves are made up.
    made_up: int

    def fresh(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Positional and named arguments for one run."""
        leaves = [jnp.copy(leaf) if donated else leaf for leaf, donated in zip(self.leaves, self.donated, strict=True)]
        jax.block_until_ready([leaf for leaf, donated in zip(leaves, self.donated, strict=True) if donated])
        args, kwargs = jax.tree_util.tree_unflatten(self.tree, leaves)
        return args, kwargs


def make_inputs(
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    arguments: Any,
    shardings: Any,
    fill: Fill = "normal",
    go_on: Callable[[], None] = lambda: None,
    until_ready: Callable[[Any], Any] = jax.block_until_ready,
) -> Inputs:
    """The arguments as a run wants them; `arguments` and `shardings` say of each what JAX knows, as trees like them.

    `go_on` is called again and again, and may raise; `until_ready` waits for results.
    """
    leaves, tree = jax.tree_util.tree_flatten((tuple(args), dict(kwargs)))
    donated = [bool(getattr(leaf, "donated", False)) for leaf in jax.tree_util.tree_leaves(arguments)]
    places = jax.tree_util.tree_leaves(shardings, is_leaf=lambda leaf: leaf is None)
    if len(donated) != len(leaves):
        donated = [False] * len(leaves)
    if len(places) != len(leaves):
        places = [None] * len(leaves)
    wanted = [isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves]
    _check_there(args, kwargs)
    drawing = _Drawing(np.random.default_rng(_SEED), go_on)
    made = []
    for leaf, unknown, place in zip(leaves, wanted, places, strict=True):
        go_on()
        made.append(_placed(_made_up(leaf, fill, drawing) if unknown else leaf, place))
    until_ready(made)
    return Inputs(made, tree, donated, sum(wanted))


def _placed(leaf: Any, place: Any) -> Any:
    # What lies somewhere stays there, where no other place is named: of several processes, none can move it alone.
    return leaf if place is None and isinstance(leaf, jax.Array) else jax.device_put(leaf, place)


def check_fill(fill: Any) -> None:
    """`ValueError` for what shapes cannot be filled with."""
    if not callable(fill) and fill not in FILLS:
        raise ValueError(f"fill {fill!r} is not one of: {', '.join(FILLS)}, and no function of a shape")


def check_closed(traced: Any, jaxpr: Any) -> None:
    """`RunError` for a program that reads a value of another function that is being traced: JAX hands it over as one
    more argument."""
    arguments = len(jax.tree_util.tree_leaves(traced.args_info))
    given = any(isinstance(constant, jax.core.Tracer) for constant in compat.constants_of(jaxpr))
    if given or len(compat.open_jaxpr(jaxpr).invars) > arguments:
        raise RunError(
            "the program reads a value of another function, which is being traced and has none yet. Explore it outside "
            "of that function."
        )


def _check_there(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """`RunError` for arguments that have no values, or none any more."""
    for path, leaf in jax.tree_util.tree_leaves_with_path((tuple(args), dict(kwargs))):
        if isinstance(leaf, jax.core.Tracer):
            raise RunError(
                f"{_name(path)} has no value: the program was explored while another function was traced. "
                "Explore it outside of that function."
            )
        if isinstance(leaf, jax.Array) and leaf.is_deleted():
            raise RunError(
                f"{_name(path)} is not there any more: it was donated to a call, or deleted. Explore the program with "
                "arguments that are."
            )


def _name(path: Any) -> str:
    """An argument as people call it: `argument 1['w']`, `argument x`."""
    _, first, *rest = path
    number = getattr(first, "idx", None)
    return f"argument {getattr(first, 'key', '') if number is None else number + 1}{jax.tree_util.keystr(tuple(rest))}"


def made_up_bytes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """What the arguments take of which only the shape is known."""
    leaves = jax.tree_util.tree_leaves((tuple(args), dict(kwargs)))
    return sum(_bytes_of(leaf) for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct))


def _bytes_of(shape: jax.ShapeDtypeStruct) -> int:
    return int(np.prod(shape.shape, dtype=np.int64)) * getattr(shape.dtype, "itemsize", 8)


def _made_up(shape: jax.ShapeDtypeStruct, fill: Fill, drawing: _Drawing) -> Any:
    if callable(fill):
        return _given(shape, fill)
    if jax.dtypes.issubdtype(shape.dtype, jax.dtypes.prng_key):
        count = int(np.prod(shape.shape, dtype=np.int64))
        keys = jax.vmap(jax.random.key)(jnp.arange(count))
        return keys.reshape(shape.shape)
    if fill in ("zeros", "ones"):
        return np.full(shape.shape, int(fill == "ones"), shape.dtype)
    if jnp.issubdtype(shape.dtype, jnp.bool_):
        return drawing.of(shape, lambda generator, count: generator.integers(0, 2, count, np.int8))
    if jnp.issubdtype(shape.dtype, jnp.integer):
        return drawing.of(shape, lambda generator, count: generator.integers(0, _INTEGERS, count, np.int8))
    draw = _uniform if fill == "uniform" else _normal
    if jnp.issubdtype(shape.dtype, jnp.complexfloating):
        return drawing.of(shape, lambda generator, count: draw(generator, count) + 1j * draw(generator, count))
    return drawing.of(shape, draw)


def _uniform(generator: np.random.Generator, count: int) -> Any:
    return generator.random(count, np.float32)


def _normal(generator: np.random.Generator, count: int) -> Any:
    return generator.standard_normal(count, np.float32)


@dataclass(frozen=True)
class _Drawing:
    """Draws large arrays piece by piece: a whole one takes seconds, in which nothing could be stopped."""

    generator: np.random.Generator
    go_on: Callable[[], None]

    def of(self, shape: jax.ShapeDtypeStruct, draw: Callable[[np.random.Generator, int], Any]) -> Any:
        made = np.empty(shape.shape, shape.dtype)
        flat = made.reshape(-1)
        for first in range(0, flat.size, _PIECE):
            self.go_on()
            piece = flat[first : first + _PIECE]
            piece[:] = draw(self.generator, piece.size).astype(shape.dtype)
        return made


def _given(shape: jax.ShapeDtypeStruct, fill: Callable[[Any], Any]) -> Any:
    """What a person's own function gives for a shape; `RunError` where that does not fit it."""
    wanted = _type_text(shape)
    try:
        given = fill(shape)
    except Exception as error:
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        raise RunError(f"fill raised an error for {wanted}: {said}") from error
    try:
        array = given if isinstance(given, jax.Array) else np.asarray(given)
        fits = array.shape == shape.shape and (
            array.dtype == shape.dtype or _breadth(array.dtype) <= _breadth(shape.dtype) < _NO_NUMBER
        )
        came = _type_text(array)
    except (TypeError, ValueError, AttributeError):
        fits, came = False, f"a {type(given).__name__}"
    if not fits:
        raise RunError(f"fill gave {came} where {wanted} is wanted")
    return array.astype(shape.dtype) if array.dtype != shape.dtype else array


def _type_text(array: Any) -> str:
    return f"{short_dtype(array.dtype)}[{','.join(map(str, array.shape))}]"


# The kinds of numbers, each of which holds those before it.
_KINDS = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
_NO_NUMBER = len(_KINDS)


def _breadth(dtype: Any) -> int:
    return next((place for place, kind in enumerate(_KINDS) if jnp.issubdtype(dtype, kind)), _NO_NUMBER)
