"""Holding back Python's cyclic garbage collector while very many small objects are made that stay.

Neither is a context manager: an interrupt on the way into the end of one leaves that end undone.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Taken = ParamSpec("Taken")
Result = TypeVar("Result")

# After so many collections of younger objects Python may walk all that there are, in place of 10.
_RARE = 100


def without_collections(function: Callable[Taken, Result]) -> Callable[Taken, Result]:
    """Without it, the collector would walk all of JAX's equations, again and again, and find nothing."""

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


def with_rare_walks(function: Callable[Taken, Result]) -> Callable[Taken, Result]:
    """All objects that there are are walked a tenth as often as else, for what runs code of others: what that makes
    and drops soon is collected as ever, so that memory stays as it is."""

    @wraps(function)
    def held(*args: Taken.args, **kwargs: Taken.kwargs) -> Result:
        young, older, usual = gc.get_threshold()
        # Where it is as rare by now, whoever saw to that ends it.
        rarer = 0 < usual < _RARE
        try:
            if rarer:
                gc.set_threshold(young, older, _RARE)
            return function(*args, **kwargs)
        finally:
            if rarer:
                gc.set_threshold(young, older, usual)

    return held
