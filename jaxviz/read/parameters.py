"""From parameters of equations to short texts: the attributes of a node.

What says nothing is left out: None, False, nothing (`()`, `{}`, ''), what JAX marks as unspecified, tuples of such,
and how JAX counts operands, which the bindings of a graph say better.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from jax.sharding import AbstractMesh, Mesh

from jaxviz.read.sharding import MANUAL, spec_words
from jaxviz.read.values import scalar_text

#: The longest text of one parameter, in characters.
TEXT_LENGTH = 200

# Names that JAX gives to its own wrappers of callables.
_WRAPPERS = frozenset({"memoized", "<unnamed function>", "<unnamed wrapped function>", "fun", "wrapped"})

_BOOKKEEPING = frozenset(
    {"num_consts", "num_carry", "cond_nconsts", "body_nconsts", "const_lengths", "out_trees", "ft_in", "ft_out"}
)


def parameter_text(key: str, value: Any) -> str:
    """A parameter in at most `TEXT_LENGTH` characters; empty where it says nothing."""
    if key in _BOOKKEEPING or _says_nothing(value):
        return ""
    try:
        text = _text(value)
    except Exception:  # Any class may be a parameter, and its `__str__` may need what is not there.
        text = type(value).__name__
    text = " ".join(text.split())
    return text if len(text) <= TEXT_LENGTH else text[: TEXT_LENGTH - 1] + "…"


def _says_nothing(value: Any) -> bool:
    if value is None or value is False or type(value).__name__ == "UnspecifiedValue":
        return True
    if isinstance(value, (str, bytes, tuple, list, dict, frozenset, set)):
        if type(value) in (tuple, list):
            return all(map(_says_nothing, value))
        return len(value) == 0
    # An empty mesh and its like.
    return getattr(value, "empty", None) is True


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return str(value)
    if isinstance(value, np.dtype):
        return value.name
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        scalar = scalar_text(value)
        return scalar if scalar is not None else f"{value.dtype}{list(value.shape)}"
    if type(value) is tuple:
        inner = ", ".join(_text(item) for item in value[:64])
        return f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(_text(item) for item in value[:64])}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (Mesh, AbstractMesh)):
        return mesh_words(value)
    if hasattr(value, "spec") and hasattr(value, "mesh"):
        unreduced = bool(getattr(value.spec, "unreduced", ()))
        # Along these the program itself says which part is where.
        manual = set(getattr(value.mesh, "manual_axes", ()))
        mesh = {axis: size for axis, size in value.mesh.shape.items() if axis not in manual}
        return spec_words(value.spec, mesh, unreduced=unreduced) if mesh or not manual else MANUAL
    if (callable(value) and not isinstance(value, type)) or hasattr(value, "call_wrapped"):
        return _callable_text(value)
    return str(value)


def mesh_words(mesh: Mesh | AbstractMesh) -> str:
    """How many devices there are along each axis, and which, where they are in another order than by their numbers:
    what the devices tell each other counts them in this order.

    >>> mesh_words(AbstractMesh((4, 2), ("x", "y")))
    '4 along x, 2 along y'
    """
    words = ", ".join(f"{size} along {axis}" for axis, size in mesh.shape.items())
    devices = [int(device.id) for device in mesh.devices.flat] if isinstance(mesh, Mesh) else []
    in_order = devices == list(range(len(devices)))
    return words if in_order else f"{words}: devices {' '.join(map(str, devices))}"


def _callable_text(value: Any) -> str:
    while isinstance(value, functools.partial):
        value = value.func
    name = getattr(value, "__name__", None) or getattr(value, "__qualname__", None)
    if not isinstance(name, str):
        return type(value).__name__
    return "" if name in _WRAPPERS else name
