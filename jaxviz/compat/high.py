"""Operations that JAX takes apart when it lowers them: what `HiPrim` of `jax.experimental.hijax` makes (from 0.12 on).

Such an equation holds an object with a function, `expand`, and no jaxpr; JAX's own are `nonzero`, `searchsorted` and
`custom_root`. JAX is asked what the function is traced to, and a copy of the object that is lowered stands for the same
equations with other name stacks. The attributes that are read are those that whoever writes one gives or inherits.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from weakref import ref

import jax

from jaxviz.compat import jaxpr_as_fun

#: What the equation of one is called, and its parameter. Two that are equal may be of other shapes.
HIGH = "call_hi_primitive"
OBJECT = "_prim"

# By the id of an object.
_bodies: dict[int, tuple[ref[Any], Any]] = {}


def is_high(value: Any) -> bool:
    """Whether a parameter is such an object."""
    return all(hasattr(value, name) for name in ("expand", "in_avals_flat", "in_tree", "out_tree"))


def name_of_high(equation: Any) -> str:
    """What it is called, as JAX prints it."""
    return type(equation.params[OBJECT]).__name__


def body_of_high(equation: Any) -> Any:
    """The closed jaxpr that it stands for, the same each time; it raises what its function raises."""
    return _body_of(equation.params[OBJECT])


def with_equations(value: Any, tagged: Callable[[Any], Any]) -> Any:
    """A copy of such an object for whose body another stands; the object itself where it cannot be traced."""
    try:
        body = tagged(_body_of(value))
    except Exception:
        return value
    other = copy.copy(value)
    other.expand = _expanding(value, jaxpr_as_fun(body))
    return other


def _body_of(value: Any) -> Any:
    known = _bodies.get(id(value))
    if known is None:
        key = id(value)

        def expanded(*flat: Any) -> Any:
            return jax.tree.leaves(value.expand(*jax.tree.unflatten(value.in_tree, flat)))

        body = jax.jit(expanded).trace(*value.in_avals_flat).jaxpr
        known = _bodies[key] = ref(value, lambda _: _bodies.pop(key, None)), body
    return known[1]


def _expanding(value: Any, evaluate: Callable[..., list[Any]]) -> Callable[..., Any]:
    def expand(*arguments: Any) -> Any:
        return jax.tree.unflatten(value.out_tree, evaluate(*jax.tree.leaves(arguments)))

    return expand
