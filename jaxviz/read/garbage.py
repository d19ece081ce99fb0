"""Holding back Python's cyclic garbage collector while very many small objects are made that stay."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Taken = ParamSpec("Taken")
Result = TypeVar("Result")


def without_collections(function: Callable[Taken, Result]) -> Callable[Taken, Result]:
    """Without it, the collector would walk all of JAX's equations, again and again, and find nothing.

    It is no context manager: an interrupt on the way into the end of one leaves that end undone.
    """

    @wraps(function)
    def held(*args: Taken.args, **kwargs: Taken.kwargs) -> Result:
        enabled = gc.isenabled()
        try:
            gc.disable()
            return function(*args, **kwargs)
        finally:
            if enabled:
                gc.enable()

    return held
